#include "reader/variant_index.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shardmill {
namespace {

TEST(VariantIndex, SourceOfKeyEndsBeforeTheVariant) {
  EXPECT_EQ(SourceOfKey("a/b.png"), "a/b.png");
  EXPECT_EQ(SourceOfKey("a/b.png#v1"), "a/b.png");
  EXPECT_EQ(SourceOfKey("a/b.png#v12"), "a/b.png");
  EXPECT_EQ(SourceOfKey("a/b#v.png"), "a/b#v.png");
  EXPECT_EQ(SourceOfKey("a/b.png#v"), "a/b.png#v");
  EXPECT_EQ(SourceOfKey("a/b.png#w1"), "a/b.png#w1");
  EXPECT_EQ(SourceOfKey("12"), "12");
  EXPECT_EQ(SourceOfKey("#v1#v2"), "#v1");
  EXPECT_EQ(SourceOfKey(""), "");
}

TEST(VariantIndex, EqualCountsAreArithmetic) {
  const VariantIndex index =
      VariantIndex::Of({"a", "a#v1", "a#v2", "b", "b#v1", "b#v2", "c", "c#v1", "c#v2"});
  ASSERT_EQ(index.sources(), 3u);
  for (uint64_t source = 0; source < 3; ++source) {
    EXPECT_EQ(index.FirstOf(source), 3 * source);
    EXPECT_EQ(index.CountOf(source), 3u);
  }
}

TEST(VariantIndex, UnequalCountsAreListed) {
  const VariantIndex index = VariantIndex::Of({"a", "b#v1", "b#v7", "c", "d", "d#v1", "d#v2"});
  ASSERT_EQ(index.sources(), 4u);
  const std::vector<uint64_t> first = {0, 1, 3, 4};
  const std::vector<uint64_t> count = {1, 2, 1, 3};
  for (uint64_t source = 0; source < 4; ++source) {
    EXPECT_EQ(index.FirstOf(source), first[source]);
    EXPECT_EQ(index.CountOf(source), count[source]);
  }
}

TEST(VariantIndex, NoRecordsHaveNoSources) { EXPECT_EQ(VariantIndex::Of({}).sources(), 0u); }

}  // namespace
}  // namespace shardmill
