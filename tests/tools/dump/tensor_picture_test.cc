#include "tools/dump/tensor_picture.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace shardmill {
namespace {

FieldSpec Field(DType dtype) {
  FieldSpec spec;
  spec.name = "image";
  spec.dtype = dtype;
  return spec;
}

template <typename T>
Result<Picture> Show(DType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  Tensor tensor;
  tensor.shape = std::move(shape);
  tensor.bytes.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return PictureFromTensor(Field(dtype), tensor);
}

Rgb Gray(uint8_t value) { return {value, value, value}; }

TEST(PictureFromTensor, RgbStaysAsItIs) {
  const auto picture = Show<uint8_t>(DType::kU8, {1, 2, 3}, {1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(picture.ok()) << picture.status().ToString();
  EXPECT_EQ(picture->at(0, 0), (Rgb{1, 2, 3}));
  EXPECT_EQ(picture->at(0, 1), (Rgb{4, 5, 6}));
}

TEST(PictureFromTensor, OneChannelAndNoChannelAxisAreGray) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{2, 1, 1}, {2, 1}}) {
    const auto picture = Show<uint8_t>(DType::kU8, shape, {7, 200});
    ASSERT_TRUE(picture.ok()) << picture.status().ToString();
    EXPECT_EQ(picture->at(0, 0), Gray(7));
    EXPECT_EQ(picture->at(1, 0), Gray(200));
  }
}

TEST(PictureFromTensor, AlphaIsShownOverACheckerboard) {
  std::vector<uint8_t> pixels;
  for (int x = 0; x < 16; ++x) pixels.insert(pixels.end(), {10, 20, 30, 0});
  pixels[3] = 255;
  const auto picture = Show<uint8_t>(DType::kU8, {1, 16, 4}, pixels);
  ASSERT_TRUE(picture.ok()) << picture.status().ToString();
  EXPECT_EQ(picture->at(0, 0), (Rgb{10, 20, 30}));
  EXPECT_NE(picture->at(0, 1), picture->at(0, 8));
}

TEST(PictureFromTensor, FiveBandsShowTheFirstThree) {
  const auto picture = Show<uint8_t>(DType::kU8, {1, 2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  ASSERT_TRUE(picture.ok()) << picture.status().ToString();
  EXPECT_EQ(picture->at(0, 1), (Rgb{6, 7, 8}));
}

TEST(PictureFromTensor, WideValuesAreStretchedOverTheRecordsRange) {
  const auto u16 = Show<uint16_t>(DType::kU16, {1, 3}, {1000, 2000, 3000});
  ASSERT_TRUE(u16.ok()) << u16.status().ToString();
  EXPECT_EQ(u16->at(0, 0), Gray(0));
  EXPECT_EQ(u16->at(0, 1), Gray(128));
  EXPECT_EQ(u16->at(0, 2), Gray(255));
  const auto i32 = Show<int32_t>(DType::kI32, {1, 2}, {-7, 7});
  EXPECT_EQ(i32->at(0, 1), Gray(255));
  // -2, 0 and 2 as half precision.
  const auto f16 = Show<uint16_t>(DType::kF16, {1, 3}, {0xc000, 0x0000, 0x4000});
  EXPECT_EQ(f16->at(0, 1), Gray(128));
}

TEST(PictureFromTensor, ValuesThatAreNotFiniteAreBlackAndDoNotCount) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto picture = Show<float>(DType::kF32, {1, 4}, {kNan, -kInfinity, 1, 2});
  ASSERT_TRUE(picture.ok()) << picture.status().ToString();
  EXPECT_EQ(picture->at(0, 0), Gray(0));
  EXPECT_EQ(picture->at(0, 1), Gray(0));
  EXPECT_EQ(picture->at(0, 3), Gray(255));
}

TEST(PictureFromTensor, ConstantFloatsAreBlack) {
  const auto picture = Show<float>(DType::kF32, {1, 2}, {5, 5});
  ASSERT_TRUE(picture.ok()) << picture.status().ToString();
  EXPECT_EQ(picture->at(0, 1), Gray(0));
}

TEST(PictureFromTensor, TensorsThatAreNoPicturesAreRefused) {
  EXPECT_EQ(Show<uint8_t>(DType::kU8, {3}, {1, 2, 3}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(Show<uint8_t>(DType::kU8, {0, 3}, {}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Show<uint8_t>(DType::kU8, {1, 1, 0}, {}).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
