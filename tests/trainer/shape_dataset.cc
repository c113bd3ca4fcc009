#include "tests/trainer/shape_dataset.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <random>
#include <vector>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/checksum.h"
#include "reader/dataset.h"
#include "reader/shard_writer.h"

namespace shardmill {
namespace {

constexpr int kClasses = 3;
constexpr uint8_t kIgnore = 255;
constexpr uint8_t kColors[kClasses][3] = {{70, 70, 70}, {200, 60, 60}, {60, 200, 60}};

struct Picture {
  std::vector<uint8_t> image;
  std::vector<uint8_t> label;
};

void FillRectangle(int k, const ShapeDatasetOptions& options, std::mt19937* random,
                   std::vector<uint8_t>* label) {
  const int64_t h = options.height / 3 + (*random)() % (options.height / 3);
  const int64_t w = options.width / 3 + (*random)() % (options.width / 3);
  const int64_t top = (*random)() % (options.height - h);
  const int64_t left = (*random)() % (options.width - w);
  for (int64_t y = top; y < top + h; ++y) {
    for (int64_t x = left; x < left + w; ++x) {
      (*label)[y * options.width + x] = static_cast<uint8_t>(k);
    }
  }
}

// A class map, and an image that shows it. Classification: one class everywhere.
Picture MakePicture(uint64_t record, uint64_t split, const ShapeDatasetOptions& options) {
  std::mt19937 random(static_cast<uint32_t>(options.seed * 1'000'003 + split * 5'003 + record));
  Picture picture;
  picture.label.assign(options.height * options.width, 0);
  if (options.kind == TaskKind::kSegmentation) {
    FillRectangle(1, options, &random, &picture.label);
    FillRectangle(2, options, &random, &picture.label);
  } else {
    picture.label.assign(picture.label.size(), static_cast<uint8_t>(record % kClasses));
  }
  for (const uint8_t k : picture.label) {
    for (const uint8_t color : kColors[k]) {
      picture.image.push_back(static_cast<uint8_t>(color + random() % 50));
    }
  }
  if (options.kind == TaskKind::kSegmentation) {
    const int ignored = options.has_ignore ? 5 : 0;
    for (int i = 0; i < ignored; ++i) picture.label[random() % picture.label.size()] = kIgnore;
  } else {
    picture.label.resize(1);
  }
  return picture;
}

RecordSchema MakeSchema(const ShapeDatasetOptions& options) {
  RecordSchema schema;
  FieldSpec image;
  image.name = "image";
  image.dtype = options.float_images ? DType::kF32 : DType::kU8;
  image.role = Role::kImage;
  image.shape = {options.height, options.width, 3};
  FieldSpec label;
  label.name = "label";
  label.role = options.kind == TaskKind::kSegmentation ? Role::kClassMap : Role::kClassId;
  label.encoding = LabelEncoding::kIndex;
  label.codec = Codec::kZstd;
  label.shape = {1};
  if (options.kind == TaskKind::kSegmentation) label.shape = {options.height, options.width};
  if (options.several_sizes) {
    image.shape[0] = image.shape[1] = kVariableDim;
    if (label.shape.size() == 2) label.shape = {kVariableDim, kVariableDim};
  }
  if (options.sequences) {
    image.name = "features";
    image.dtype = DType::kF32;
    image.role = Role::kTensor;
    image.shape = {kVariableDim, 3};
  }
  if (options.encoding != LabelEncoding::kIndex) {
    label.encoding = options.encoding;
    label.shape.push_back(options.encoding == LabelEncoding::kOneHotBits ? 1 : kClasses);
  }
  schema.fields = {image};
  if (!options.only_shares) schema.fields.push_back(label);
  if (options.shares || options.only_shares) {
    FieldSpec shares;
    shares.name = "shares";
    shares.dtype = DType::kF32;
    shares.shape = {kClasses};
    if (options.kind == TaskKind::kSegmentation) {
      shares.shape = {options.height, options.width, kClasses};
    }
    schema.fields.push_back(shares);
  }
  const char* names[kClasses] = {"ground", "red", "green"};
  for (uint32_t k = 0; k < kClasses; ++k) schema.classes.push_back({k, names[k], std::nullopt});
  if (options.has_ignore) schema.ignore = kIgnore;
  return schema;
}

void Count(const Picture& picture, proto::Statistics* statistics) {
  statistics->set_records(statistics->records() + 1);
  statistics->set_image_pixels(statistics->image_pixels() + picture.image.size() / 3);
  for (size_t i = 0; i < picture.image.size(); ++i) {
    const uint64_t value = picture.image[i];
    proto::UInt128* sum = statistics->mutable_channel_sum(i % 3);
    sum->set_low(sum->low() + value);
    proto::UInt128* sum_sq = statistics->mutable_channel_sum_sq(i % 3);
    sum_sq->set_low(sum_sq->low() + value * value);
  }
  uint64_t pixels[kClasses] = {};
  uint64_t labelled = 0;
  for (const uint8_t k : picture.label) {
    if (k == kIgnore) continue;
    ++pixels[k];
    ++labelled;
  }
  statistics->set_ignore_pixels(statistics->ignore_pixels() + picture.label.size() - labelled);
  for (int k = 0; k < kClasses; ++k) {
    if (pixels[k] == 0) continue;
    statistics->set_class_pixels(k, statistics->class_pixels(k) + pixels[k]);
    statistics->set_class_images(k, statistics->class_images(k) + 1);
    statistics->set_class_image_pixels(k, statistics->class_image_pixels(k) + labelled);
  }
}

// The class map in the encoding of the field.
std::vector<uint8_t> LabelBytes(const std::vector<uint8_t>& label, LabelEncoding encoding) {
  if (encoding != LabelEncoding::kOneHotBits && encoding != LabelEncoding::kOneHotBytes) {
    return label;
  }
  std::vector<uint8_t> bytes;
  for (const uint8_t k : label) {
    for (int c = 0; c < kClasses; ++c) {
      const auto bit = static_cast<uint8_t>(c == k);
      if (encoding == LabelEncoding::kOneHotBytes || c == 0) {
        bytes.push_back(bit);
      } else {
        bytes.back() = static_cast<uint8_t>(bytes.back() | bit << c);
      }
    }
  }
  return bytes;
}

std::vector<float> SharesOf(const std::vector<uint8_t>& label) {
  std::vector<float> shares;
  for (const uint8_t k : label) {
    for (int c = 0; c < kClasses; ++c) {
      const bool is_next = k != kIgnore && c == (k + 1) % kClasses;
      shares.push_back(c == k ? 0.75f : is_next ? 0.25f : 0.0f);
    }
  }
  return shares;
}

EncodedRecord Encode(const Picture& picture, const RecordSchema& schema,
                     const std::vector<uint32_t>& lengths, bool has_nan, const std::string& key,
                     FieldEncoder* encoder) {
  std::vector<float> floats(picture.image.begin(), picture.image.end());
  if (has_nan) floats[7] = std::numeric_limits<float>::quiet_NaN();
  const bool is_float = schema.fields[0].dtype == DType::kF32;
  const void* image = picture.image.data();
  if (is_float) image = floats.data();
  EncodedRecord encoded;
  auto field = encoder->Encode(schema.fields[0], image,
                               picture.image.size() * (is_float ? sizeof(float) : 1), lengths);
  EXPECT_TRUE(field.ok()) << field.status().ToString();
  encoded.fields.push_back(std::move(*field));
  const std::vector<float> shares = SharesOf(picture.label);
  for (size_t i = 1; i < schema.fields.size(); ++i) {
    const FieldSpec& spec = schema.fields[i];
    const std::vector<uint8_t> label = LabelBytes(picture.label, spec.encoding);
    const bool is_label = spec.name == "label";
    field = encoder->Encode(spec, is_label ? static_cast<const void*>(label.data()) : shares.data(),
                            is_label ? label.size() : shares.size() * sizeof(float),
                            spec.IsFixedShape() ? std::vector<uint32_t>() : lengths);
    EXPECT_TRUE(field.ok()) << field.status().ToString();
    encoded.fields.push_back(std::move(*field));
  }
  proto::RecordMeta meta;
  meta.set_key(key);
  encoded.meta = meta.SerializeAsString();
  return encoded;
}

void WriteSplit(const std::string& folder, const std::string& name, uint64_t records,
                const RecordSchema& schema, const Digest& dataset_id,
                const ShapeDatasetOptions& options, proto::Manifest* manifest) {
  ShardPlan plan;
  plan.split = name;
  plan.end_input = records;
  plan.records_per_block = 5;
  plan.dataset_id = dataset_id;
  auto writer = ShardWriter::Create(folder, plan, schema, proto::Recipe());
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  proto::ShardSummary summary;
  for (int i = 0; i < 3; ++i) {
    summary.mutable_statistics()->add_channel_sum();
    summary.mutable_statistics()->add_channel_sum_sq();
    summary.mutable_statistics()->add_class_pixels(0);
    summary.mutable_statistics()->add_class_images(0);
    summary.mutable_statistics()->add_class_image_pixels(0);
  }
  FieldEncoder encoder;
  for (uint64_t record = 0; record < records; ++record) {
    ShapeDatasetOptions own = options;
    if (options.sequences) {
      own.height = 1;
      own.width = 5 + static_cast<int64_t>(record * 7 % 14);
    }
    if (options.several_sizes) {
      own.height += static_cast<int64_t>(record * 5 % 9);
      own.width += static_cast<int64_t>(record * 7 % 9);
    }
    std::vector<uint32_t> lengths = {static_cast<uint32_t>(own.height),
                                     static_cast<uint32_t>(own.width)};
    if (options.sequences) lengths.erase(lengths.begin());
    if (schema.fields[0].IsFixedShape()) lengths.clear();
    const Picture picture = MakePicture(record, name == "train" ? 0 : 1, own);
    Count(picture, summary.mutable_statistics());
    const bool has_nan = name == "train" && options.nan_record == record;
    const std::string key = name + "/" + std::to_string(record) + ".png";
    const Status status =
        (*writer)->Append(Encode(picture, schema, lengths, has_nan, key, &encoder));
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  const auto result = (*writer)->Close(summary);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  proto::Split* split = manifest->add_splits();
  split->set_name(name);
  split->set_records(records);
  *split->mutable_statistics() = summary.statistics();
  proto::ShardInfo* info = split->add_shards();
  info->set_file(result->file);
  info->set_records(result->records);
  info->set_bytes(result->bytes);
  info->set_digest(DigestToHex(result->digest));
}

}  // namespace

std::string WriteShapeDataset(const std::string& name, const ShapeDatasetOptions& options) {
  const std::string folder = testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const RecordSchema schema = MakeSchema(options);
  const Digest dataset_id = Digest128("shapes of seed " + std::to_string(options.seed));
  proto::ShardSchema message;
  RecordSchemaToProto(schema, &message);
  proto::Manifest manifest;
  manifest.set_format_version(1);
  manifest.mutable_recipe();
  manifest.set_dataset_id(DigestToHex(dataset_id));
  *manifest.mutable_fields() = message.fields();
  *manifest.mutable_classes() = message.classes();
  if (options.has_ignore) manifest.set_ignore(kIgnore);
  WriteSplit(folder, "train", options.train_records, schema, dataset_id, options, &manifest);
  WriteSplit(folder, "val", options.val_records, schema, dataset_id, options, &manifest);
  const Status status = WriteManifest(folder, manifest);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return folder;
}

}  // namespace shardmill
