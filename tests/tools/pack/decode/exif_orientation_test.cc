#include "tools/pack/decode/exif_orientation.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/tools/pack/decode/exif_builder.h"

namespace shardmill {
namespace {

TEST(ExifOrientation, AllEightValuesInBothByteOrders) {
  for (int value = 1; value <= 8; ++value) {
    EXPECT_EQ(ExifOrientation(BuildExif(value, ByteOrder::kLittle)), value);
    EXPECT_EQ(ExifOrientation(BuildExif(value, ByteOrder::kBig)), value);
    EXPECT_FALSE(ReadExif(BuildExif(value, ByteOrder::kBig)).broken);
  }
}

TEST(ExifOrientation, ValueOutsideTheEightIsAsStored) {
  for (const int value : {0, 9, 255, 65535}) {
    EXPECT_EQ(ExifOrientation(BuildExif(value, ByteOrder::kLittle)), 1) << value;
    EXPECT_TRUE(ReadExif(BuildExif(value, ByteOrder::kLittle)).broken) << value;
  }
}

TEST(ExifOrientation, EveryCutIsReadOrAsStored) {
  const std::string whole = BuildExif(6, ByteOrder::kBig);
  for (size_t size = 0; size < whole.size(); ++size) {
    // A copy of its own, so that the address sanitizer sees reads behind its end.
    const std::string cut(whole.data(), size);
    const ExifReading reading = ReadExif(cut);
    EXPECT_TRUE(reading.orientation == 6 || reading.broken || size == 0) << size;
    EXPECT_FALSE(reading.orientation == 6 && reading.broken) << size;
  }
}

TEST(ExifOrientation, EveryByteFlipIsReadOrAsStored) {
  const std::string whole = BuildExif(6, ByteOrder::kLittle);
  for (size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[i] = static_cast<char>(flipped[i] ^ 1 << bit);
      const int orientation = ExifOrientation(flipped);
      EXPECT_GE(orientation, 1);
      EXPECT_LE(orientation, 8);
    }
  }
}

TEST(ExifOrientation, DirectoryOutsideTheDataIsAsStored) {
  std::string exif = BuildExif(6, ByteOrder::kBig);
  exif.replace(4, 4, "\xff\xff\xff\xff");
  EXPECT_EQ(ExifOrientation(exif), 1);
  exif.replace(4, 4, std::string(4, '\0'));
  EXPECT_EQ(ExifOrientation(exif), 1);
}

}  // namespace
}  // namespace shardmill
