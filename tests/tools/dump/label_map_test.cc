#include "tools/dump/label_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace shardmill {
namespace {

using testing::ElementsAre;

RecordSchema SchemaOf(int classes, std::optional<uint32_t> ignore) {
  RecordSchema schema;
  for (int i = 0; i < classes; ++i) {
    ClassInfo info;
    info.id = static_cast<uint32_t>(i);
    schema.classes.push_back(info);
  }
  schema.ignore = ignore;
  return schema;
}

FieldSpec Label(LabelEncoding encoding, DType dtype = DType::kU8) {
  FieldSpec spec;
  spec.name = "label";
  spec.dtype = dtype;
  spec.role = Role::kClassMap;
  spec.encoding = encoding;
  return spec;
}

template <typename T>
Tensor Values(std::vector<int64_t> shape, const std::vector<T>& values) {
  Tensor tensor;
  tensor.shape = std::move(shape);
  tensor.bytes.resize(values.size() * sizeof(T));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

TEST(DecodeLabelMap, IndexKeepsIdsAndMarksTheIgnoreValue) {
  const auto map = DecodeLabelMap(SchemaOf(3, 255), Label(LabelEncoding::kIndex),
                                  Values<uint8_t>({2, 3}, {0, 1, 2, 255, 77, 0}));
  ASSERT_TRUE(map.ok()) << map.status().ToString();
  EXPECT_EQ(map->height, 2);
  EXPECT_EQ(map->width, 3);
  EXPECT_THAT(map->ids, ElementsAre(0, 1, 2, kIgnoredPixel, 77, 0));
}

TEST(DecodeLabelMap, IndexOf16BitsIsReadWhole) {
  const auto map = DecodeLabelMap(SchemaOf(3, 65535), Label(LabelEncoding::kIndex, DType::kU16),
                                  Values<uint16_t>({1, 4}, {0, 300, 65535, 255}));
  ASSERT_TRUE(map.ok()) << map.status().ToString();
  EXPECT_THAT(map->ids, ElementsAre(0, 300, kIgnoredPixel, 255));
}

TEST(DecodeClassIds, IdsThatNoClassCanHaveStayOutsideTheTable) {
  const auto ids =
      DecodeClassIds(SchemaOf(3, std::nullopt), Label(LabelEncoding::kIndex, DType::kI64),
                     Values<int64_t>({3}, {-5, int64_t{1} << 40, 2}));
  ASSERT_TRUE(ids.ok()) << ids.status().ToString();
  constexpr int32_t kFar = std::numeric_limits<int32_t>::max();
  EXPECT_THAT(*ids, ElementsAre(kFar, kFar, 2));
}

TEST(DecodeLabelMap, OneHotBitsOfSeveralBytes) {
  // 11 classes: class k is bit k % 8 of byte k / 8.
  const auto map = DecodeLabelMap(SchemaOf(11, 255), Label(LabelEncoding::kOneHotBits),
                                  Values<uint8_t>({1, 4, 2}, {1, 0, 0, 4, 0, 0, 128, 1}));
  ASSERT_TRUE(map.ok()) << map.status().ToString();
  EXPECT_THAT(map->ids, ElementsAre(0, 10, kIgnoredPixel, kSeveralClasses));
}

TEST(DecodeLabelMap, OneHotBytes) {
  const auto map = DecodeLabelMap(SchemaOf(3, std::nullopt), Label(LabelEncoding::kOneHotBytes),
                                  Values<uint8_t>({2, 2, 3}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1}));
  ASSERT_TRUE(map.ok()) << map.status().ToString();
  EXPECT_THAT(map->ids, ElementsAre(0, 2, kIgnoredPixel, kSeveralClasses));
}

TEST(DecodeLabelMap, ClassAxisThatDoesNotFitTheClassTableIsRefused) {
  const auto map = DecodeLabelMap(SchemaOf(11, 255), Label(LabelEncoding::kOneHotBits),
                                  Values<uint8_t>({1, 1, 1}, {1}));
  EXPECT_EQ(map.status().code(), StatusCode::kInvalidArgument);
  const auto none = DecodeLabelMap(SchemaOf(0, 255), Label(LabelEncoding::kOneHotBytes),
                                   Values<uint8_t>({1, 1, 1}, {1}));
  EXPECT_EQ(none.status().code(), StatusCode::kInvalidArgument);
}

TEST(DecodeLabelMap, WrongRankIsRefused) {
  const auto map = DecodeLabelMap(SchemaOf(3, 255), Label(LabelEncoding::kIndex),
                                  Values<uint8_t>({1, 2, 2}, {0, 1, 2, 0}));
  EXPECT_EQ(map.status().code(), StatusCode::kInvalidArgument);
}

TEST(DecodeClassIds, FieldThatIsNoLabelIsRefused) {
  const auto none =
      DecodeClassIds(SchemaOf(3, 255), Label(LabelEncoding::kNone), Values<uint8_t>({1}, {0}));
  EXPECT_EQ(none.status().code(), StatusCode::kInvalidArgument);
  const auto floats = DecodeClassIds(SchemaOf(3, 255), Label(LabelEncoding::kIndex, DType::kF32),
                                     Values<float>({1}, {0}));
  EXPECT_EQ(floats.status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
