#include "tools/dump/verbs.h"

#include <gtest/gtest.h>

namespace shardmill {
namespace {

void ExpectRange(const std::string& text, uint64_t limit, uint64_t first, uint64_t end) {
  const auto range = ParseRecordRange(text, limit, 100);
  ASSERT_TRUE(range.ok()) << text << ": " << range.status().ToString();
  EXPECT_EQ(range->first, first) << text;
  EXPECT_EQ(range->end, end) << text;
}

TEST(ParseRecordRange, WithoutARangeTheLimitCounts) {
  ExpectRange("", 20, 0, 20);
  ExpectRange("", 0, 0, 100);
  ExpectRange("", 1000, 0, 100);
}

TEST(ParseRecordRange, WithARangeTheLimitDoesNotCount) {
  ExpectRange("10:60", 20, 10, 60);
  ExpectRange(":5", 20, 0, 5);
  ExpectRange("95:", 20, 95, 100);
  ExpectRange("95:4000", 20, 95, 100);
  ExpectRange(":", 20, 0, 100);
  ExpectRange("7:7", 20, 7, 7);
  ExpectRange("100:200", 20, 100, 100);
}

TEST(ParseRecordRange, WhatIsNoRangeIsRefused) {
  for (const char* text :
       {"7", "a:b", "5:4", "-1:4", "1:2:3", "1: 2", "101:200", "99999999999999999999:"}) {
    EXPECT_EQ(ParseRecordRange(text, 20, 100).status().code(), StatusCode::kInvalidArgument)
        << text;
  }
}

TEST(PictureFileName, IsOneSafeName) {
  EXPECT_EQ(PictureFileName("camvid-shards", "train", "12"), "camvid-shards-train-12.png");
  EXPECT_EQ(PictureFileName("a b/c\n", "train", "0"), "a_b_c_-train-0.png");
  EXPECT_EQ(PictureFileName("..", "x", "0"), "_.-x-0.png");
  EXPECT_EQ(PictureFileName("-o", "x", "0"), "_o-x-0.png");
  EXPECT_EQ(PictureFileName("", "x", "0"), "_x-0.png");
}

}  // namespace
}  // namespace shardmill
