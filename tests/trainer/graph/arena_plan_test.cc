#include "trainer/graph/arena_plan.h"

#include <gtest/gtest.h>

#include <vector>

#include "trainer/graph/counter_random.h"

namespace shardmill {
namespace {

TEST(ArenaPlan, BlocksThatNeverLiveTogetherShareMemory) {
  ArenaPlan plan;
  const int a = plan.Add(1000, 0, 1);
  const int b = plan.Add(1000, 2, 3);
  const int both = plan.Add(64, 1, 2);
  plan.Place();
  EXPECT_EQ(plan.offset(a), plan.offset(b));
  EXPECT_EQ(plan.offset(both), 1024);
  EXPECT_EQ(plan.total_bytes(), 1088);
}

TEST(ArenaPlan, LastAndFirstUseInOneStepCountAsTogether) {
  ArenaPlan plan;
  const int a = plan.Add(64, 0, 2);
  const int b = plan.Add(64, 2, 3);
  plan.Place();
  EXPECT_NE(plan.offset(a), plan.offset(b));
}

TEST(ArenaPlan, ExtendMakesALifeLonger) {
  ArenaPlan plan;
  const int a = plan.Add(64, 0, 1);
  const int b = plan.Add(64, 2, 3);
  plan.Extend(a, 1, 2);
  plan.Place();
  EXPECT_NE(plan.offset(a), plan.offset(b));
}

struct Block {
  int64_t bytes;
  int first, last;
};

TEST(ArenaPlan, RandomBlocksNeverOverlapWhileAlive) {
  const CounterRandom random(11, "blocks");
  for (uint64_t round = 0; round < 50; ++round) {
    ArenaPlan plan;
    std::vector<Block> blocks;
    int64_t all = 0;
    for (uint64_t i = 0; i < 40; ++i) {
      const uint64_t bits = random.Bits(round * 100 + i);
      const int first = static_cast<int>(bits % 30);
      const Block block = {static_cast<int64_t>(bits >> 8) % 5000, first,
                           first + static_cast<int>(bits >> 40) % 10};
      EXPECT_EQ(plan.Add(block.bytes, block.first, block.last), static_cast<int>(i));
      blocks.push_back(block);
      all += block.bytes + 64;
    }
    plan.Place();
    EXPECT_LT(plan.total_bytes(), all);
    for (int i = 0; i < 40; ++i) {
      EXPECT_EQ(plan.offset(i) % 64, 0);
      EXPECT_LE(plan.offset(i) + blocks[i].bytes, plan.total_bytes());
      for (int k = 0; k < i; ++k) {
        const bool together =
            blocks[i].first <= blocks[k].last && blocks[k].first <= blocks[i].last;
        const bool overlap = plan.offset(i) < plan.offset(k) + blocks[k].bytes &&
                             plan.offset(k) < plan.offset(i) + blocks[i].bytes;
        EXPECT_FALSE(together && overlap) << i << " " << k;
      }
    }
  }
}

}  // namespace
}  // namespace shardmill
