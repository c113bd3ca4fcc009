#include "trainer/comm/patience.h"

#include <sched.h>
#include <time.h>

#include <algorithm>

#include "trainer/comm/rank_page.h"

namespace shardmill {
namespace {

constexpr int kSpins = 200;
constexpr int64_t kYieldNanoseconds = 2'000'000;
constexpr int64_t kSleepNanoseconds = 50'000;
// A pause takes far less than this, so a longer gap means that the process did not run.
constexpr int64_t kLongestGap = 1'000'000'000;

}  // namespace

Patience::Patience() : last_nanoseconds_(MonotonicNanoseconds()) {}

void Patience::Pause() {
  if (++polls_ > kSpins) {
    if (waited_nanoseconds_ < kYieldNanoseconds) {
      sched_yield();
    } else {
      const timespec pause = {0, kSleepNanoseconds};
      nanosleep(&pause, nullptr);
    }
  }
  const int64_t now = MonotonicNanoseconds();
  waited_nanoseconds_ += std::min(now - last_nanoseconds_, kLongestGap);
  last_nanoseconds_ = now;
}

}  // namespace shardmill
