#include "tests/reader/test_dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/checksum.h"
#include "reader/dataset.h"
#include "reader/shard_writer.h"

namespace shardmill {
namespace {

RecordSchema TestSchema(const TestDatasetOptions& options) {
  RecordSchema schema;
  FieldSpec image;
  image.name = "image";
  image.role = Role::kImage;
  image.codec = options.image_codec;
  image.shape = {options.variable_height ? kVariableDim : options.height, options.width, 3};
  FieldSpec label;
  label.name = "label";
  label.role = Role::kClassMap;
  label.codec = options.label_codec;
  label.encoding = options.label_encoding;
  label.shape = {options.height, options.width};
  if (options.label_encoding == LabelEncoding::kOneHotBits) {
    label.shape.push_back((options.classes + 7) / 8);
  } else if (options.label_encoding == LabelEncoding::kOneHotBytes) {
    label.shape.push_back(options.classes);
  }
  FieldSpec number;
  number.name = "number";
  number.dtype = DType::kI64;
  number.shape = {1};
  schema.fields = {image, label, number};
  if (!options.class_ids.empty()) {
    FieldSpec class_id;
    class_id.name = "class";
    class_id.role = Role::kClassId;
    class_id.encoding = LabelEncoding::kIndex;
    class_id.shape = {1};
    schema.fields.push_back(class_id);
  }
  for (uint32_t id = 0; id < options.classes; ++id) {
    schema.classes.push_back({id, "class" + std::to_string(id), std::nullopt});
  }
  schema.ignore = options.ignore;
  return schema;
}

uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

EncodedRecord EncodeRecord(uint64_t record, const RecordSchema& schema,
                           const TestDatasetOptions& options, FieldEncoder* encoder) {
  const std::vector<uint8_t> image = TestImage(record, options);
  const std::vector<uint8_t> label = TestLabel(record, options);
  const auto number = static_cast<int64_t>(record);
  std::vector<uint32_t> image_dims;
  if (options.variable_height) image_dims.push_back(static_cast<uint32_t>(options.height));
  EncodedRecord encoded;
  AddTestField(schema.fields[0], image.data(), image.size(), image_dims, encoder, &encoded);
  AddTestField(schema.fields[1], label.data(), label.size(), {}, encoder, &encoded);
  AddTestField(schema.fields[2], &number, sizeof(number), {}, encoder, &encoded);
  if (!options.class_ids.empty()) {
    AddTestField(schema.fields[3], &options.class_ids.at(record), 1, {}, encoder, &encoded);
  }
  SetTestKey(
      options.keys.empty() ? "image" + std::to_string(record) + ".png" : options.keys.at(record),
      &encoded);
  return encoded;
}

void WriteShard(const std::string& folder, const ShardPlan& plan, const RecordSchema& schema,
                const EncodeTestRecord& encode, const proto::Recipe& recipe, proto::Split* split) {
  auto writer = ShardWriter::Create(folder, plan, schema, recipe);
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  FieldEncoder encoder;
  for (uint64_t record = plan.first_input; record < plan.end_input; ++record) {
    const Status status = (*writer)->Append(encode(record, &encoder));
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  proto::ShardSummary summary;
  summary.mutable_statistics()->set_records(plan.end_input - plan.first_input);
  auto result = (*writer)->Close(summary);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  proto::ShardInfo* info = split->add_shards();
  info->set_file(result->file);
  info->set_records(result->records);
  info->set_bytes(result->bytes);
  info->set_digest(DigestToHex(result->digest));
}

proto::Statistics ImageStatistics(const TestDatasetOptions& options) {
  proto::Statistics statistics;
  statistics.set_records(options.records);
  statistics.set_image_pixels(options.records *
                              static_cast<uint64_t>(options.height * options.width));
  uint64_t sum[3] = {};
  uint64_t sum_sq[3] = {};
  for (uint64_t record = 0; record < options.records; ++record) {
    const std::vector<uint8_t> image = TestImage(record, options);
    for (size_t i = 0; i < image.size(); ++i) {
      sum[i % 3] += image[i];
      sum_sq[i % 3] += uint64_t{image[i]} * image[i];
    }
  }
  for (int channel = 0; channel < 3; ++channel) {
    statistics.add_channel_sum()->set_low(sum[channel]);
    statistics.add_channel_sum_sq()->set_low(sum_sq[channel]);
  }
  return statistics;
}

}  // namespace

std::vector<uint8_t> TestImage(uint64_t record, const TestDatasetOptions& options) {
  std::vector<uint8_t> image(static_cast<size_t>(options.height * options.width * 3));
  for (size_t i = 0; i < image.size(); ++i) {
    image[i] = static_cast<uint8_t>(Mix((record << 32) + i / 8) >> (8 * (i % 8)));
  }
  return image;
}

std::vector<int> TestClasses(uint64_t record, const TestDatasetOptions& options) {
  std::vector<int> classes(static_cast<size_t>(options.height * options.width));
  const uint32_t values = options.classes + (options.ignore.has_value() ? 1 : 0);
  for (size_t i = 0; i < classes.size(); ++i) {
    const auto value = static_cast<uint32_t>(Mix(record * 1000003 + i / 4) % values);
    classes[i] = value == options.classes ? -1 : static_cast<int>(value);
  }
  return classes;
}

std::vector<uint8_t> TestLabel(uint64_t record, const TestDatasetOptions& options) {
  const std::vector<int> classes = TestClasses(record, options);
  const size_t pixel_bytes = options.label_encoding == LabelEncoding::kIndex ? 1
                             : options.label_encoding == LabelEncoding::kOneHotBits
                                 ? (options.classes + 7) / 8
                                 : options.classes;
  std::vector<uint8_t> label(classes.size() * pixel_bytes);
  for (size_t i = 0; i < classes.size(); ++i) {
    uint8_t* pixel = label.data() + i * pixel_bytes;
    if (options.label_encoding == LabelEncoding::kIndex) {
      *pixel = static_cast<uint8_t>(classes[i] < 0 ? *options.ignore : classes[i]);
    } else if (classes[i] >= 0 && options.label_encoding == LabelEncoding::kOneHotBits) {
      pixel[classes[i] / 8] = static_cast<uint8_t>(1 << (classes[i] % 8));
    } else if (classes[i] >= 0) {
      pixel[classes[i]] = 1;
    }
  }
  if (options.bad_label_record == record) label[0] = options.bad_label_value;
  return label;
}

void DamageTestBytes(const std::string& path, const std::string& stored, int64_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t found = bytes.find(stored);
  ASSERT_NE(found, std::string::npos);
  const auto place = static_cast<size_t>(static_cast<int64_t>(found) + at);
  file.clear();
  file.seekp(static_cast<std::streamoff>(place));
  file.put(static_cast<char>(~bytes[place]));
}

void DamageTestImage(const std::string& path, uint64_t record, const TestDatasetOptions& options) {
  const auto image = TestImage(record, options);
  DamageTestBytes(path, std::string(image.begin(), image.end()), 20);
}

void AddTestField(const FieldSpec& spec, const void* data, uint64_t bytes,
                  std::vector<uint32_t> dims, FieldEncoder* encoder, EncodedRecord* record) {
  auto result = encoder->Encode(spec, data, bytes, std::move(dims));
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  record->fields.push_back(std::move(result).value());
}

void SetTestKey(const std::string& key, EncodedRecord* record) {
  proto::RecordMeta meta;
  meta.set_key(key);
  record->meta = meta.SerializeAsString();
}

std::string WriteTestSplit(const std::string& name, const RecordSchema& schema,
                           const TestSplitOptions& options, const EncodeTestRecord& encode,
                           const proto::Statistics* statistics) {
  const std::string folder = testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  ShardPlan plan;
  plan.split = "train";
  plan.shard_count = options.shards;
  plan.records_per_block = options.records_per_block;
  plan.dataset_id = {1, 2, 3};
  proto::Manifest manifest;
  proto::ShardSchema schema_message;
  RecordSchemaToProto(schema, &schema_message);
  manifest.set_format_version(1);
  *manifest.mutable_recipe() = options.recipe != nullptr ? *options.recipe : proto::Recipe();
  manifest.set_dataset_id(DigestToHex(plan.dataset_id));
  *manifest.mutable_fields() = schema_message.fields();
  *manifest.mutable_classes() = schema_message.classes();
  if (schema.ignore.has_value()) manifest.set_ignore(*schema.ignore);
  proto::Split* split = manifest.add_splits();
  split->set_name("train");
  split->set_records(options.records);
  split->mutable_statistics()->set_records(options.records);
  if (statistics != nullptr) *split->mutable_statistics() = *statistics;
  const uint64_t per_shard = (options.records + options.shards - 1) / options.shards;
  for (uint32_t shard = 0; shard < options.shards; ++shard) {
    plan.shard_number = shard;
    plan.first_input = std::min(options.records, shard * per_shard);
    plan.end_input = std::min(options.records, (shard + 1) * per_shard);
    WriteShard(folder, plan, schema, encode, manifest.recipe(), split);
  }
  const Status status = WriteManifest(folder, manifest);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return folder;
}

std::string WriteTestDataset(const std::string& name, const TestDatasetOptions& options) {
  const RecordSchema schema = TestSchema(options);
  const proto::Statistics statistics =
      options.has_statistics ? ImageStatistics(options) : proto::Statistics();
  return WriteTestSplit(
      name, schema, {options.records, options.shards, options.records_per_block},
      [&](uint64_t record, FieldEncoder* encoder) {
        return EncodeRecord(record, schema, options, encoder);
      },
      options.has_statistics ? &statistics : nullptr);
}

}  // namespace shardmill
