#include "reader/shard_format.h"

#include <cstring>

#include "reader/base/little_endian.h"
#include "reader/names.h"

namespace shardmill {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "tensors are handed out as they are stored, little-endian");

constexpr std::string_view kSuperblockMagic("\x89SMILL\r\n", 8);
constexpr std::string_view kPostscriptMagic("SMPOSTSC", 8);
constexpr uint64_t kSuperblockUsedBytes = 112;
constexpr uint64_t kPostscriptUsedBytes = 104;
constexpr uint64_t kKnownCompatFlags = 0;
constexpr uint64_t kKnownIncompatFlags = 0;

uint8_t* Bytes(std::string* text) { return reinterpret_cast<uint8_t*>(text->data()); }
const uint8_t* Bytes(std::string_view text) {
  return reinterpret_cast<const uint8_t*>(text.data());
}

bool AllZero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

void Seal(uint64_t checksum_offset, std::string* bytes) {
  StoreU64(Checksum64WithZeroedField(bytes->data(), bytes->size(), checksum_offset),
           Bytes(bytes) + checksum_offset);
}

void StoreDigest(const Digest& digest, uint8_t* bytes) {
  std::memcpy(bytes, digest.data(), digest.size());
}

Digest LoadDigest(const uint8_t* bytes) {
  Digest digest;
  std::memcpy(digest.data(), bytes, digest.size());
  return digest;
}

Status CheckSeal(std::string_view what, std::string_view magic, uint64_t checksum_offset,
                 std::string_view bytes) {
  if (bytes.substr(0, magic.size()) != magic) {
    return DataLossError(std::string(what) + " does not start with its magic bytes");
  }
  const uint64_t stored = LoadU64(Bytes(bytes) + checksum_offset);
  if (stored != Checksum64WithZeroedField(bytes.data(), bytes.size(), checksum_offset)) {
    return DataLossError(std::string(what) + " is damaged: its checksum differs");
  }
  return OkStatus();
}

Status CheckSuperblock(const Superblock& superblock) {
  if (superblock.shard_count < 1 || superblock.shard_count > kMaxShards ||
      superblock.shard_number >= superblock.shard_count) {
    return DataLossError("superblock says shard " + std::to_string(superblock.shard_number) +
                         " of " + std::to_string(superblock.shard_count));
  }
  if (superblock.field_count < 1) return DataLossError("superblock says that there are no fields");
  if (superblock.records_per_block < 1) return DataLossError("superblock says 0 records per block");
  if (superblock.first_input > superblock.end_input) {
    return DataLossError("superblock says inputs from " + std::to_string(superblock.first_input) +
                         " to " + std::to_string(superblock.end_input));
  }
  if (superblock.schema_bytes < 1 || superblock.schema_bytes > kMaxSchemaBytes) {
    return DataLossError("superblock says a schema of " + std::to_string(superblock.schema_bytes) +
                         " bytes");
  }
  return OkStatus();
}

}  // namespace

std::string EncodeSuperblock(const Superblock& superblock) {
  std::string bytes(kSuperblockBytes, '\0');
  uint8_t* out = Bytes(&bytes);
  std::memcpy(out, kSuperblockMagic.data(), kSuperblockMagic.size());
  StoreU32(kFormatVersion, out + 8);
  StoreU32(kSuperblockBytes, out + 12);
  StoreU64(superblock.compat_flags, out + 24);
  StoreU64(superblock.incompat_flags, out + 32);
  StoreDigest(superblock.dataset_id, out + 40);
  StoreU32(superblock.shard_number, out + 56);
  StoreU32(superblock.shard_count, out + 60);
  StoreU32(superblock.field_count, out + 64);
  StoreU32(superblock.records_per_block, out + 68);
  StoreU64(superblock.first_input, out + 72);
  StoreU64(superblock.end_input, out + 80);
  StoreU64(kSchemaOffset, out + 88);
  StoreU64(superblock.schema_bytes, out + 96);
  StoreU64(superblock.schema_checksum, out + 104);
  Seal(kSuperblockChecksumOffset, &bytes);
  return bytes;
}

Result<Superblock> DecodeSuperblock(std::string_view bytes) {
  SHARDMILL_CHECK(bytes.size() == kSuperblockBytes);
  if (bytes.substr(0, kSuperblockMagic.size()) != kSuperblockMagic) {
    return DataLossError("not a shard: the file does not start with the magic bytes");
  }
  RETURN_IF_ERROR(CheckSeal("superblock", kSuperblockMagic, kSuperblockChecksumOffset, bytes));
  const uint8_t* in = Bytes(bytes);
  const uint32_t version = LoadU32(in + 8);
  if (version != kFormatVersion) {
    return InvalidArgumentError("format version " + std::to_string(version) +
                                "; this build reads version 1, use a newer one");
  }
  Superblock superblock;
  superblock.checksum = LoadU64(in + kSuperblockChecksumOffset);
  superblock.compat_flags = LoadU64(in + 24);
  superblock.incompat_flags = LoadU64(in + 32);
  if ((superblock.incompat_flags & ~kKnownIncompatFlags) != 0) {
    return InvalidArgumentError("the shard uses features that this build does not know (flags " +
                                std::to_string(superblock.incompat_flags) + "), use a newer one");
  }
  superblock.dataset_id = LoadDigest(in + 40);
  superblock.shard_number = LoadU32(in + 56);
  superblock.shard_count = LoadU32(in + 60);
  superblock.field_count = LoadU32(in + 64);
  superblock.records_per_block = LoadU32(in + 68);
  superblock.first_input = LoadU64(in + 72);
  superblock.end_input = LoadU64(in + 80);
  superblock.schema_bytes = LoadU64(in + 96);
  superblock.schema_checksum = LoadU64(in + 104);
  if (LoadU32(in + 12) != kSuperblockBytes || LoadU64(in + 88) != kSchemaOffset) {
    return DataLossError("superblock says another geometry than version 1 has");
  }
  // A compatible feature may have put something there that this build need not understand.
  const bool may_use_reserved = (superblock.compat_flags & ~kKnownCompatFlags) != 0;
  if (!may_use_reserved && !AllZero(bytes.substr(kSuperblockUsedBytes))) {
    return DataLossError("superblock has bytes that are not zero behind its last field");
  }
  RETURN_IF_ERROR(CheckSuperblock(superblock));
  return superblock;
}

std::string EncodeFooter(const Footer& footer) {
  const uint64_t summary_offset = kFooterFixedBytes + footer.blocks.size() * kBlockTableEntryBytes;
  const uint64_t used_bytes = summary_offset + footer.summary.size();
  std::string bytes(PaddedBytes(used_bytes), '\0');
  uint8_t* out = Bytes(&bytes);
  std::memcpy(out, kFooterMagic.data(), kFooterMagic.size());
  StoreU64(used_bytes, out + 16);
  StoreU64(footer.blocks.size(), out + 24);
  StoreU64(footer.record_count, out + 32);
  StoreU64(summary_offset, out + 40);
  StoreU64(footer.summary.size(), out + 48);
  uint8_t* entry = out + kFooterFixedBytes;
  for (const BlockTableEntry& block : footer.blocks) {
    StoreU64(block.offset, entry);
    StoreU64(block.bytes, entry + 8);
    StoreU64(block.first_record, entry + 16);
    StoreU32(block.records, entry + 24);
    entry += kBlockTableEntryBytes;
  }
  std::memcpy(out + summary_offset, footer.summary.data(), footer.summary.size());
  Seal(kFooterChecksumOffset, &bytes);
  return bytes;
}

Result<Footer> DecodeFooter(std::string_view bytes) {
  SHARDMILL_CHECK(bytes.size() >= kFooterFixedBytes);
  RETURN_IF_ERROR(CheckSeal("footer", kFooterMagic, kFooterChecksumOffset, bytes));
  const uint8_t* in = Bytes(bytes);
  const uint64_t used_bytes = LoadU64(in + 16);
  const uint64_t block_count = LoadU64(in + 24);
  const uint64_t summary_offset = LoadU64(in + 40);
  const uint64_t summary_bytes = LoadU64(in + 48);
  if (block_count > (bytes.size() - kFooterFixedBytes) / kBlockTableEntryBytes ||
      summary_offset != kFooterFixedBytes + block_count * kBlockTableEntryBytes ||
      summary_bytes > bytes.size() - summary_offset ||
      used_bytes != summary_offset + summary_bytes || PaddedBytes(used_bytes) != bytes.size()) {
    return DataLossError("footer says sizes that do not fit its " + std::to_string(bytes.size()) +
                         " bytes");
  }
  if (LoadU64(in + 56) != 0 || !AllZero(bytes.substr(used_bytes))) {
    return DataLossError("footer has reserved or padding bytes that are not zero");
  }
  Footer footer;
  footer.checksum = LoadU64(in + kFooterChecksumOffset);
  footer.record_count = LoadU64(in + 32);
  footer.blocks.resize(block_count);
  const uint8_t* entry = in + kFooterFixedBytes;
  for (BlockTableEntry& block : footer.blocks) {
    block.offset = LoadU64(entry);
    block.bytes = LoadU64(entry + 8);
    block.first_record = LoadU64(entry + 16);
    block.records = LoadU32(entry + 24);
    if (LoadU32(entry + 28) != 0) {
      return DataLossError("footer has a reserved number in its block table that is not zero");
    }
    entry += kBlockTableEntryBytes;
  }
  footer.summary = bytes.substr(summary_offset, summary_bytes);
  return footer;
}

Status CheckBlockTable(const Footer& footer, uint64_t first_block_offset, uint64_t footer_offset,
                       uint32_t records_per_block) {
  if (first_block_offset > footer_offset) {
    return DataLossError("the footer lies inside the schema");
  }
  uint64_t offset = first_block_offset;
  uint64_t record = 0;
  for (size_t i = 0; i < footer.blocks.size(); ++i) {
    const BlockTableEntry& block = footer.blocks[i];
    const bool is_last = i + 1 == footer.blocks.size();
    // offset <= footer_offset holds here, so that the subtraction cannot wrap.
    if (block.offset != offset || block.bytes == 0 || block.bytes % kAlignment != 0 ||
        block.bytes > footer_offset - offset) {
      return DataLossError("block table: block " + std::to_string(i) +
                           " does not lie where the one before it ends, or leaves the file");
    }
    if (block.first_record != record || block.records == 0 || block.records > records_per_block ||
        (!is_last && block.records != records_per_block)) {
      return DataLossError("block table: block " + std::to_string(i) +
                           " has a wrong first record or number of records");
    }
    offset += block.bytes;
    record += block.records;
  }
  if (offset != footer_offset) {
    return DataLossError("block table: the footer does not follow the last block");
  }
  if (record != footer.record_count) {
    return DataLossError("block table: its blocks hold " + std::to_string(record) +
                         " records, the footer says " + std::to_string(footer.record_count));
  }
  return OkStatus();
}

std::string EncodePostscript(const Postscript& postscript) {
  std::string bytes(kPostscriptBytes, '\0');
  uint8_t* out = Bytes(&bytes);
  std::memcpy(out, kPostscriptMagic.data(), kPostscriptMagic.size());
  StoreU32(kFormatVersion, out + 16);
  StoreDigest(postscript.dataset_id, out + 24);
  StoreU32(postscript.shard_number, out + 40);
  StoreU32(postscript.shard_count, out + 44);
  StoreU64(postscript.footer_offset, out + 48);
  StoreU64(postscript.footer_bytes, out + 56);
  StoreU64(postscript.footer_checksum, out + 64);
  StoreU64(postscript.record_count, out + 72);
  StoreU64(postscript.file_bytes, out + 80);
  StoreDigest(postscript.digest, out + 88);
  Seal(kPostscriptChecksumOffset, &bytes);
  return bytes;
}

Result<Postscript> DecodePostscript(std::string_view bytes, uint64_t file_bytes) {
  SHARDMILL_CHECK(bytes.size() == kPostscriptBytes);
  if (bytes.substr(0, kPostscriptMagic.size()) != kPostscriptMagic) {
    return DataLossError("the file does not end in a postscript: it was cut or never finished");
  }
  RETURN_IF_ERROR(CheckSeal("postscript", kPostscriptMagic, kPostscriptChecksumOffset, bytes));
  const uint8_t* in = Bytes(bytes);
  Postscript postscript;
  postscript.checksum = LoadU64(in + kPostscriptChecksumOffset);
  postscript.dataset_id = LoadDigest(in + 24);
  postscript.shard_number = LoadU32(in + 40);
  postscript.shard_count = LoadU32(in + 44);
  postscript.footer_offset = LoadU64(in + 48);
  postscript.footer_bytes = LoadU64(in + 56);
  postscript.footer_checksum = LoadU64(in + 64);
  postscript.record_count = LoadU64(in + 72);
  postscript.file_bytes = LoadU64(in + 80);
  postscript.digest = LoadDigest(in + 88);
  if (LoadU32(in + 16) != kFormatVersion || LoadU32(in + 20) != 0 ||
      !AllZero(bytes.substr(kPostscriptUsedBytes))) {
    return DataLossError("postscript has another version, or reserved bytes that are not zero");
  }
  if (postscript.file_bytes != file_bytes) {
    return DataLossError("postscript says " + std::to_string(postscript.file_bytes) +
                         " bytes, the file has " + std::to_string(file_bytes));
  }
  // The padded footer lies directly before the postscript.
  if (postscript.footer_bytes < kAlignment || postscript.footer_bytes % kAlignment != 0 ||
      postscript.footer_bytes > kMaxFooterBytes ||
      postscript.footer_bytes > file_bytes - kPostscriptBytes ||
      postscript.footer_offset != file_bytes - kPostscriptBytes - postscript.footer_bytes) {
    return DataLossError("postscript says a footer of " + std::to_string(postscript.footer_bytes) +
                         " bytes at offset " + std::to_string(postscript.footer_offset) +
                         ", which does not fit the file");
  }
  return postscript;
}

ShardDigest::ShardDigest(uint64_t superblock_checksum, uint64_t schema_checksum) {
  Add(superblock_checksum);
  Add(schema_checksum);
}

Digest ShardDigest::Finish(uint64_t footer_checksum) {
  Add(footer_checksum);
  return stream_.Value();
}

void ShardDigest::Add(uint64_t checksum) {
  uint8_t bytes[8];
  StoreU64(checksum, bytes);
  stream_.Update(bytes, sizeof bytes);
}

}  // namespace shardmill
