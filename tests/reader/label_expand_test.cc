#include "reader/label_expand.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tests/reader/each_instruction_set.h"

namespace shardmill {
namespace {

constexpr int kNone = -1;  // a pixel that belongs to no class

RecordSchema SchemaOf(uint32_t classes, std::optional<uint32_t> ignore) {
  RecordSchema schema;
  for (uint32_t id = 0; id < classes; ++id) {
    schema.classes.push_back({id, "class" + std::to_string(id), std::nullopt});
  }
  schema.ignore = ignore;
  return schema;
}

FieldSpec ClassMap(LabelEncoding encoding, int64_t height, int64_t width, int64_t classes) {
  FieldSpec field;
  field.name = "label";
  field.role = Role::kClassMap;
  field.encoding = encoding;
  field.shape = {height, width};
  if (encoding == LabelEncoding::kOneHotBits) field.shape.push_back((classes + 7) / 8);
  if (encoding == LabelEncoding::kOneHotBytes) field.shape.push_back(classes);
  return field;
}

// The slow, obvious encoders that the expander is compared with.
std::vector<uint8_t> Encode(const FieldSpec& field, const std::vector<int>& pixels,
                            uint32_t classes, uint32_t ignore) {
  std::vector<uint8_t> bytes(field.TensorBytes());
  for (size_t i = 0; i < pixels.size(); ++i) {
    if (field.encoding == LabelEncoding::kIndex) {
      const uint32_t value = pixels[i] == kNone ? ignore : static_cast<uint32_t>(pixels[i]);
      const uint64_t width = DTypeBytes(field.dtype);
      for (uint64_t b = 0; b < width; ++b) bytes[i * width + b] = (value >> (8 * b)) & 0xFF;
    } else if (pixels[i] != kNone && field.encoding == LabelEncoding::kOneHotBytes) {
      bytes[i * classes + pixels[i]] = 1;
    } else if (pixels[i] != kNone) {
      bytes[i * ((classes + 7) / 8) + pixels[i] / 8] |= 1 << (pixels[i] % 8);
    }
  }
  return bytes;
}

std::vector<float> OneHot(const std::vector<int>& pixels, uint32_t classes) {
  std::vector<float> values(pixels.size() * classes);
  for (size_t i = 0; i < pixels.size(); ++i) {
    if (pixels[i] != kNone) values[i * classes + pixels[i]] = 1;
  }
  return values;
}

std::vector<int> RandomPixels(size_t count, uint32_t classes, bool with_none, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int> pixels(count);
  for (int& pixel : pixels) {
    pixel = static_cast<int>(random() % (classes + (with_none ? 1 : 0)));
    if (pixel == static_cast<int>(classes)) pixel = kNone;
  }
  return pixels;
}

// Checks all three deliveries of one stored encoding against the slow encoders.
void CheckDeliveries(const FieldSpec& field, uint32_t classes, std::optional<uint32_t> ignore) {
  SCOPED_TRACE(std::string(LabelEncodingName(field.encoding)) + " " +
               std::string(DTypeName(field.dtype)) + " K=" + std::to_string(classes));
  const size_t count = static_cast<size_t>(field.shape[0] * field.shape[1]);
  const auto pixels = RandomPixels(count, classes, ignore.has_value(), classes);
  const auto stored = Encode(field, pixels, classes, ignore.value_or(0));
  const RecordSchema schema = SchemaOf(classes, ignore);
  for (Delivery delivery : {Delivery::kIndex, Delivery::kOneHotU8, Delivery::kOneHotF32}) {
    auto expander = LabelExpander::Create(field, schema, delivery);
    ASSERT_TRUE(expander.ok()) << expander.status().ToString();
    const FieldSpec& out = expander->delivered();
    std::vector<uint8_t> delivered(out.TensorBytes(), 0xEE);
    if (expander->IsInPlace()) delivered = stored;
    const Status status = expander->Expand(expander->IsInPlace() ? delivered.data() : stored.data(),
                                           delivered.data());
    ASSERT_TRUE(status.ok()) << status.ToString();
    std::vector<uint8_t> expected;
    if (delivery == Delivery::kOneHotF32) {
      const auto values = OneHot(pixels, classes);
      expected.resize(values.size() * sizeof(float));
      std::memcpy(expected.data(), values.data(), expected.size());
    } else {
      FieldSpec plain = out;
      expected = Encode(plain, pixels, classes, ignore.value_or(0));
    }
    ASSERT_EQ(delivered, expected);
  }
}

TEST(LabelExpander, EveryEncodingIsDeliveredInEveryForm) {
  for (uint32_t classes : {1u, 2u, 7u, 8u, 9u, 12u, 21u, 150u}) {
    for (LabelEncoding encoding :
         {LabelEncoding::kIndex, LabelEncoding::kOneHotBits, LabelEncoding::kOneHotBytes}) {
      CheckDeliveries(ClassMap(encoding, 37, 41, classes), classes, 255);
      CheckDeliveries(ClassMap(encoding, 37, 41, classes), classes, std::nullopt);
    }
  }
}

// More than 4 MiB, which are written past the caches where they are aligned; the last chunk is no
// multiple of a cache line.
TEST(LabelExpander, LargeOneHotOutputIsTheSameHoweverItIsAlignedOnEveryInstructionSet) {
  constexpr uint32_t kClasses = 21;
  const FieldSpec field = ClassMap(LabelEncoding::kIndex, 263, 257, kClasses);
  const auto pixels = RandomPixels(263 * 257, kClasses, true, 5);
  const auto stored = Encode(field, pixels, kClasses, 255);
  const auto expected = OneHot(pixels, kClasses);
  auto expander = LabelExpander::Create(field, SchemaOf(kClasses, 255), Delivery::kOneHotF32);
  ASSERT_TRUE(expander.ok());
  std::vector<float> memory(expected.size() + 32);
  const auto misaligned = reinterpret_cast<uintptr_t>(memory.data()) / sizeof(float) % 16;
  ForEachTarget([&] {
    for (const size_t begin : {16 - misaligned, 17 - misaligned}) {
      std::fill(memory.begin(), memory.end(), 7.0f);
      const Status status =
          expander->Expand(stored.data(), reinterpret_cast<uint8_t*>(memory.data() + begin));
      ASSERT_TRUE(status.ok()) << status.ToString();
      ASSERT_EQ(std::memcmp(memory.data() + begin, expected.data(), expected.size() * 4), 0);
      ASSERT_EQ(memory[begin - 1], 7.0f);
      ASSERT_EQ(memory[begin + expected.size()], 7.0f);
    }
  });
}

TEST(LabelExpander, CheckFindsWhatExpandWould) {
  const FieldSpec field = ClassMap(LabelEncoding::kIndex, 40, 50, 5);
  auto stored = Encode(field, RandomPixels(2000, 5, true, 3), 5, 255);
  for (Delivery delivery : {Delivery::kIndex, Delivery::kOneHotF32}) {
    auto expander = LabelExpander::Create(field, SchemaOf(5, 255), delivery);
    ASSERT_TRUE(expander.ok());
    EXPECT_TRUE(expander->Check(stored.data(), 2000).ok());
    stored[1234] = 77;
    const Status status = expander->Check(stored.data(), 2000);
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_NE(status.message().find("class id 77 at pixel 1234"), std::string::npos);
    stored[1234] = 4;
  }
}

TEST(LabelExpander, ManyClassesAreDeliveredAsU16) {
  FieldSpec wide = ClassMap(LabelEncoding::kIndex, 20, 30, 0);
  wide.dtype = DType::kU16;
  CheckDeliveries(wide, 300, 65535);
  CheckDeliveries(ClassMap(LabelEncoding::kOneHotBits, 20, 30, 300), 300, 65535);
  CheckDeliveries(wide, 12, 255);  // u16 stored, u8 is enough
  auto expander = LabelExpander::Create(wide, SchemaOf(300, std::nullopt), Delivery::kIndex);
  ASSERT_TRUE(expander.ok());
  EXPECT_EQ(expander->delivered().dtype, DType::kU16);
  EXPECT_TRUE(expander->IsInPlace());
}

TEST(LabelExpander, ShapesOfClassMapsAndClassIds) {
  const RecordSchema schema = SchemaOf(10, std::nullopt);
  auto shape = [&](LabelEncoding encoding, Role role, std::vector<int64_t> stored,
                   Delivery delivery) {
    FieldSpec field;
    field.name = "label";
    field.role = role;
    field.encoding = encoding;
    field.shape = std::move(stored);
    auto expander = LabelExpander::Create(field, schema, delivery);
    EXPECT_TRUE(expander.ok()) << expander.status().ToString();
    return expander->delivered().shape;
  };
  using Shape = std::vector<int64_t>;
  const auto map = Role::kClassMap;
  const auto id = Role::kClassId;
  EXPECT_EQ(shape(LabelEncoding::kIndex, map, {4, 5}, Delivery::kIndex), (Shape{4, 5}));
  EXPECT_EQ(shape(LabelEncoding::kIndex, map, {4, 5}, Delivery::kOneHotF32), (Shape{4, 5, 10}));
  EXPECT_EQ(shape(LabelEncoding::kOneHotBits, map, {4, 5, 2}, Delivery::kOneHotU8),
            (Shape{4, 5, 10}));
  EXPECT_EQ(shape(LabelEncoding::kOneHotBytes, map, {4, 5, 10}, Delivery::kIndex), (Shape{4, 5}));
  EXPECT_EQ(shape(LabelEncoding::kIndex, id, {1}, Delivery::kIndex), (Shape{1}));
  EXPECT_EQ(shape(LabelEncoding::kIndex, id, {1}, Delivery::kOneHotF32), (Shape{10}));
  EXPECT_EQ(shape(LabelEncoding::kOneHotBits, id, {2}, Delivery::kIndex), (Shape{1}));
  EXPECT_EQ(shape(LabelEncoding::kOneHotBytes, id, {10}, Delivery::kOneHotU8), (Shape{10}));
}

Status ExpandBytes(const FieldSpec& field, const RecordSchema& schema, Delivery delivery,
                   const std::vector<uint8_t>& stored) {
  auto expander = LabelExpander::Create(field, schema, delivery);
  if (!expander.ok()) return expander.status();
  std::vector<uint8_t> delivered(expander->delivered().TensorBytes());
  return expander->Expand(stored.data(), delivered.data());
}

TEST(LabelExpander, ClassIdOutOfRangeIsDataLossThatNamesIt) {
  const FieldSpec field = ClassMap(LabelEncoding::kIndex, 40, 50, 0);
  std::vector<uint8_t> stored(2000, 3);
  stored[1900] = 37;
  for (Delivery delivery : {Delivery::kIndex, Delivery::kOneHotU8, Delivery::kOneHotF32}) {
    const Status status = ExpandBytes(field, SchemaOf(12, 255), delivery, stored);
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_NE(status.message().find("class id 37 at pixel 1900"), std::string::npos)
        << status.message();
  }
}

TEST(LabelExpander, IgnoreValueWithoutOneIsDataLoss) {
  const FieldSpec field = ClassMap(LabelEncoding::kIndex, 2, 2, 0);
  const std::vector<uint8_t> stored = {0, 1, 255, 2};
  EXPECT_TRUE(ExpandBytes(field, SchemaOf(3, 255), Delivery::kOneHotU8, stored).ok());
  EXPECT_EQ(ExpandBytes(field, SchemaOf(3, std::nullopt), Delivery::kOneHotU8, stored).code(),
            StatusCode::kDataLoss);
}

TEST(LabelExpander, WideClassIdOutOfRangeIsNamedInFull) {
  FieldSpec field = ClassMap(LabelEncoding::kIndex, 1, 2, 0);
  field.dtype = DType::kU16;
  const Status status =
      ExpandBytes(field, SchemaOf(300, std::nullopt), Delivery::kIndex, {5, 0, 0x34, 0x12});
  EXPECT_NE(status.message().find("class id 4660 at pixel 1"), std::string::npos)
      << status.message();
}

TEST(LabelExpander, TwoClassesAtOnceAreDataLoss) {
  for (Delivery delivery : {Delivery::kIndex, Delivery::kOneHotU8, Delivery::kOneHotF32}) {
    EXPECT_EQ(ExpandBytes(ClassMap(LabelEncoding::kOneHotBytes, 1, 2, 3), SchemaOf(3, 255),
                          delivery, {1, 0, 0, 0, 1, 1})
                  .code(),
              StatusCode::kDataLoss);
    EXPECT_EQ(ExpandBytes(ClassMap(LabelEncoding::kOneHotBytes, 1, 2, 3), SchemaOf(3, 255),
                          delivery, {1, 0, 0, 0, 2, 0})
                  .code(),
              StatusCode::kDataLoss);
    EXPECT_EQ(ExpandBytes(ClassMap(LabelEncoding::kOneHotBits, 1, 2, 10), SchemaOf(10, 255),
                          delivery, {1, 0, 1, 1})
                  .code(),
              StatusCode::kDataLoss);
  }
}

TEST(LabelExpander, BitBehindTheLastClassIsDataLoss) {
  EXPECT_EQ(ExpandBytes(ClassMap(LabelEncoding::kOneHotBits, 1, 1, 10), SchemaOf(10, 255),
                        Delivery::kOneHotU8, {0, 4})
                .code(),
            StatusCode::kDataLoss);
}

TEST(LabelExpander, NoClassToIndexNeedsAnIgnoreValue) {
  const FieldSpec field = ClassMap(LabelEncoding::kOneHotBits, 1, 2, 3);
  const std::vector<uint8_t> stored = {2, 0};
  EXPECT_TRUE(ExpandBytes(field, SchemaOf(3, 255), Delivery::kIndex, stored).ok());
  EXPECT_TRUE(ExpandBytes(field, SchemaOf(3, std::nullopt), Delivery::kOneHotU8, stored).ok());
  const Status status = ExpandBytes(field, SchemaOf(3, std::nullopt), Delivery::kIndex, stored);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("pixel 1"), std::string::npos) << status.message();
}

TEST(LabelExpander, LabelsOfVaryingSizeAreExpandedPixelByPixel) {
  FieldSpec field = ClassMap(LabelEncoding::kIndex, kVariableDim, kVariableDim, 0);
  auto expander = LabelExpander::Create(field, SchemaOf(3, 255), Delivery::kOneHotU8);
  ASSERT_TRUE(expander.ok()) << expander.status().ToString();
  EXPECT_EQ(expander->delivered().shape, (std::vector<int64_t>{kVariableDim, kVariableDim, 3}));
  const std::vector<uint8_t> stored = {2, 255, 0};
  std::vector<uint8_t> out(10, 77);
  ASSERT_TRUE(expander->Expand(stored.data(), 3, out.data()).ok());
  EXPECT_EQ(out, (std::vector<uint8_t>{0, 0, 1, 0, 0, 0, 1, 0, 0, 77}));
  EXPECT_TRUE(expander->Expand(stored.data(), 0, nullptr).ok());
}

TEST(LabelExpander, WhatIsNoLabelIsInvalidArgument) {
  const RecordSchema schema = SchemaOf(3, 255);
  auto code = [&](const FieldSpec& field, const RecordSchema& with) {
    return LabelExpander::Create(field, with, Delivery::kIndex).status().code();
  };
  FieldSpec field = ClassMap(LabelEncoding::kIndex, 2, 2, 0);
  EXPECT_EQ(code(field, schema), StatusCode::kOk);
  EXPECT_EQ(code(field, RecordSchema()), StatusCode::kInvalidArgument);
  field.encoding = LabelEncoding::kNone;
  EXPECT_EQ(code(field, schema), StatusCode::kInvalidArgument);
  field = ClassMap(LabelEncoding::kOneHotBytes, 2, 2, 3);
  EXPECT_EQ(code(field, schema), StatusCode::kOk);
  field.shape.back() = kVariableDim;
  EXPECT_EQ(code(field, schema), StatusCode::kInvalidArgument);
  field = ClassMap(LabelEncoding::kOneHotBytes, 2, 2, 4);
  EXPECT_EQ(code(field, schema), StatusCode::kInvalidArgument);
  field = ClassMap(LabelEncoding::kIndex, 2, 2, 0);
  field.dtype = DType::kF32;
  EXPECT_EQ(code(field, schema), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
