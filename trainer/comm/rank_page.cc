#include "trainer/comm/rank_page.h"

#include <sys/mman.h>
#include <time.h>

#include <new>

namespace shardmill {
namespace {

RankPage* shared_page = nullptr;

}  // namespace

RankPage& ThisRankPage() {
  static RankPage private_page;
  return shared_page != nullptr ? *shared_page : private_page;
}

bool ShareRankPage() {
  void* memory =
      mmap(nullptr, sizeof(RankPage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  shared_page = new (memory) RankPage;
  return true;
}

int64_t MonotonicNanoseconds() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace shardmill
