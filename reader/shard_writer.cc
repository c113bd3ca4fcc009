#include "reader/shard_writer.h"

#include <optional>
#include <utility>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/file.h"
#include "reader/base/little_endian.h"
#include "reader/block_builder.h"
#include "reader/block_format.h"
#include "reader/serialize.h"
#include "reader/shard_format.h"

namespace shardmill {
namespace {

// What the fixed structures say is only ever bad here through a bad argument of the caller.
Status AsInvalidArgument(const Status& status) {
  return status.ok() ? status : InvalidArgumentError(status.message());
}

Status CheckPlan(const ShardPlan& plan) {
  if (!IsPlainName(plan.split)) {
    return InvalidArgumentError("split name \"" + plan.split +
                                "\" is not allowed: use letters, digits, '_', '.' and '-'");
  }
  if (plan.shard_count < 1 || plan.shard_count > kMaxShards ||
      plan.shard_number >= plan.shard_count) {
    return InvalidArgumentError("shard " + std::to_string(plan.shard_number) + " of " +
                                std::to_string(plan.shard_count) + ": a split has 1 to " +
                                std::to_string(kMaxShards) + " shards");
  }
  if (plan.records_per_block < 1)
    return InvalidArgumentError("records per block must be 1 or more");
  if (plan.first_input > plan.end_input) return InvalidArgumentError("the plan range is reversed");
  return OkStatus();
}

Status CheckSchema(const RecordSchema& schema, const proto::ShardSchema& message) {
  RETURN_IF_ERROR(AsInvalidArgument(RecordSchemaFromProto(message).status()));
  return AsInvalidArgument(CheckDictionaries(schema));
}

Status CheckMeta(const std::string& meta) {
  proto::RecordMeta message;
  if (meta.size() > kMaxMetaBytes || !message.ParseFromString(meta) ||
      !IsRecordKey(message.key())) {
    return InvalidArgumentError(
        "the metadata of a record is no RecordMeta with a valid key (UTF-8, 1 to 4096 bytes, no "
        "control characters)");
  }
  return OkStatus();
}

uint64_t ChecksumIn(const std::string& bytes, uint64_t offset) {
  return LoadU64(reinterpret_cast<const uint8_t*>(bytes.data() + offset));
}

}  // namespace

struct ShardWriter::Impl {
  Impl(ShardPlan plan_in, RecordSchema schema_in, AtomicFile file_in)
      : plan(std::move(plan_in)),
        schema(std::move(schema_in)),
        file(std::move(file_in)),
        block(&schema) {}

  Status WriteStart(const std::string& schema_bytes);
  Status WriteBlock();
  Status WriteEnd(const proto::ShardSummary& summary, ShardResult* result);
  Status Fail(const Status& status) {
    if (first_error.ok()) first_error = status.WithContext(file_name);
    return first_error;
  }

  ShardPlan plan;
  RecordSchema schema;
  std::string file_name;
  AtomicFile file;
  BlockBuilder block;
  Footer footer;
  std::optional<ShardDigest> digest;
  Status first_error;
};

Status ShardWriter::Impl::WriteStart(const std::string& schema_bytes) {
  std::string padded = schema_bytes;
  padded.resize(PaddedBytes(schema_bytes.size()), '\0');
  Superblock superblock;
  superblock.dataset_id = plan.dataset_id;
  superblock.shard_number = plan.shard_number;
  superblock.shard_count = plan.shard_count;
  superblock.field_count = static_cast<uint32_t>(schema.fields.size());
  superblock.records_per_block = plan.records_per_block;
  superblock.first_input = plan.first_input;
  superblock.end_input = plan.end_input;
  superblock.schema_bytes = schema_bytes.size();
  superblock.schema_checksum = Checksum64(padded.data(), padded.size());
  const std::string bytes = EncodeSuperblock(superblock);
  digest.emplace(ChecksumIn(bytes, kSuperblockChecksumOffset), superblock.schema_checksum);
  RETURN_IF_ERROR(file.Append(bytes.data(), bytes.size()));
  return file.Append(padded.data(), padded.size());
}

Status ShardWriter::Impl::WriteBlock() {
  BlockHeader identity;
  identity.dataset_id = plan.dataset_id;
  identity.shard_number = plan.shard_number;
  identity.block_number = static_cast<uint32_t>(footer.blocks.size());
  identity.first_record = footer.record_count;
  identity.split_sum = SplitSum(plan.split);
  const uint64_t offset = file.size();
  ASSIGN_OR_RETURN(const BlockHeader header, block.Write(identity, &file));
  footer.blocks.push_back({offset, header.block_bytes, header.first_record, header.records});
  footer.record_count += header.records;
  digest->AddBlock(header.checksum);
  return OkStatus();
}

Status ShardWriter::Impl::WriteEnd(const proto::ShardSummary& summary, ShardResult* result) {
  if (block.records() > 0) RETURN_IF_ERROR(WriteBlock());
  footer.summary = SerializeDeterministic(summary);
  if (!proto::ShardSummary().ParseFromString(footer.summary)) {
    return InvalidArgumentError("the summary holds text that is not UTF-8");
  }
  const uint64_t footer_offset = file.size();
  const std::string footer_bytes = EncodeFooter(footer);
  if (footer_bytes.size() > kMaxFooterBytes) {
    return InvalidArgumentError("the footer would be larger than " +
                                std::to_string(kMaxFooterBytes) +
                                " bytes; use smaller shards or larger blocks");
  }
  RETURN_IF_ERROR(file.Append(footer_bytes.data(), footer_bytes.size()));

  Postscript postscript;
  postscript.dataset_id = plan.dataset_id;
  postscript.shard_number = plan.shard_number;
  postscript.shard_count = plan.shard_count;
  postscript.footer_offset = footer_offset;
  postscript.footer_bytes = footer_bytes.size();
  postscript.footer_checksum = ChecksumIn(footer_bytes, kFooterChecksumOffset);
  postscript.record_count = footer.record_count;
  postscript.file_bytes = file.size() + kPostscriptBytes;
  postscript.digest = digest->Finish(postscript.footer_checksum);
  const std::string postscript_bytes = EncodePostscript(postscript);
  RETURN_IF_ERROR(file.Append(postscript_bytes.data(), postscript_bytes.size()));
  *result = {file_name, postscript.record_count, postscript.file_bytes, postscript.digest};
  return OkStatus();
}

ShardWriter::ShardWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ShardWriter::~ShardWriter() = default;

Result<std::unique_ptr<ShardWriter>> ShardWriter::Create(const std::string& folder,
                                                         const ShardPlan& plan,
                                                         const RecordSchema& schema,
                                                         const proto::Recipe& recipe) {
  RETURN_IF_ERROR(CheckPlan(plan));
  proto::ShardSchema message;
  message.set_split(plan.split);
  RecordSchemaToProto(schema, &message);
  *message.mutable_recipe() = recipe;
  RETURN_IF_ERROR(CheckSchema(schema, message));
  const std::string schema_bytes = SerializeDeterministic(message);
  if (!message.ParseFromString(schema_bytes)) {
    return InvalidArgumentError("the recipe holds text that is not UTF-8");
  }
  if (schema_bytes.size() > kMaxSchemaBytes) {
    return InvalidArgumentError("the schema takes " + std::to_string(schema_bytes.size()) +
                                " bytes; at most " + std::to_string(kMaxSchemaBytes) +
                                " are allowed");
  }
  const std::string name = ShardFileName(plan.split, plan.shard_number, plan.shard_count);
  ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(JoinPath(folder, name)));
  auto impl = std::make_unique<Impl>(plan, schema, std::move(file));
  impl->file_name = name;
  RETURN_IF_ERROR(impl->WriteStart(schema_bytes));
  return std::unique_ptr<ShardWriter>(new ShardWriter(std::move(impl)));
}

Status ShardWriter::Append(EncodedRecord record) {
  RETURN_IF_ERROR(impl_->first_error);
  Status status = CheckMeta(record.meta);
  if (status.ok()) status = impl_->block.Add(std::move(record));
  if (status.ok() && impl_->block.records() == impl_->plan.records_per_block) {
    status = impl_->WriteBlock();
  }
  return status.ok() ? status : impl_->Fail(status);
}

Result<ShardResult> ShardWriter::Close(const proto::ShardSummary& summary,
                                       const BeforeNamed& before_named) {
  RETURN_IF_ERROR(impl_->first_error);
  ShardResult result;
  Status status = impl_->WriteEnd(summary, &result);
  if (status.ok() && before_named) status = before_named(result);
  if (status.ok()) status = impl_->file.Commit();
  if (!status.ok()) return impl_->Fail(status);
  impl_->first_error = InternalError(impl_->file_name + " is already closed");
  return result;
}

}  // namespace shardmill
