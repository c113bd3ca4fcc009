#include "tests/reader/shard_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/checksum.h"
#include "reader/base/little_endian.h"
#include "reader/block_format.h"
#include "reader/manifest.h"
#include "reader/shard_format.h"

namespace shardmill::testing_shards {
namespace {

uint8_t* At(uint64_t offset, std::string* bytes) {
  SHARDMILL_CHECK(offset + 8 <= bytes->size());
  return reinterpret_cast<uint8_t*>(bytes->data() + offset);
}

uint64_t Mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

uint64_t SeedOf(const FieldSpec& spec, uint32_t shard, uint64_t record) {
  return Mix(Checksum64(spec.name.data(), spec.name.size()) + Mix(shard * 1000003 + record));
}

void Reseal(uint64_t offset, uint64_t size, uint64_t checksum_offset, std::string* shard) {
  const uint64_t checksum =
      Checksum64WithZeroedField(shard->data() + offset, size, checksum_offset);
  StoreU64(checksum, At(offset + checksum_offset, shard));
}

Status CheckRecord(const ShardReader& reader, uint64_t record, ReadScratch* scratch) {
  const std::vector<FieldSpec>& fields = reader.schema().fields;
  for (size_t f = 0; f < fields.size(); ++f) {
    const int field = static_cast<int>(f);
    ASSIGN_OR_RETURN(const std::vector<uint32_t> dims, reader.VariableDims(record, field));
    ASSIGN_OR_RETURN(const uint64_t bytes, fields[f].TensorBytes(dims));
    if (bytes > (uint64_t{1} << 24)) return InternalError("a test record is small");
    std::vector<uint8_t> out(bytes);
    RETURN_IF_ERROR(reader.Read(record, field, out.data(), bytes, scratch));
    if (out != TensorOf(fields[f], reader.shard_number(), record)) {
      return InternalError("record " + std::to_string(record) + " field " + fields[f].name +
                           " is not what was written");
    }
    RETURN_IF_ERROR(reader.StoredBytes(record, field).status());
  }
  ASSIGN_OR_RETURN(const proto::RecordMeta meta, reader.ReadMeta(record));
  if (meta.key() != KeyOf(reader.schema_message().split(), reader.shard_number(), record)) {
    return InternalError("record " + std::to_string(record) + " has another key");
  }
  return OkStatus();
}

}  // namespace

std::string EmptyFolder(const std::string& name) {
  const std::string folder = testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

RecordSchema ImageAndLabel() {
  RecordSchema schema;
  schema.fields = {
      {"image", DType::kU8, {4, 6, 3}, Codec::kRaw, Role::kImage, LabelEncoding::kNone},
      {"label", DType::kU8, {4, 6}, Codec::kZstd, Role::kClassMap, LabelEncoding::kIndex}};
  schema.classes = {{0, "sky", 0x8080FF}, {1, "road", 0x804080}, {2, "car", std::nullopt}};
  schema.ignore = 255;
  return schema;
}

RecordSchema AllKindsOfFields() {
  RecordSchema schema;
  const DType dtypes[] = {DType::kU8,  DType::kU16, DType::kI32,
                          DType::kI64, DType::kF16, DType::kF32};
  for (const DType dtype : dtypes) {
    for (const Codec codec : {Codec::kRaw, Codec::kZstd}) {
      const std::string name = std::string(DTypeName(dtype)) + "_" + std::string(CodecName(codec));
      schema.fields.push_back({name, dtype, {5, 3}, codec});
      schema.fields.push_back({name + "_var", dtype, {kVariableDim, 3}, codec});
    }
  }
  schema.fields.push_back({"ragged", DType::kU8, {kVariableDim, 2, kVariableDim, kVariableDim}});
  return schema;
}

std::vector<uint32_t> DimsOf(const FieldSpec& spec, uint32_t shard, uint64_t record) {
  std::vector<uint32_t> dims(static_cast<size_t>(spec.VariableDimCount()));
  uint64_t state = SeedOf(spec, shard, record);
  for (uint32_t& dim : dims) {
    state = Mix(state + 1);
    dim = static_cast<uint32_t>(state % 5);  // 0 too: an empty sequence
  }
  return dims;
}

std::vector<uint8_t> TensorOf(const FieldSpec& spec, uint32_t shard, uint64_t record) {
  const Result<uint64_t> bytes = spec.TensorBytes(DimsOf(spec, shard, record));
  SHARDMILL_CHECK(bytes.ok());
  std::vector<uint8_t> tensor(*bytes);
  uint64_t state = SeedOf(spec, shard, record);
  for (size_t i = 0; i < tensor.size(); ++i) {
    if (i % 8 == 0) state = Mix(state + 1);
    // Few different values, so that zstd has something to do.
    tensor[i] = static_cast<uint8_t>(state >> (i % 8 * 8)) & 3;
  }
  return tensor;
}

std::string KeyOf(const std::string& split, uint32_t shard, uint64_t record) {
  return split + "/" + std::to_string(shard) + "/" + std::to_string(record) + ".png";
}

ShardPlan PlanOf(const std::string& split, uint32_t shard, uint32_t shards,
                 uint32_t records_per_block) {
  ShardPlan plan;
  plan.split = split;
  plan.shard_number = shard;
  plan.shard_count = shards;
  plan.first_input = 100 * shard;
  plan.end_input = 100 * (shard + 1);
  plan.records_per_block = records_per_block;
  plan.dataset_id = Digest128("test data set");
  return plan;
}

EncodedRecord EncodeTestRecord(const RecordSchema& schema, const ShardPlan& plan, uint64_t record) {
  FieldEncoder encoder;
  EncodedRecord encoded;
  for (const FieldSpec& field : schema.fields) {
    const std::vector<uint8_t> tensor = TensorOf(field, plan.shard_number, record);
    Result<EncodedField> result = encoder.Encode(field, tensor.data(), tensor.size(),
                                                 DimsOf(field, plan.shard_number, record));
    SHARDMILL_CHECK(result.ok());
    encoded.fields.push_back(std::move(result).value());
  }
  proto::RecordMeta meta;
  meta.set_key(KeyOf(plan.split, plan.shard_number, record));
  meta.set_source_height(40);
  meta.set_source_width(60);
  encoded.meta = meta.SerializeAsString();
  return encoded;
}

Result<ShardResult> WriteTestShard(const std::string& folder, const ShardPlan& plan,
                                   const RecordSchema& schema, uint64_t records) {
  proto::Recipe recipe;
  recipe.set_tool_version("1.0");
  recipe.set_layout("camvid");
  ASSIGN_OR_RETURN(const std::unique_ptr<ShardWriter> writer,
                   ShardWriter::Create(folder, plan, schema, recipe));
  for (uint64_t i = 0; i < records; ++i) {
    RETURN_IF_ERROR(writer->Append(EncodeTestRecord(schema, plan, i)));
  }
  proto::ShardSummary summary;
  summary.mutable_statistics()->set_records(records);
  summary.mutable_statistics()->add_class_pixels(7 + plan.shard_number);
  proto::SkippedInput* skipped = summary.add_skipped();
  skipped->set_key(KeyOf(plan.split, plan.shard_number, records));
  skipped->set_reason("cut short");
  return writer->Close(summary);
}

void WriteTestDataset(const std::string& folder) {
  for (uint32_t k = 0; k < 3; ++k) {
    ASSERT_TRUE(WriteTestShard(folder, PlanOf("train", k, 3, 4), ImageAndLabel(), 5 + k).ok());
  }
  ASSERT_TRUE(WriteTestShard(folder, PlanOf("val", 0, 1, 4), ImageAndLabel(), 4).ok());
  const auto manifest = RebuildManifest(folder);
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  const Status status = WriteManifest(folder, *manifest);
  ASSERT_TRUE(status.ok()) << status.ToString();
}

Status ReadEverything(const ShardReader& reader) {
  ReadScratch scratch;
  for (uint64_t record = 0; record < reader.records(); ++record) {
    reader.Prefetch(record);
    RETURN_IF_ERROR(CheckRecord(reader, record, &scratch));
  }
  return OkStatus();
}

std::string ReadBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << bytes;
  EXPECT_TRUE(out.good()) << path;
}

void ResealSuperblock(std::string* shard) {
  Reseal(0, kSuperblockBytes, kSuperblockChecksumOffset, shard);
}

void ResealSchema(std::string* shard) {
  const uint64_t bytes = PaddedBytes(GetU64(96, *shard));
  SetU64(104, Checksum64(shard->data() + kSchemaOffset, bytes), shard);
  ResealSuperblock(shard);
}

void ResealBlock(uint64_t block_offset, std::string* shard) {
  Reseal(block_offset, GetU64(block_offset + 56, *shard), kBlockChecksumOffset, shard);
}

void ResealFooter(std::string* shard) {
  const uint64_t postscript = shard->size() - kPostscriptBytes;
  const uint64_t footer = GetU64(postscript + 48, *shard);
  Reseal(footer, GetU64(postscript + 56, *shard), kFooterChecksumOffset, shard);
  SetU64(postscript + 64, GetU64(footer + kFooterChecksumOffset, *shard), shard);
  ResealPostscript(shard);
}

void ResealPostscript(std::string* shard) {
  Reseal(shard->size() - kPostscriptBytes, kPostscriptBytes, kPostscriptChecksumOffset, shard);
}

void ResealDigest(const std::vector<uint64_t>& block_offsets, std::string* shard) {
  const uint64_t postscript = shard->size() - kPostscriptBytes;
  ShardDigest digest(GetU64(kSuperblockChecksumOffset, *shard), GetU64(104, *shard));
  for (const uint64_t offset : block_offsets) {
    digest.AddBlock(GetU64(offset + kBlockChecksumOffset, *shard));
  }
  const Digest value = digest.Finish(GetU64(postscript + 64, *shard));
  std::copy(value.begin(), value.end(), shard->begin() + static_cast<int64_t>(postscript) + 88);
  ResealPostscript(shard);
}

void SetU32(uint64_t offset, uint32_t value, std::string* bytes) {
  StoreU32(value, At(offset, bytes));
}

void SetU64(uint64_t offset, uint64_t value, std::string* bytes) {
  StoreU64(value, At(offset, bytes));
}

uint64_t GetU64(uint64_t offset, const std::string& bytes) {
  SHARDMILL_CHECK(offset + 8 <= bytes.size());
  return LoadU64(reinterpret_cast<const uint8_t*>(bytes.data() + offset));
}

}  // namespace shardmill::testing_shards
