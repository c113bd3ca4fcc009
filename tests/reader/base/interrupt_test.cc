#include "reader/base/interrupt.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>

namespace shardmill {
namespace {

// Runs `body` in a child process and returns its wait status; _exit keeps GoogleTest out of it.
int InChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int wait_status = 0;
  EXPECT_EQ(waitpid(child, &wait_status, 0), child);
  return wait_status;
}

TEST(Interrupt, FirstSignalSetsTheFlagAndGivesTheExitCode) {
  for (const auto& [signal_number, exit_code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    const int wait_status = InChild([number = signal_number] {
      if (!InstallInterruptHandlers().ok() || WasInterrupted() || !CheckInterrupt().ok()) return 1;
      raise(number);
      if (InterruptSignal() != number) return 1;
      return ExitCodeAfterInterrupt(CheckInterrupt());
    });
    ASSERT_TRUE(WIFEXITED(wait_status));
    EXPECT_EQ(WEXITSTATUS(wait_status), exit_code);
  }
}

TEST(Interrupt, SecondSignalEndsTheProcess) {
  for (int second : {SIGINT, SIGTERM}) {
    const int wait_status = InChild([second] {
      if (!InstallInterruptHandlers().ok()) return 1;
      raise(SIGINT);
      raise(second);
      return 0;
    });
    ASSERT_TRUE(WIFSIGNALED(wait_status));
    EXPECT_EQ(WTERMSIG(wait_status), second);
  }
}

TEST(Interrupt, IgnoredSignalStaysIgnored) {
  const int wait_status = InChild([] {
    signal(SIGINT, SIG_IGN);
    if (!InstallInterruptHandlers().ok()) return 1;
    raise(SIGINT);
    return WasInterrupted() ? 1 : 0;
  });
  ASSERT_TRUE(WIFEXITED(wait_status));
  EXPECT_EQ(WEXITSTATUS(wait_status), 0);
}

TEST(Interrupt, WriteBeyondTheFileSizeLimitIsAnErrorNotASignal) {
  const std::string path = testing::TempDir() + "/interrupt_file_size";
  const int wait_status = InChild([&path] {
    if (!InstallInterruptHandlers().ok()) return 1;
    const rlimit limit = {4, 4};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, "12345678", 8) != 4) return 3;
    return write(file, "5678", 4) < 0 && errno == EFBIG ? 0 : 4;
  });
  ASSERT_TRUE(WIFEXITED(wait_status));
  EXPECT_EQ(WEXITSTATUS(wait_status), 0);
}

TEST(Interrupt, SignalOfAnotherProcessCountsUntilOneHasCome) {
  const int wait_status = InChild([] {
    AdoptInterrupt(0);
    AdoptInterrupt(SIGKILL);
    if (WasInterrupted()) return 1;
    AdoptInterrupt(SIGTERM);
    AdoptInterrupt(SIGINT);
    return ExitCodeAfterInterrupt(CheckInterrupt());
  });
  ASSERT_TRUE(WIFEXITED(wait_status));
  EXPECT_EQ(WEXITSTATUS(wait_status), 143);
}

TEST(Interrupt, OtherErrorsKeepTheirExitCode) {
  EXPECT_EQ(ExitCodeAfterInterrupt(DataLossError("damaged")), 4);
  EXPECT_EQ(ExitCodeAfterInterrupt(OkStatus()), 0);
}

}  // namespace
}  // namespace shardmill
