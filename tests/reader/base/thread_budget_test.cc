#include "reader/base/thread_budget.h"

#include <gtest/gtest.h>
#include <sched.h>

namespace shardmill {
namespace {

TEST(ThreadBudget, OneAllowedCpuIsCountedAsOne) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  const int all = AllowedCpus();
  EXPECT_EQ(all, CPU_COUNT(&before));
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(AllowedCpus(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(AllowedCpus(), all);
}

TEST(ThreadBudget, CpusAreSharedBetweenRanksAndNeverZero) {
  EXPECT_EQ(ThreadsPerRank(8, 1), 8);
  EXPECT_EQ(ThreadsPerRank(8, 3), 2);
  EXPECT_EQ(ThreadsPerRank(2, 4), 1);
  EXPECT_EQ(ThreadsPerRank(2, 0), 2);
}

TEST(ThreadBudget, ZeroMeansTheShareOfThisRank) {
  EXPECT_EQ(*ResolveThreads(0, 1), AllowedCpus());
  EXPECT_EQ(*ResolveThreads(0, 1 << 20), 1);
  EXPECT_EQ(*ResolveThreads(5, 4), 5);
}

TEST(ThreadBudget, NegativeAndAbsurdNumbersAreInvalidArgument) {
  EXPECT_EQ(ResolveThreads(-1, 1).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ResolveThreads(1025, 1).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
