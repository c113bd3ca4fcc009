#include "trainer/comm/rank_guard.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "reader/base/error_prefix.h"
#include "reader/base/file.h"
#include "reader/base/launch.h"
#include "reader/base/status.h"
#include "trainer/comm/rank_page.h"

namespace shardmill {
namespace {

constexpr int kLostRank = 5;  // ExitCode of kUnavailable
constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT};
// As pgrep and ps show the guard: a search for the program finds the ranks alone.
constexpr char kGuardName[] = "rank-guard";

void Say(const Launch& launch, const std::string& what) {
  const std::string line = ErrorPrefix() + "rank " + std::to_string(launch.rank) + " of " +
                           std::to_string(launch.size) + " " + what + "\n";
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

std::string Place() {
  const RankPage& page = ThisRankPage();
  return PositionText(page.position, page.call_state);
}

void RenameProcess(int argc, char** argv) {
  prctl(PR_SET_NAME, kGuardName);
  // The arguments lie one after the other; ps shows that memory.
  if (argc < 1) return;
  char* const end = argv[argc - 1] + std::strlen(argv[argc - 1]);
  const size_t room = static_cast<size_t>(end - argv[0]);
  std::memset(argv[0], 0, room);
  std::memcpy(argv[0], kGuardName, std::min(room, sizeof kGuardName - 1));
}

sigset_t WatchedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  for (int signal_number : kForwarded) sigaddset(&signals, signal_number);
  return signals;
}

// The exit code of the job for a rank that has ended.
int JudgeEnd(const Launch& launch, int wait_status, bool told_to_stop) {
  const RankState state = ThisRankPage().state;
  if (WIFSIGNALED(wait_status)) {
    const int signal_number = WTERMSIG(wait_status);
    // SIGTERM is how a launcher ends a rank; whoever sent it has said why.
    if (told_to_stop || signal_number == SIGTERM) return 128 + signal_number;
    Say(launch,
        "was ended by signal " + std::to_string(signal_number) + " (" + strsignal(signal_number) +
            ") at " + Place() +
            (signal_number == SIGKILL ? "; by hand, or by the system for lack of memory" : ""));
    return kLostRank;
  }
  const int code = WEXITSTATUS(wait_status);
  const bool in_job =
      state == RankState::kOpen || state == RankState::kStarting || state == RankState::kClosing;
  if (in_job && !told_to_stop) {
    Say(launch, "left the job early, with exit code " + std::to_string(code) + ", at " + Place());
    return kLostRank;
  }
  return state == RankState::kAborted && code == 0 ? kLostRank : code;
}

bool IsOverdue() {
  const RankPage& page = ThisRankPage();
  const RankState state = page.state;
  const int64_t limit = page.limit_nanoseconds;
  return (state == RankState::kStarting || state == RankState::kClosing) && limit != 0 &&
         MonotonicNanoseconds() > limit;
}

// Waits for the rank to end, handing on signals.
int Watch(const Launch& launch, pid_t child, const sigset_t& signals) {
  bool told_to_stop = false;
  for (;;) {
    const timespec tick = {1, 0};
    const int signal_number = sigtimedwait(&signals, nullptr, &tick);
    int wait_status = 0;
    if (waitpid(child, &wait_status, WNOHANG) == child) {
      return JudgeEnd(launch, wait_status, told_to_stop);
    }
    if (signal_number > 0 && signal_number != SIGCHLD) {
      told_to_stop |=
          signal_number != SIGCONT && signal_number != SIGUSR1 && signal_number != SIGUSR2;
      kill(child, signal_number);
    } else if (IsOverdue()) {
      Say(launch, ThisRankPage().state == RankState::kStarting
                      ? "has waited too long for the others at the start of MPI; did all of them "
                        "start? On a busy machine give a longer --rank-timeout"
                      : "has waited too long for the others at the end of MPI");
      kill(child, SIGKILL);
      waitpid(child, &wait_status, 0);
      return kLostRank;
    }
  }
}

// The rank dies with its guard, and is in no process group to which the guard's signals go, so
// that each signal reaches it once.
void PrepareRank(pid_t guard, const sigset_t& previous_mask) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != guard) _exit(kLostRank);
  setpgid(0, 0);
  sigprocmask(SIG_SETMASK, &previous_mask, nullptr);
}

}  // namespace

int RunGuarded(int argc, char** argv, const std::function<int()>& body) {
  const Result<Launch> launch = DetectLaunch();
  // A launcher that cannot be understood is reported where the communicator is created.
  if (!launch.ok() || launch->size == 1 || !ShareRankPage()) return body();

  if (argc > 0) SetErrorPrefix(FileName(argv[0]));
  const sigset_t signals = WatchedSignals();
  sigset_t previous_mask;
  signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_BLOCK, &signals, &previous_mask);
  const pid_t guard = getpid();
  const pid_t child = fork();
  if (child < 0) {
    Say(*launch, "cannot start: " + std::string(std::strerror(errno)));
    return kLostRank;
  }
  if (child == 0) {
    PrepareRank(guard, previous_mask);
    return body();
  }
  RenameProcess(argc, argv);
  return Watch(*launch, child, signals);
}

}  // namespace shardmill
