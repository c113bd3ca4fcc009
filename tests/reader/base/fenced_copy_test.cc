#include "reader/base/fenced_copy.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace shardmill {
namespace {

constexpr size_t kBytes = 1 << 16;

// A mapping of kBytes whose file holds only the first page.
class FencedCopyTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "/fenced_copy_XXXXXX";
    const int descriptor = mkstemp(path.data());
    ASSERT_GE(descriptor, 0);
    ASSERT_EQ(ftruncate(descriptor, 4096), 0);
    data_ = static_cast<char*>(mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, descriptor, 0));
    ASSERT_NE(data_, MAP_FAILED);
    close(descriptor);
    unlink(path.c_str());
  }
  void TearDown() override { munmap(data_, kBytes); }

  char* data_ = nullptr;
};

TEST_F(FencedCopyTest, LostPageGivesFalseAndSoundPagesStillCopy) {
  std::string out(kBytes, 'x');
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(FencedCopy(out.data(), data_, kBytes));
    EXPECT_FALSE(FencedCopy(out.data(), data_ + 4096, 1));
    EXPECT_TRUE(FencedCopy(out.data(), data_, 4096));
    EXPECT_EQ(out.substr(0, 4096), std::string(4096, '\0'));
  }
  EXPECT_TRUE(FencedCopy(nullptr, nullptr, 0));
}

TEST_F(FencedCopyTest, SignalMaskIsAsBefore) {
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_BLOCK, nullptr, &before);
  char out;
  EXPECT_FALSE(FencedCopy(&out, data_ + 4096, 1));
  pthread_sigmask(SIG_BLOCK, nullptr, &after);
  for (const int number : {SIGBUS, SIGINT, SIGTERM, SIGSEGV, SIGUSR1}) {
    EXPECT_EQ(sigismember(&after, number), sigismember(&before, number)) << number;
  }
}

using FencedCopyDeathTest = FencedCopyTest;

TEST_F(FencedCopyDeathTest, BusErrorOutsideEveryFenceStillEndsTheProcess) {
  // Whatever handler the sanitizers installed prints its own words; the process must die.
  EXPECT_DEATH(
      {
        char out;
        if (!FencedCopy(&out, data_, 1)) _exit(0);
        volatile char lost = data_[4096];
        (void)lost;
        _exit(0);
      },
      "");
}

TEST_F(FencedCopyDeathTest, BusErrorInsideAFenceOfAnotherRangeStillEndsTheProcess) {
  static char* lost_page;
  lost_page = data_ + 4096;
  EXPECT_DEATH(
      {
        [[maybe_unused]] const bool fine = RunFenced(
            data_, 1,
            [](void*) {
              volatile char lost = *lost_page;
              (void)lost;
            },
            nullptr);
        _exit(0);
      },
      "");
}

}  // namespace
}  // namespace shardmill
