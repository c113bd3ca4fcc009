#include "tests/reader/ragged_dataset.h"

#include <gtest/gtest.h>

#include "reader/keyed_permutation.h"
#include "tests/reader/test_dataset.h"

namespace shardmill {
namespace {

constexpr uint32_t kClasses = 4;

uint64_t Hash(uint64_t record, uint64_t purpose) { return KeyedHash({record, purpose}, 0); }

RecordSchema SchemaOf(const RaggedOptions& options) {
  FieldSpec features;
  features.name = "features";
  features.dtype = DType::kF32;
  features.codec = options.features_codec;
  features.shape = {kVariableDim, 3};
  FieldSpec image;
  image.name = "image";
  image.role = Role::kImage;
  image.codec = options.image_codec;
  image.shape = {kVariableDim, kVariableDim, 3};
  FieldSpec label;
  label.name = "label";
  label.role = Role::kClassMap;
  label.encoding = LabelEncoding::kIndex;
  label.codec = Codec::kZstd;
  label.shape = {kVariableDim, kVariableDim};
  if (options.image_is_fixed) {
    image.shape = {9, 7, 3};
    label.shape = {9, 7};
  }
  if (options.label_is_bits) {
    label.encoding = LabelEncoding::kOneHotBits;
    label.shape.push_back(1);
  }
  FieldSpec number;
  number.name = "number";
  number.dtype = DType::kI64;
  number.shape = {1};
  RecordSchema schema;
  schema.fields = {features, image, label, number};
  for (uint32_t id = 0; id < kClasses; ++id) {
    schema.classes.push_back({id, "class" + std::to_string(id), std::nullopt});
  }
  schema.ignore = options.ignore;
  return schema;
}

int64_t LabelWidth(uint64_t record, const RaggedOptions& options) {
  return RaggedWidth(record, options) + (options.mismatched_record == record ? 1 : 0);
}

}  // namespace

int64_t RaggedLength(uint64_t record) { return static_cast<int64_t>(Hash(record, 1) % 20); }

int64_t RaggedHeight(uint64_t record, const RaggedOptions& options) {
  return options.image_is_fixed ? 9 : 3 + static_cast<int64_t>(Hash(record, 2) % 10);
}

int64_t RaggedWidth(uint64_t record, const RaggedOptions& options) {
  return options.image_is_fixed ? 7 : 5 + static_cast<int64_t>(Hash(record, 3) % 7);
}

std::vector<float> RaggedFeatures(uint64_t record) {
  std::vector<float> features(static_cast<size_t>(RaggedLength(record) * 3));
  for (size_t i = 0; i < features.size(); ++i) {
    features[i] = static_cast<float>(record * 1000 + i) + 0.5f;
  }
  return features;
}

// Smooth, so that JPEG keeps it nearly as it is.
std::vector<uint8_t> RaggedImage(uint64_t record, const RaggedOptions& options) {
  std::vector<uint8_t> image;
  for (int64_t y = 0; y < RaggedHeight(record, options); ++y) {
    for (int64_t x = 0; x < RaggedWidth(record, options); ++x) {
      for (int64_t c = 0; c < 3; ++c) {
        image.push_back(static_cast<uint8_t>(40 + 5 * y + 3 * x + 20 * c + record % 50));
      }
    }
  }
  return image;
}

std::vector<uint8_t> RaggedLabel(uint64_t record, const RaggedOptions& options) {
  std::vector<uint8_t> label;
  const int64_t width = LabelWidth(record, options);
  for (int64_t i = 0; i < RaggedHeight(record, options) * width; ++i) {
    const uint64_t id = Hash(record, 100 + static_cast<uint64_t>(i)) % kClasses;
    label.push_back(static_cast<uint8_t>(options.label_is_bits ? 1 << id : id));
  }
  return label;
}

std::string WriteRaggedDataset(const std::string& name, const RaggedOptions& options) {
  const RecordSchema schema = SchemaOf(options);
  return WriteTestSplit(
      name, schema, {options.records, 3, 8}, [&](uint64_t record, FieldEncoder* encoder) {
        const auto features = RaggedFeatures(record);
        const auto image = RaggedImage(record, options);
        const auto label = RaggedLabel(record, options);
        const auto number = static_cast<int64_t>(record);
        const auto height = static_cast<uint32_t>(RaggedHeight(record, options));
        std::vector<uint32_t> image_dims = {height,
                                            static_cast<uint32_t>(RaggedWidth(record, options))};
        std::vector<uint32_t> label_dims = {height,
                                            static_cast<uint32_t>(LabelWidth(record, options))};
        if (options.image_is_fixed) {
          image_dims.clear();
          label_dims.clear();
        }
        EncodedRecord encoded;
        AddTestField(schema.fields[0], features.data(), features.size() * 4,
                     {static_cast<uint32_t>(RaggedLength(record))}, encoder, &encoded);
        AddTestField(schema.fields[1], image.data(), image.size(), image_dims, encoder, &encoded);
        AddTestField(schema.fields[2], label.data(), label.size(), label_dims, encoder, &encoded);
        AddTestField(schema.fields[3], &number, 8, {}, encoder, &encoded);
        SetTestKey("record" + std::to_string(record), &encoded);
        return encoded;
      });
}

std::shared_ptr<const Dataset> OpenRagged(const std::string& name, const RaggedOptions& options) {
  auto dataset = Dataset::Open(WriteRaggedDataset(name, options), "train");
  EXPECT_TRUE(dataset.ok()) << dataset.status().ToString();
  return *dataset;
}

}  // namespace shardmill
