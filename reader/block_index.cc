#include "reader/block_index.h"

#include <string>
#include <utility>

#include "reader/base/little_endian.h"

namespace shardmill {

BlockIndex::Block::Block(BlockHeader checked_header) : header(std::move(checked_header)) {
  const uint64_t bits = header.fields.size() * header.records;
  verified = std::make_unique<std::atomic<uint64_t>[]>(bits / 64 + 1);
}

BlockIndex::BlockIndex(const InputFile* file, const RecordSchema* schema, const Shard& shard,
                       std::vector<BlockTableEntry> blocks)
    : file_(file),
      schema_(schema),
      shard_(shard),
      blocks_(std::move(blocks)),
      checked_(std::make_unique<std::atomic<Block*>[]>(blocks_.size())) {
  for (const FieldSpec& spec : schema_->fields) {
    dense_bytes_.push_back(spec.IsDense() ? spec.TensorBytes() : kNotDense);
  }
}

Result<BlockHeader> BlockIndex::ReadAndCheckHeader(uint32_t number) const {
  const BlockTableEntry& entry = blocks_[number];
  ASSIGN_OR_RETURN(BlockHeader header, ReadBlockHeader(*file_, entry.offset, entry.bytes));
  const BlockIdentity expected = {shard_.dataset_id, shard_.shard_number, number, shard_.split_sum};
  RETURN_IF_ERROR(CheckBlockIdentity(header, expected, entry));
  RETURN_IF_ERROR(CheckBlockHeader(header, *schema_));
  return header;
}

Status BlockIndex::CheckHeaderAgain(uint32_t number, Block* block) const {
  ASSIGN_OR_RETURN(const BlockHeader header, ReadAndCheckHeader(number));
  if (header.checksum != block->header.checksum) {
    return DataLossError("the block header was changed while the shard was in use");
  }
  block->checked_header.store(true, std::memory_order_relaxed);
  return OkStatus();
}

void BlockIndex::ForgetChecks() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const std::unique_ptr<Block>& block : owned_) {
    const uint64_t bits = block->header.fields.size() * block->header.records;
    for (uint64_t i = 0; i <= bits / 64; ++i) block->verified[i] = 0;
    block->checked_tables = 0;
    block->checked_meta = false;
    block->checked_header = false;
  }
}

Result<BlockIndex::Block*> BlockIndex::GetBlock(uint32_t number) const {
  std::atomic<Block*>& slot = checked_[number];
  Block* block = slot.load(std::memory_order_acquire);
  if (block != nullptr) {
    if (!block->checked_header.load(std::memory_order_relaxed)) {
      RETURN_IF_ERROR(CheckHeaderAgain(number, block));
    }
    return block;
  }
  ASSIGN_OR_RETURN(BlockHeader header, ReadAndCheckHeader(number));
  auto owned = std::make_unique<Block>(std::move(header));
  const std::lock_guard<std::mutex> lock(mutex_);
  // Another thread may have been faster; all must use the same object.
  block = slot.load(std::memory_order_acquire);
  if (block != nullptr) return block;
  block = owned.get();
  owned_.push_back(std::move(owned));
  slot.store(block, std::memory_order_release);
  return block;
}

Result<uint64_t> BlockIndex::HeaderChecksum(uint32_t number) const {
  ASSIGN_OR_RETURN(const Block* block, GetBlock(number));
  return block->header.checksum;
}

Result<BlockIndex::Place> BlockIndex::Find(uint64_t record) const {
  const uint32_t number = BlockOf(record);
  const BlockTableEntry& entry = blocks_[number];
  ASSIGN_OR_RETURN(Block* const block, GetBlock(number));
  return Place{block, entry.offset, static_cast<uint32_t>(record - entry.first_record)};
}

uint64_t BlockIndex::TableBytes(const Block& block, uint32_t field) const {
  const int variable_dims = schema_->fields[field].VariableDimCount();
  return RegionTableBytes(block.header.records, static_cast<uint64_t>(variable_dims));
}

Status BlockIndex::CheckTable(const Place& place, uint32_t field) const {
  Block& block = *place.block;
  const uint64_t bit = uint64_t{1} << field;
  if ((block.checked_tables.load(std::memory_order_relaxed) & bit) != 0) return OkStatus();
  const FieldRegion& region = block.header.fields[field];
  ASSIGN_OR_RETURN(const uint64_t checksum,
                   file_->Checksum64(place.block_offset + region.offset, TableBytes(block, field)));
  if (checksum != region.table_checksum) {
    return DataLossError("the offsets are damaged: their checksum differs");
  }
  block.checked_tables.fetch_or(bit, std::memory_order_relaxed);
  return OkStatus();
}

Status BlockIndex::CheckMeta(const Place& place) const {
  Block& block = *place.block;
  if (block.checked_meta.load(std::memory_order_relaxed)) return OkStatus();
  const BlockHeader& header = block.header;
  ASSIGN_OR_RETURN(const uint64_t checksum,
                   file_->Checksum64(place.block_offset + header.meta_offset, header.meta_bytes));
  if (checksum != header.meta_checksum) {
    return DataLossError("the metadata region is damaged: its checksum differs");
  }
  block.checked_meta.store(true, std::memory_order_relaxed);
  return OkStatus();
}

Result<FileRange> BlockIndex::StoredRange(const Place& place, uint32_t field) const {
  const FieldRegion& region = place.block->header.fields[field];
  const uint64_t region_offset = place.block_offset + region.offset;
  if (const uint64_t bytes = dense_bytes_[field]; bytes != kNotDense) {
    return FileRange{region_offset + place.index * bytes, bytes};
  }
  RETURN_IF_ERROR(CheckTable(place, field));
  const HeapRegion heap = {{region_offset, region.bytes}, TableBytes(*place.block, field)};
  return ReadHeapRange(*file_, heap, place.index);
}

Result<uint64_t> BlockIndex::StoredChecksum(const Place& place, uint32_t field) const {
  const uint64_t offset = place.block->header.RecordChecksumOffset(field, place.index);
  uint8_t bytes[8];
  RETURN_IF_ERROR(file_->Read(place.block_offset + offset, sizeof bytes, bytes));
  return LoadU64(bytes);
}

Status BlockIndex::VariableDims(uint64_t record, uint32_t field,
                                std::vector<uint32_t>* dims) const {
  dims->resize(static_cast<size_t>(schema_->fields[field].VariableDimCount()));
  if (dims->empty()) return OkStatus();
  ASSIGN_OR_RETURN(const Place& place, Find(record));
  RETURN_IF_ERROR(CheckTable(place, field));
  const BlockHeader& header = place.block->header;
  const uint64_t offset = place.block_offset + header.fields[field].offset +
                          VariableDimsOffset(header.records, dims->size(), place.index);
  uint8_t bytes[4 * kMaxRank];
  RETURN_IF_ERROR(file_->Read(offset, 4 * dims->size(), bytes));
  for (size_t i = 0; i < dims->size(); ++i) (*dims)[i] = LoadU32(bytes + 4 * i);
  return OkStatus();
}

bool BlockIndex::IsVerified(const Place& place, uint32_t field) {
  const uint64_t bit = uint64_t{field} * place.block->header.records + place.index;
  return (place.block->verified[bit / 64].load(std::memory_order_relaxed) >> (bit % 64) & 1) != 0;
}

void BlockIndex::MarkVerified(const Place& place, uint32_t field) {
  const uint64_t bit = uint64_t{field} * place.block->header.records + place.index;
  place.block->verified[bit / 64].fetch_or(uint64_t{1} << (bit % 64), std::memory_order_relaxed);
}

void BlockIndex::WarmRange(uint64_t record, uint32_t field) const {
  if (dense_bytes_[field] != kNotDense || file_->data() == nullptr) return;
  const uint32_t number = BlockOf(record);
  const Block* block = checked_[number].load(std::memory_order_acquire);
  if (block == nullptr) return;
  const uint64_t table = blocks_[number].offset + block->header.fields[field].offset;
  __builtin_prefetch(file_->data() + table + 8 * (record - blocks_[number].first_record));
}

void BlockIndex::WarmChecksum(const Place& place, uint32_t field) const {
  const uint64_t bit = uint64_t{field} * place.block->header.records + place.index;
  __builtin_prefetch(&place.block->verified[bit / 64], /*rw=*/1);
  if (file_->data() == nullptr) return;
  const uint64_t offset = place.block->header.RecordChecksumOffset(field, place.index);
  __builtin_prefetch(file_->data() + place.block_offset + offset);
}

Result<FileRange> BlockIndex::MetaRange(uint64_t record) const {
  ASSIGN_OR_RETURN(const Place& place, Find(record));
  RETURN_IF_ERROR(CheckMeta(place));
  const BlockHeader& header = place.block->header;
  const HeapRegion heap = {{place.block_offset + header.meta_offset, header.meta_bytes},
                           MetaTableBytes(header.records)};
  return ReadHeapRange(*file_, heap, place.index);
}

}  // namespace shardmill
