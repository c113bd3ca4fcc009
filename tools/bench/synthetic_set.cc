#include "tools/bench/synthetic_set.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/checksum.h"
#include "reader/base/interrupt.h"
#include "reader/manifest.h"
#include "reader/shard_writer.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

constexpr uint32_t kShards = 4;
constexpr uint64_t kBlockBytes = uint64_t{16} << 20;
// Regions of a label in a row, and how often a border moves from one row to the next.
constexpr uint64_t kRegions = 12;
constexpr uint64_t kRowsPerMove = 3;

RecordSchema SchemaOf(const SyntheticSetOptions& options) {
  const auto side = static_cast<int64_t>(SyntheticSide(options.record_bytes));
  FieldSpec image;
  image.name = "image";
  image.role = Role::kImage;
  image.shape = {side, side, 3};
  FieldSpec label;
  label.name = "label";
  label.role = Role::kClassMap;
  label.encoding = LabelEncoding::kIndex;
  label.codec = options.label_codec;
  label.shape = {side, side};
  RecordSchema schema;
  schema.fields = {image, label};
  for (uint32_t id = 0; id < kSyntheticClasses; ++id) {
    schema.classes.push_back({id, "class" + std::to_string(id), std::nullopt});
  }
  return schema;
}

void FillNoise(RandomStream* random, std::vector<uint8_t>* image) {
  for (size_t at = 0; at < image->size(); at += 8) {
    const uint64_t word = random->Next();
    std::memcpy(image->data() + at, &word, std::min<size_t>(8, image->size() - at));
  }
}

void FillLabel(RandomStream* random, uint64_t side, std::vector<uint8_t>* label) {
  const uint64_t regions = std::min(kRegions, side);
  std::vector<uint8_t> classes(regions);
  std::vector<uint64_t> ends(regions, side);
  for (uint64_t region = 0; region < regions; ++region) {
    classes[region] = static_cast<uint8_t>(random->Below(kSyntheticClasses));
    if (region + 1 < regions) ends[region] = (region + 1) * side / regions;
  }
  for (uint64_t row = 0; row < side; ++row) {
    uint8_t* out = label->data() + row * side;
    uint64_t begin = 0;
    for (uint64_t region = 0; region < regions; ++region) {
      std::memset(out + begin, classes[region], ends[region] - begin);
      begin = ends[region];
    }
    if (regions < 2 || row % kRowsPerMove != 0) continue;
    // One border moves by a pixel, and stays between its neighbours.
    const uint64_t moved = random->Below(regions - 1);
    const uint64_t low = moved == 0 ? 0 : ends[moved - 1];
    const bool right = random->Below(2) != 0;
    if (right && ends[moved] < ends[moved + 1]) ++ends[moved];
    if (!right && ends[moved] > low) --ends[moved];
  }
}

class RecordSource {
 public:
  RecordSource(const SyntheticSetOptions& options, RecordSchema schema)
      : side_(SyntheticSide(options.record_bytes)),
        schema_(std::move(schema)),
        image_(3 * side_ * side_),
        label_(side_ * side_) {}

  Result<EncodedRecord> Make(uint64_t number) {
    RandomStream random(number);
    FillNoise(&random, &image_);
    FillLabel(&random, side_, &label_);
    EncodedRecord record;
    ASSIGN_OR_RETURN(EncodedField image,
                     encoder_.Encode(schema_.fields[0], image_.data(), image_.size()));
    ASSIGN_OR_RETURN(EncodedField label,
                     encoder_.Encode(schema_.fields[1], label_.data(), label_.size()));
    record.fields.push_back(std::move(image));
    record.fields.push_back(std::move(label));
    proto::RecordMeta meta;
    meta.set_key(std::to_string(number));
    record.meta = meta.SerializeAsString();
    return record;
  }

 private:
  const uint64_t side_;
  const RecordSchema schema_;
  std::vector<uint8_t> image_;
  std::vector<uint8_t> label_;
  FieldEncoder encoder_;
};

Status WriteShard(const std::string& folder, const ShardPlan& plan, const RecordSchema& schema,
                  RecordSource* source, proto::Split* split) {
  ASSIGN_OR_RETURN(std::unique_ptr<ShardWriter> writer,
                   ShardWriter::Create(folder, plan, schema, proto::Recipe()));
  for (uint64_t record = plan.first_input; record < plan.end_input; ++record) {
    RETURN_IF_ERROR(CheckInterrupt());
    ASSIGN_OR_RETURN(EncodedRecord encoded, source->Make(record));
    RETURN_IF_ERROR(writer->Append(std::move(encoded)));
  }
  ASSIGN_OR_RETURN(const ShardResult result, writer->Close(proto::ShardSummary()));
  proto::ShardInfo* info = split->add_shards();
  info->set_file(result.file);
  info->set_records(result.records);
  info->set_bytes(result.bytes);
  info->set_digest(DigestToHex(result.digest));
  return OkStatus();
}

}  // namespace

uint64_t SyntheticSide(uint64_t record_bytes) {
  const double side = std::sqrt(static_cast<double>(record_bytes) / 4);
  return std::max<uint64_t>(1, static_cast<uint64_t>(side + 0.5));
}

Status WriteSyntheticSet(const std::string& folder, const SyntheticSetOptions& options) {
  const RecordSchema schema = SchemaOf(options);
  RecordSource source(options, schema);
  ShardPlan plan;
  plan.split = "train";
  plan.shard_count = kShards;
  plan.records_per_block = static_cast<uint32_t>(
      std::max<uint64_t>(1, kBlockBytes / SyntheticRecordBytes(options.record_bytes)));
  proto::ShardSchema schema_message;
  RecordSchemaToProto(schema, &schema_message);
  proto::Manifest manifest;
  manifest.set_format_version(1);
  manifest.mutable_recipe();
  manifest.set_dataset_id(DigestToHex(plan.dataset_id));
  *manifest.mutable_fields() = schema_message.fields();
  *manifest.mutable_classes() = schema_message.classes();
  proto::Split* split = manifest.add_splits();
  split->set_name(plan.split);
  split->set_records(options.records);
  const uint64_t per_shard = (options.records + kShards - 1) / kShards;
  for (uint32_t shard = 0; shard < kShards; ++shard) {
    plan.shard_number = shard;
    plan.first_input = std::min(options.records, shard * per_shard);
    plan.end_input = std::min(options.records, plan.first_input + per_shard);
    RETURN_IF_ERROR(WriteShard(folder, plan, schema, &source, split));
  }
  return WriteManifest(folder, manifest);
}

}  // namespace shardmill
