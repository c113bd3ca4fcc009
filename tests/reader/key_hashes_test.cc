#include "reader/key_hashes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace shardmill {
namespace {

// All repeated hashes, in as many passes as the budget takes; counts the passes.
std::vector<uint64_t> Search(const std::vector<uint64_t>& hashes, int threads, uint64_t budget,
                             int* passes) {
  std::vector<uint64_t> all;
  uint32_t end = 0;
  for (*passes = 0; end < HashRange::kParts; ++*passes) {
    HashRange range(end, budget);
    std::vector<std::unique_ptr<KeyHashes>> gathered;
    for (int t = 0; t < threads; ++t) gathered.push_back(std::make_unique<KeyHashes>(&range));
    for (size_t i = 0; i < hashes.size(); ++i) gathered[i % gathered.size()]->Add(hashes[i]);
    const std::vector<uint64_t> found = RepeatedHashes(gathered);
    all.insert(all.end(), found.begin(), found.end());
    end = range.end();
  }
  return all;
}

TEST(KeyHashes, RepeatedOnesAreFoundByAnyThreadsAndBudget) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> hashes(200000);
  for (uint64_t& hash : hashes) hash = random();
  // Extremes, far apart, adjacent, and one three times.
  std::vector<uint64_t> repeated = {0, ~uint64_t{0}, hashes[17], hashes[18], hashes[199999]};
  hashes.insert(hashes.end(), repeated.begin(), repeated.end());
  hashes.insert(hashes.begin(), {0, ~uint64_t{0}, hashes[17]});
  std::sort(repeated.begin(), repeated.end());
  for (const int threads : {1, 3}) {
    int passes = 0;
    EXPECT_EQ(Search(hashes, threads, 1000000, &passes), repeated);
    EXPECT_EQ(passes, 1);
    EXPECT_EQ(Search(hashes, threads, 150000, &passes), repeated);
    EXPECT_GT(passes, 1);
    EXPECT_EQ(Search(hashes, threads, 1, &passes), repeated);
    EXPECT_EQ(passes, 256);
  }
}

TEST(KeyHashes, NothingRepeatsInNoneOneOrDistinctOnes) {
  int passes = 0;
  EXPECT_TRUE(Search({}, 1, 1000, &passes).empty());
  EXPECT_TRUE(Search({5}, 2, 1000, &passes).empty());
  std::vector<uint64_t> distinct;
  // All of one part, and all with the same upper bits in it: they share filter bits.
  for (uint64_t i = 0; i < 5000; ++i) distinct.push_back(i);
  EXPECT_TRUE(Search(distinct, 2, 1000000, &passes).empty());
}

}  // namespace
}  // namespace shardmill
