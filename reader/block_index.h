// Where the stored bytes of each record of a shard lie.
//
// Built from the block table alone. The header of a block, and the offset table of each of its
// regions, is checked when it is used for the first time; the numbers of a table are read from
// the file at each use and bounds-checked then. Per record nothing is held but one bit for
// each field, and that only for blocks in use.
// All methods are const and may be called from several threads at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "reader/base/checksum.h"
#include "reader/base/input_file.h"
#include "reader/base/status.h"
#include "reader/block_format.h"
#include "reader/schema.h"

namespace shardmill {

class BlockIndex {
  struct Block;

 public:
  // A record: its block, and its number in it. Valid as long as the index.
  struct Place {
    Block* block = nullptr;
    uint64_t block_offset = 0;  // in the file
    uint32_t index = 0;
  };
  struct Shard {
    Digest dataset_id = {};
    uint32_t shard_number = 0;
    uint64_t split_sum = 0;
    uint32_t records_per_block = 1;
  };

  // `file` and `schema` must outlive the index; `blocks` has passed CheckBlockTable.
  BlockIndex(const InputFile* file, const RecordSchema* schema, const Shard& shard,
             std::vector<BlockTableEntry> blocks);

  const std::vector<BlockTableEntry>& blocks() const { return blocks_; }
  // The block of a record; requires that the record exists.
  uint32_t BlockOf(uint64_t record) const {
    return static_cast<uint32_t>(record / shard_.records_per_block);
  }

  // The checksum of a block's header.
  Result<uint64_t> HeaderChecksum(uint32_t number) const;
  // Requires that the record exists.
  Result<Place> Find(uint64_t record) const;
  // The stored bytes of one field of one record.
  Result<FileRange> StoredRange(const Place& place, uint32_t field) const;
  // Their checksum, as the block header says it.
  Result<uint64_t> StoredChecksum(const Place& place, uint32_t field) const;
  // Writes the variable dimensions to `dims`, whose memory is reused.
  Status VariableDims(uint64_t record, uint32_t field, std::vector<uint32_t>* dims) const;
  // Whether MarkVerified was called for this record and field.
  static bool IsVerified(const Place& place, uint32_t field);
  static void MarkVerified(const Place& place, uint32_t field);
  // Checks everything again at its next use: the file may have been written to in place.
  void ForgetChecks() const;
  // The serialised metadata of a record; checks the block's whole metadata region once.
  Result<FileRange> MetaRange(uint64_t record) const;

  // Ask the processor for what StoredRange() and what StoredChecksum() and MarkVerified() are going
  // to touch. Hints, which neither fault nor touch the disk.
  void WarmRange(uint64_t record, uint32_t field) const;
  void WarmChecksum(const Place& place, uint32_t field) const;

 private:
  // A block whose header has been checked.
  struct Block {
    explicit Block(BlockHeader checked_header);

    const BlockHeader header;
    std::atomic<bool> checked_header{true};   // false: is to be compared with the file again
    std::atomic<uint64_t> checked_tables{0};  // bit per field
    std::atomic<bool> checked_meta{false};
    std::unique_ptr<std::atomic<uint64_t>[]> verified;  // bit per record and field
  };
  static_assert(kMaxFields <= 64, "one bit per field");

  Result<Block*> GetBlock(uint32_t number) const;
  Result<BlockHeader> ReadAndCheckHeader(uint32_t number) const;
  Status CheckHeaderAgain(uint32_t number, Block* block) const;
  uint64_t TableBytes(const Block& block, uint32_t field) const;
  Status CheckTable(const Place& place, uint32_t field) const;
  Status CheckMeta(const Place& place) const;

  const InputFile* file_;
  const RecordSchema* schema_;
  const Shard shard_;
  const std::vector<BlockTableEntry> blocks_;
  static constexpr uint64_t kNotDense = ~uint64_t{0};
  std::vector<uint64_t> dense_bytes_;               // of one record, per field
  std::unique_ptr<std::atomic<Block*>[]> checked_;  // per block; null until first use
  mutable std::mutex mutex_;                        // guards owned_
  mutable std::vector<std::unique_ptr<Block>> owned_;
};

}  // namespace shardmill
