#include "reader/console/units.h"

#include <gtest/gtest.h>

namespace shardmill {
namespace {

TEST(Units, ImageSizeIsHeightFirst) {
  Result<ImageSize> size = ParseImageSize("352x480");
  ASSERT_TRUE(size.ok());
  EXPECT_EQ(size->height, 352u);
  EXPECT_EQ(size->width, 480u);
  EXPECT_EQ(FormatImageSize(*size), "352x480");
  EXPECT_EQ(DescribeImageSize(*size), "352 high × 480 wide");
}

TEST(Units, MalformedImageSizesAreRefused) {
  for (const char* text : {"", "x", "352", "352x", "x480", "0x4", "4x0", "-1x5", "+3x4", "3x4x5",
                           "3 x4", "3.0x4", "1048577x1", "99999999999999999999x1"}) {
    EXPECT_EQ(ParseImageSize(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST(Units, BytesWithUnits) {
  EXPECT_EQ(*ParseBytes("512MiB"), uint64_t{512} << 20);
  EXPECT_EQ(*ParseBytes("2GiB"), uint64_t{2} << 30);
  EXPECT_EQ(*ParseBytes("10MB"), 10'000'000u);
  EXPECT_EQ(*ParseBytes("17"), 17u);
  for (const char* text : {"", "MiB", "1Mib", "-1", "1.5GiB", "20000000000GiB", "1 MiB"}) {
    EXPECT_FALSE(ParseBytes(text).ok()) << text;
  }
}

TEST(Units, BytesFlagIsExact) {
  for (uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{1023}, uint64_t{1024},
                         uint64_t{512} << 20, (uint64_t{1} << 30) + 1, uint64_t{3} << 40}) {
    EXPECT_EQ(*ParseBytes(FormatBytesFlag(bytes)), bytes);
  }
  EXPECT_EQ(FormatBytesFlag(uint64_t{512} << 20), "512MiB");
}

TEST(Units, TextForPeople) {
  EXPECT_EQ(FormatBytes(999), "999 B");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(uint64_t{300} << 20), "300 MiB");
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatSeconds(0.416), "0.42 s");
  EXPECT_EQ(FormatSeconds(185), "3 min 05 s");
  EXPECT_EQ(FormatSeconds(7800), "2 h 10 min");
}

}  // namespace
}  // namespace shardmill
