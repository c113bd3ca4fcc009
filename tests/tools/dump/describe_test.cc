#include "tools/dump/describe.h"

#include <gtest/gtest.h>

namespace shardmill {
namespace {

TEST(DescribeShape, VariableSidesAreQuestionMarks) {
  EXPECT_EQ(DescribeShape({352, 480, 3}), "352 × 480 × 3");
  EXPECT_EQ(DescribeShape({kVariableDim, 40}), "? × 40");
}

TEST(DescribeStorage, NamesEncodingAndCodec) {
  FieldSpec spec;
  EXPECT_EQ(DescribeStorage(spec), "raw");
  spec.encoding = LabelEncoding::kIndex;
  spec.codec = Codec::kZstd;
  EXPECT_EQ(DescribeStorage(spec), "index, zstd");
}

TEST(DescribeShare, SmallSharesKeepDigits) {
  EXPECT_EQ(DescribeShare(1, 3), "33.33 %");
  EXPECT_EQ(DescribeShare(1, 1000), "0.10 %");
  EXPECT_EQ(DescribeShare(1, 100000), "0.0010 %");
  EXPECT_EQ(DescribeShare(1, uint64_t{1} << 40), "< 0.0001 %");
  EXPECT_EQ(DescribeShare(0, 5), "0 %");
  EXPECT_EQ(DescribeShare(0, 0), "");
}

TEST(DescribeClass, NamesAreEscapedAndMissingOnesNumbered) {
  std::vector<ClassInfo> classes(2);
  classes[0].name = "ro\x1b[2Jad";
  EXPECT_EQ(DescribeClass(classes, 0), "ro\\x1b[2Jad");
  EXPECT_EQ(DescribeClass(classes, 1), "class 1");
  EXPECT_EQ(DescribeClass(classes, 7), "class 7");
  EXPECT_EQ(DescribeClass(classes, -1), "class -1");
}

TEST(TerminalSwatch, IsEmptyWithoutColors) {
  EXPECT_EQ(TerminalSwatch({1, 2, 3}, false), "");
  EXPECT_EQ(TerminalSwatch({1, 2, 3}, true), "\x1b[48;2;1;2;3m  \x1b[0m");
  EXPECT_EQ(Bold("x", false), "x");
}

TEST(DescribeColor, IsSixHexDigits) { EXPECT_EQ(DescribeColor(0x00a0ff), "#00a0ff"); }

}  // namespace
}  // namespace shardmill
