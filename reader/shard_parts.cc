#include "reader/shard_parts.h"

#include <string>
#include <utility>

#include "proto/manifest.pb.h"
#include "proto/schema.pb.h"
#include "reader/codec.h"
#include "reader/names.h"

namespace shardmill {
namespace {

Result<std::string> ReadBytes(const InputFile& file, uint64_t offset, uint64_t bytes) {
  RETURN_IF_ERROR(file.CheckRange(offset, bytes));  // before the memory is taken
  std::string copy(bytes, '\0');
  RETURN_IF_ERROR(file.Read(offset, bytes, copy.data()));
  return copy;
}

Status CheckFileSize(const InputFile& file) {
  if (file.size() >= kSmallestShardBytes && file.size() % kAlignment == 0) return OkStatus();
  return DataLossError("the file has " + std::to_string(file.size()) +
                       " bytes; a shard has a multiple of 4096 and at least " +
                       std::to_string(kSmallestShardBytes) + ": it was cut, or is no shard");
}

}  // namespace

ShardParts::ShardParts() = default;
ShardParts::~ShardParts() = default;
ShardParts::ShardParts(ShardParts&&) noexcept = default;
ShardParts& ShardParts::operator=(ShardParts&&) noexcept = default;

Result<Superblock> ReadSuperblock(const InputFile& file) {
  if (file.size() < kSuperblockBytes) return CheckFileSize(file);
  ASSIGN_OR_RETURN(const std::string bytes, ReadBytes(file, 0, kSuperblockBytes));
  return DecodeSuperblock(bytes);
}

Status ReadSchema(const InputFile& file, ShardParts* parts) {
  const Superblock& superblock = parts->superblock;
  ASSIGN_OR_RETURN(const std::string bytes,
                   ReadBytes(file, kSchemaOffset, PaddedBytes(superblock.schema_bytes)));
  if (Checksum64(bytes.data(), bytes.size()) != superblock.schema_checksum) {
    return DataLossError("the schema is damaged: its checksum differs");
  }
  if (bytes.find_first_not_of('\0', superblock.schema_bytes) != std::string::npos) {
    return DataLossError("the schema has padding that is not zero");
  }
  parts->schema_message = std::make_unique<proto::ShardSchema>();
  if (!parts->schema_message->ParseFromArray(bytes.data(),
                                             static_cast<int>(superblock.schema_bytes))) {
    return DataLossError("the schema is malformed");
  }
  if (!IsPlainName(parts->schema_message->split())) {
    return DataLossError("the schema has a split name that is not allowed");
  }
  ASSIGN_OR_RETURN(parts->schema, RecordSchemaFromProto(*parts->schema_message));
  if (parts->schema.fields.size() != superblock.field_count) {
    return DataLossError("superblock and schema disagree on the number of fields");
  }
  return CheckDictionaries(parts->schema);
}

Result<Postscript> ReadPostscript(const InputFile& file) {
  RETURN_IF_ERROR(CheckFileSize(file));
  ASSIGN_OR_RETURN(const std::string bytes,
                   ReadBytes(file, file.size() - kPostscriptBytes, kPostscriptBytes));
  return DecodePostscript(bytes, file.size());
}

Status ReadFooter(const InputFile& file, ShardParts* parts) {
  const Postscript& postscript = parts->postscript;
  ASSIGN_OR_RETURN(const std::string bytes,
                   ReadBytes(file, postscript.footer_offset, postscript.footer_bytes));
  ASSIGN_OR_RETURN(parts->footer, DecodeFooter(bytes));
  if (parts->footer.checksum != postscript.footer_checksum ||
      parts->footer.record_count != postscript.record_count) {
    return DataLossError("footer and postscript disagree");
  }
  parts->summary = std::make_unique<proto::ShardSummary>();
  if (!parts->summary->ParseFromString(parts->footer.summary)) {
    return DataLossError("the summary in the footer is malformed");
  }
  parts->footer.summary.clear();
  return OkStatus();
}

Status CheckAgreement(const ShardParts& parts) {
  const Superblock& superblock = parts.superblock;
  const Postscript& postscript = parts.postscript;
  if (superblock.dataset_id != postscript.dataset_id ||
      superblock.shard_number != postscript.shard_number ||
      superblock.shard_count != postscript.shard_count) {
    return DataLossError("superblock and postscript belong to different shards");
  }
  return CheckBlockTable(parts.footer, superblock.first_block_offset(), postscript.footer_offset,
                         superblock.records_per_block);
}

Result<ShardParts> ReadShardParts(const InputFile& file) {
  ShardParts parts;
  ASSIGN_OR_RETURN(parts.superblock, ReadSuperblock(file));
  ASSIGN_OR_RETURN(parts.postscript, ReadPostscript(file));
  RETURN_IF_ERROR(ReadSchema(file, &parts));
  RETURN_IF_ERROR(ReadFooter(file, &parts));
  RETURN_IF_ERROR(CheckAgreement(parts));
  return parts;
}

}  // namespace shardmill
