// Cases that run on every rank of a job; see mpi_ranks_test.cc. Every rank knows the values of all
// micro-shards, and the expected bits are computed here without any rank: equal bits in jobs of
// 1, 2, 4 and 8 ranks follow.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "tests/trainer/comm/rank_main.h"
#include "trainer/comm/fixed_tree.h"
#include "trainer/comm/micro_shard_sums.h"

namespace shardmill {
namespace {

// Magnitudes from 2^-40 to 2^40 and both signs: nearly every order of addition gives other bits.
template <typename T>
std::vector<T> ShardValues(int seed, int shard, int64_t count) {
  std::mt19937_64 random(static_cast<uint64_t>(seed) * 4099 + static_cast<uint64_t>(shard));
  std::vector<T> values(count);
  for (T& value : values) {
    const double fraction = std::ldexp(static_cast<double>(random() >> 11), -52) - 1.0;
    value = static_cast<T>(std::ldexp(fraction, static_cast<int>(random() % 81) - 40));
  }
  return values;
}

// The rule of fixed_tree.h, written down once more.
template <typename T>
T TreeSum(const std::vector<std::vector<T>>& shards, int begin, int end, int64_t i) {
  if (end - begin == 1) return shards[begin][i];
  int left = 1;
  while (2 * left < end - begin) left *= 2;
  return TreeSum(shards, begin, begin + left, i) + TreeSum(shards, begin + left, end, i);
}

template <typename T>
std::vector<std::vector<T>> AllShards(int seed, int micro_shards, int64_t count) {
  std::vector<std::vector<T>> shards;
  for (int shard = 0; shard < micro_shards; ++shard) {
    shards.push_back(ShardValues<T>(seed, shard, count));
  }
  return shards;
}

template <typename T>
void ExpectTreeBits(int micro_shards, int64_t count, int seed) {
  Communicator* ranks = JobCommunicator();
  auto tree = FixedTree::Create(ranks, micro_shards);
  ASSERT_TRUE(tree.ok());
  const auto shards = AllShards<T>(seed, micro_shards, count);
  std::vector<std::vector<T>> rows(shards.begin() + tree->first_shard(),
                                   shards.begin() + tree->first_shard() + tree->local_shards());
  std::vector<T*> addresses;
  for (std::vector<T>& row : rows) addresses.push_back(row.data());
  std::vector<T> apart(count);
  const bool in_place = seed % 2 == 0;
  T* sum = in_place ? addresses[0] : apart.data();
  ASSERT_TRUE(tree->Sum(addresses.data(), count, sum, "tree").ok());
  for (int64_t i = 0; i < count; ++i) {
    const T expected = TreeSum(shards, 0, micro_shards, i);
    ASSERT_EQ(std::memcmp(&sum[i], &expected, sizeof(T)), 0)
        << "element " << i << " of " << count << ", " << micro_shards << " micro-shards: " << sum[i]
        << " instead of " << expected;
  }
}

TEST(FixedTree, BitsAreThoseOfTheTreeOnAnyNumberOfRanks) {
  const int ranks = JobCommunicator()->size();
  int seed = 0;
  for (int micro_shards : {1, 2, 3, 4, 6, 8, 12, 24}) {
    if (micro_shards % ranks != 0) continue;
    for (int64_t count : {0, 1, 15, 100, 4000, 20011, 70001}) {
      ExpectTreeBits<float>(micro_shards, count, ++seed);
      ExpectTreeBits<double>(micro_shards, count, ++seed);
    }
  }
  EXPECT_GT(seed, 0);
}

TEST(FixedTree, OrderOfAdditionMattersForTheseValues) {
  const auto shards = AllShards<float>(1, 8, 1000);
  int different = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    float one_after_the_other = 0;
    for (int shard = 0; shard < 8; ++shard) one_after_the_other += shards[shard][i];
    different += one_after_the_other != TreeSum(shards, 0, 8, i);
  }
  EXPECT_GT(different, 100);
}

TEST(FixedTree, RanksMustDivideTheMicroShards) {
  Communicator* ranks = JobCommunicator();
  EXPECT_FALSE(FixedTree::Create(ranks, 0).ok());
  if (ranks->size() == 1) return;
  const auto tree = FixedTree::Create(ranks, ranks->size() * 2 + 1);
  ASSERT_FALSE(tree.ok());
  EXPECT_EQ(tree.status().code(), StatusCode::kInvalidArgument);
}

TEST(MicroShardSums, ThreadsOfAllRanksGetTheBitsOfTheTree) {
  Communicator* ranks = JobCommunicator();
  constexpr int kRounds = 20;
  if (24 % ranks->size() != 0) GTEST_SKIP() << "24 micro-shards, " << ranks->size() << " ranks";
  auto tree = FixedTree::Create(ranks, 24);
  ASSERT_TRUE(tree.ok());
  MicroShardSums sums(&*tree);
  std::vector<int> wrong(tree->local_shards(), 0);
  std::vector<std::thread> threads;
  for (int local = 0; local < tree->local_shards(); ++local) {
    threads.emplace_back([&, local] {
      for (int round = 0; round < kRounds; ++round) {
        const int64_t count = (round * 37) % 90;  // grows and shrinks
        const auto shards = AllShards<double>(round, 24, count);
        std::vector<double> values = shards[tree->first_shard() + local];
        if (!sums.Sum(local, values.data(), count, "statistics").ok()) ++wrong[local];
        for (int64_t i = 0; i < count; ++i) wrong[local] += values[i] != TreeSum(shards, 0, 24, i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(tree->local_shards(), 0));
}

TEST(MicroShardSums, ThreadThatGivesUpWakesTheOthers) {
  Communicator* ranks = JobCommunicator();
  auto tree = FixedTree::Create(ranks, ranks->size() * 2);
  ASSERT_TRUE(tree.ok());
  MicroShardSums sums(&*tree);
  Status woken;
  std::thread waiting([&] {
    double value = 1;
    woken = sums.Sum(0, &value, 1, "statistics");
  });
  sums.Fail(DataLossError("record 7 is damaged"));
  waiting.join();
  EXPECT_EQ(woken.code(), StatusCode::kDataLoss);
  double value = 1;
  EXPECT_EQ(sums.Sum(1, &value, 1, "statistics").code(), StatusCode::kDataLoss);
}

}  // namespace
}  // namespace shardmill
