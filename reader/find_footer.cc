#include "reader/find_footer.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "proto/manifest.pb.h"
#include "reader/base/little_endian.h"
#include "reader/shard_format.h"

namespace shardmill {
namespace {

constexpr uint64_t kUsedBytesOffset = 16;
// A footer is not longer; and more than this was not added behind it.
constexpr uint64_t kMaxSearchBytes = 2 * kMaxFooterBytes;

// The padded size that the bytes at `offset` say they have; 0 when there is no footer.
Result<uint64_t> FooterBytesAt(const InputFile& file, uint64_t offset) {
  uint8_t start[kFooterFixedBytes];
  if (file.size() - offset < sizeof start) return uint64_t{0};
  RETURN_IF_ERROR(file.Read(offset, sizeof start, start));
  if (std::memcmp(start, kFooterMagic.data(), kFooterMagic.size()) != 0) return uint64_t{0};
  const uint64_t used = LoadU64(start + kUsedBytesOffset);
  if (used < kFooterFixedBytes || used > kMaxFooterBytes) return uint64_t{0};
  const uint64_t bytes = PaddedBytes(used);
  return bytes <= file.size() - offset ? bytes : 0;
}

bool FitsItsPlace(const Footer& footer, uint64_t offset, const Superblock* superblock) {
  if (superblock != nullptr) {
    return CheckBlockTable(footer, superblock->first_block_offset(), offset,
                           superblock->records_per_block)
        .ok();
  }
  if (footer.blocks.empty()) return true;
  const BlockTableEntry& first = footer.blocks.front();
  return CheckBlockTable(footer, first.offset, offset, first.records).ok();
}

void Take(Footer footer, uint64_t offset, uint64_t bytes, ShardParts* parts) {
  parts->footer = std::move(footer);
  parts->footer.summary.clear();
  parts->postscript.footer_offset = offset;
  parts->postscript.footer_bytes = bytes;
  parts->postscript.footer_checksum = parts->footer.checksum;
  parts->postscript.record_count = parts->footer.record_count;
  parts->postscript.file_bytes = offset + bytes + kPostscriptBytes;
}

}  // namespace

Status FindFooter(const InputFile& file, bool has_superblock, ShardParts* parts) {
  const Superblock* superblock = has_superblock ? &parts->superblock : nullptr;
  const uint64_t last = file.size() / kAlignment * kAlignment;
  const uint64_t first = std::max(last - std::min(last, kMaxSearchBytes), kSchemaOffset);
  for (uint64_t offset = last; offset >= first && offset > 0; offset -= kAlignment) {
    ASSIGN_OR_RETURN(const uint64_t bytes, FooterBytesAt(file, offset));
    if (bytes == 0) continue;
    std::string copy(bytes, '\0');
    RETURN_IF_ERROR(file.Read(offset, bytes, copy.data()));
    Result<Footer> footer = DecodeFooter(copy);
    if (!footer.ok() || !FitsItsPlace(*footer, offset, superblock)) continue;
    auto summary = std::make_unique<proto::ShardSummary>();
    if (!summary->ParseFromString(footer->summary)) continue;
    parts->summary = std::move(summary);
    Take(std::move(footer).value(), offset, bytes, parts);
    return OkStatus();
  }
  return DataLossError("no footer was found");
}

}  // namespace shardmill
