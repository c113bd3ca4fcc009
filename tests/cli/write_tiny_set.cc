// Writes a tiny data set with known content for the transcripts in this folder.
//
// usage: write_tiny_set index|bits|bytes|classification FOLDER
//
// Five records of split train in two shards and two of val, images 24 high × 32 wide. The lower
// part of a label is road, the upper third sky, every second record has a car; the leftmost
// column is ignored, and so is the padding at the top of train's last record.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "reader/base/checksum.h"
#include "reader/manifest.h"
#include "reader/shard_writer.h"
#include "reader/statistics.h"

namespace shardmill {
namespace {

constexpr int kHeight = 24;
constexpr int kWidth = 32;
constexpr int kChannels = 3;
constexpr int kClasses = 3;
constexpr int kIgnore = 255;
constexpr int kPaddedRows = 2;

struct TinyRecord {
  std::vector<uint8_t> image = std::vector<uint8_t>(kHeight * kWidth * kChannels);
  std::vector<uint8_t> label = std::vector<uint8_t>(kHeight * kWidth, 0);
  proto::RecordMeta meta;
  bool padded = false;
};

uint8_t LabelAt(int number, bool padded, int y, int x) {
  if (x == 0 || (padded && y < kPaddedRows)) return kIgnore;
  if (y < kHeight / 3) return 1;
  const bool car = number % 2 == 1 && y >= 12 && y < 18 && x >= 10 && x < 20;
  return car ? 2 : 0;
}

TinyRecord MakeRecord(const std::string& split, int number) {
  TinyRecord record;
  record.padded = split == "train" && number == 4;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const bool padding = record.padded && y < kPaddedRows;
      uint8_t* pixel = &record.image[(y * kWidth + x) * kChannels];
      pixel[0] = static_cast<uint8_t>(padding ? 0 : 40 * number + 20);
      pixel[1] = static_cast<uint8_t>(padding ? 0 : 8 * x);
      pixel[2] = static_cast<uint8_t>(padding ? 0 : 10 * y);
      record.label[y * kWidth + x] = LabelAt(number, record.padded, y, x);
    }
  }
  record.meta.set_key(split + "/Straße " + std::to_string(number) + ".png");
  record.meta.set_source_height(record.padded ? 22 : 30);
  record.meta.set_source_width(40);
  record.meta.set_crop_y(record.padded ? -kPaddedRows : 3);
  record.meta.set_crop_x(4);
  record.meta.set_crop_height(kHeight);
  record.meta.set_crop_width(kWidth);
  return record;
}

// The class of a record when the set is one for classification.
int ClassOf(const TinyRecord& record) { return record.image[0] % kClasses; }

RecordSchema MakeSchema(const std::string& kind) {
  RecordSchema schema;
  schema.fields.push_back(
      {"image", DType::kU8, {kHeight, kWidth, kChannels}, Codec::kRaw, Role::kImage});
  FieldSpec label = {"label",     DType::kU8,      {kHeight, kWidth},
                     Codec::kRaw, Role::kClassMap, LabelEncoding::kIndex};
  if (kind == "classification") {
    label.shape = {1};
    label.role = Role::kClassId;
  } else if (kind == "bits") {
    label.shape.push_back(1);
    label.encoding = LabelEncoding::kOneHotBits;
  } else if (kind == "bytes") {
    label.shape.push_back(kClasses);
    label.encoding = LabelEncoding::kOneHotBytes;
  }
  schema.fields.push_back(label);
  schema.classes = {{0, "road", 0x804080}, {1, "sky", 0x4682b4}, {2, "car\x1b[31m", std::nullopt}};
  if (kind != "classification") schema.ignore = kIgnore;
  return schema;
}

std::vector<uint8_t> LabelTensor(const FieldSpec& spec, const TinyRecord& record) {
  if (spec.role == Role::kClassId) return {static_cast<uint8_t>(ClassOf(record))};
  if (spec.encoding == LabelEncoding::kIndex) return record.label;
  const bool bits = spec.encoding == LabelEncoding::kOneHotBits;
  const int pixel_bytes = bits ? 1 : kClasses;
  std::vector<uint8_t> tensor(record.label.size() * pixel_bytes);
  for (size_t i = 0; i < record.label.size(); ++i) {
    const uint8_t id = record.label[i];
    if (id == kIgnore) continue;
    if (bits) {
      tensor[i] = static_cast<uint8_t>(1 << id);
    } else {
      tensor[i * pixel_bytes + id] = 1;
    }
  }
  return tensor;
}

void CountLabel(const TinyRecord& record, uint64_t counts[kClasses], uint64_t* ignored) {
  for (int i = record.padded ? kPaddedRows * kWidth : 0; i < kHeight * kWidth; ++i) {
    record.label[i] == kIgnore ? ++*ignored : ++counts[record.label[i]];
  }
}

// What the packer writes into the summary of a shard for this record alone.
proto::Statistics Count(const RecordSchema& schema, const TinyRecord& record) {
  proto::Statistics statistics;
  statistics.set_records(1);
  uint64_t sum[kChannels] = {};
  uint64_t sum_sq[kChannels] = {};
  const int first = record.padded ? kPaddedRows * kWidth : 0;
  for (int i = first * kChannels; i < kHeight * kWidth * kChannels; ++i) {
    sum[i % kChannels] += record.image[i];
    sum_sq[i % kChannels] += uint64_t{record.image[i]} * record.image[i];
  }
  statistics.set_image_pixels(kHeight * kWidth - first);
  for (int c = 0; c < kChannels; ++c) statistics.add_channel_sum()->set_low(sum[c]);
  for (int c = 0; c < kChannels; ++c) statistics.add_channel_sum_sq()->set_low(sum_sq[c]);
  uint64_t counts[kClasses] = {};
  uint64_t ignored = 0;
  if (schema.fields[1].role == Role::kClassId) {
    counts[ClassOf(record)] = 1;
  } else {
    CountLabel(record, counts, &ignored);
  }
  const uint64_t labelled = counts[0] + counts[1] + counts[2];
  for (const uint64_t count : counts) {
    statistics.add_class_pixels(count);
    statistics.add_class_images(count > 0 ? 1 : 0);
    statistics.add_class_image_pixels(count > 0 ? labelled : 0);
  }
  statistics.set_ignore_pixels(ignored);
  return statistics;
}

Result<EncodedRecord> Encode(const RecordSchema& schema, const TinyRecord& record) {
  FieldEncoder encoder;
  EncodedRecord encoded;
  const std::vector<uint8_t> label = LabelTensor(schema.fields[1], record);
  ASSIGN_OR_RETURN(EncodedField image,
                   encoder.Encode(schema.fields[0], record.image.data(), record.image.size()));
  ASSIGN_OR_RETURN(EncodedField coded,
                   encoder.Encode(schema.fields[1], label.data(), label.size()));
  encoded.fields.push_back(std::move(image));
  encoded.fields.push_back(std::move(coded));
  encoded.meta = record.meta.SerializeAsString();
  return encoded;
}

struct TinyShard {
  const char* split;
  uint32_t number;
  uint32_t count;
  int first;
  int end;
};

Status WriteShard(const std::string& folder, const std::string& kind, const TinyShard& shard) {
  const RecordSchema schema = MakeSchema(kind);
  ShardPlan plan;
  plan.split = shard.split;
  plan.shard_number = shard.number;
  plan.shard_count = shard.count;
  plan.first_input = static_cast<uint64_t>(shard.first);
  plan.end_input = static_cast<uint64_t>(shard.end);
  plan.records_per_block = 2;
  plan.dataset_id = Digest128("tiny set, " + kind);
  proto::Recipe recipe;
  recipe.set_tool_version("0.1.0");
  recipe.set_layout("tiny");
  proto::Recipe::Option* option = recipe.add_options();
  option->set_name("crop");
  option->set_value("24x32");
  ASSIGN_OR_RETURN(const auto writer, ShardWriter::Create(folder, plan, schema, recipe));
  proto::ShardSummary summary;
  for (int number = shard.first; number < shard.end; ++number) {
    const TinyRecord record = MakeRecord(shard.split, number);
    ASSIGN_OR_RETURN(EncodedRecord encoded, Encode(schema, record));
    RETURN_IF_ERROR(writer->Append(std::move(encoded)));
    AddStatistics(Count(schema, record), summary.mutable_statistics());
  }
  if (std::strcmp(shard.split, "val") == 0) {
    proto::SkippedInput* skipped = summary.add_skipped();
    skipped->set_key("val/cut.png");
    skipped->set_reason("the file ends in the middle of a row");
  }
  return writer->Close(summary).status();
}

Status WriteSet(const std::string& kind, const std::string& folder) {
  std::filesystem::create_directories(folder);
  const TinyShard shards[] = {{"train", 0, 2, 0, 3}, {"train", 1, 2, 3, 5}, {"val", 0, 1, 0, 2}};
  for (const TinyShard& shard : shards) RETURN_IF_ERROR(WriteShard(folder, kind, shard));
  ASSIGN_OR_RETURN(const proto::Manifest manifest, RebuildManifest(folder));
  return WriteManifest(folder, manifest);
}

}  // namespace
}  // namespace shardmill

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: write_tiny_set index|bits|bytes|classification FOLDER\n");
    return 2;
  }
  const shardmill::Status status = shardmill::WriteSet(argv[1], argv[2]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return shardmill::ExitCode(status);
}
