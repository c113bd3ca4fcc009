// Opens one shard read-only and hands out records. See proto/FORMAT.md for the bytes.
//
// Open() checks superblock, schema, postscript and footer: O(blocks), no record is touched. A
// block header is checked at its first use, a record's stored bytes as the checksum policy says.
// All methods are const and may be called from several threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/checksum.h"
#include "reader/base/input_file.h"
#include "reader/base/status.h"
#include "reader/block_index.h"
#include "reader/codec.h"
#include "reader/schema.h"
#include "reader/stage_clock.h"
#include "reader/stored_source.h"

namespace shardmill {

namespace proto {
class RecordMeta;
class ShardSchema;
class ShardSummary;
}  // namespace proto

enum class ChecksumPolicy {
  kOff,         // never
  kFirstTouch,  // each record and field once per open (the default)
  kAlways,      // at each read
};

// How shards are read; a policy alone stands for the rest as it is here.
struct ReadOptions {
  ReadOptions(ChecksumPolicy policy = ChecksumPolicy::kFirstTouch,  // NOLINT: implicit
              FileAccess file_access = FileAccess::kMapped)
      : checksums(policy), access(file_access) {}

  ChecksumPolicy checksums;
  FileAccess access;  // with kPread each shard holds an open file
};

// Scratch memory of one reading thread: the private copy of a record's stored bytes and the
// decoder's state. Reused from call to call, so that steady reading allocates nothing.
class ReadScratch {
 public:
  ReadScratch();
  ~ReadScratch();
  ReadScratch(ReadScratch&&) noexcept;
  ReadScratch& operator=(ReadScratch&&) noexcept;

  // Reads then say on it in which stage they are. The clock must outlive the scratch; null: none.
  void set_clock(StageClock* clock) { clock_ = clock; }
  // Reads for this slot of a loader's ring then ask `source` first. It must outlive the scratch;
  // null: none.
  void set_source(StoredSource* source, int slot) {
    source_ = source;
    source_slot_ = slot;
  }
  // Makes room for records of up to `stored_bytes` stored bytes, so that reading them allocates
  // nothing.
  void Reserve(uint64_t stored_bytes);
  // That room, for the steps of a read; Read() itself writes there.
  uint8_t* stored() { return stored_.data(); }
  uint64_t stored_room() const { return stored_.size(); }

 private:
  friend class ShardReader;
  StageClock* clock_ = nullptr;
  StoredSource* source_ = nullptr;
  int source_slot_ = 0;
  FieldDecoder decoder_;
  std::vector<uint8_t> stored_;
  std::vector<uint32_t> dims_;
};

// Where one field of one record is stored, for the steps of a read.
struct StoredPlace {
  uint64_t record = 0;
  uint32_t field = 0;
  FileRange range;
  BlockIndex::Place in_block;
};

class ShardReader {
 public:
  // NotFound, Io, or DataLoss with the shard's path and what is wrong with it.
  static Result<std::unique_ptr<ShardReader>> Open(const std::string& path,
                                                   const ReadOptions& options);
  ~ShardReader();
  ShardReader(const ShardReader&) = delete;
  ShardReader& operator=(const ShardReader&) = delete;

  const std::string& path() const;
  const InputFile& file() const;  // for reading its bytes by other means
  const RecordSchema& schema() const;
  const proto::ShardSchema& schema_message() const;  // with split, recipe
  const proto::ShardSummary& summary() const;
  const Digest& dataset_id() const;
  const Digest& digest() const;
  uint32_t shard_number() const;
  uint32_t shard_count() const;
  // The plan range: this shard was made of inputs [first_input, end_input) of its split.
  uint64_t first_input() const;
  uint64_t end_input() const;
  uint64_t records() const;
  uint64_t file_bytes() const;
  uint32_t block_count() const;

  struct BlockInfo {
    uint64_t offset = 0;        // of the block in the file
    uint64_t bytes = 0;         // header, fields, metadata and padding
    uint64_t first_record = 0;  // from the start of the shard
    uint32_t records = 0;
  };
  BlockInfo block(uint32_t index) const;

  // The variable dimensions of a field of a record, in the order in which they stand in the
  // shape; empty for a fixed shape.
  Result<std::vector<uint32_t>> VariableDims(uint64_t record, int field) const;
  // The same into the memory of `dims`.
  Status VariableDims(uint64_t record, int field, std::vector<uint32_t>* dims) const;

  // Where the stored bytes of a field of this record lie in the file.
  Result<FileRange> StoredRange(uint64_t record, int field) const;
  // How many they are.
  Result<uint64_t> StoredBytes(uint64_t record, int field) const;

  // Copies (raw) or decodes one field of one record into exactly `bytes` bytes at `out`; `bytes`
  // must be the tensor's size. DataLoss names shard, block, record and field.
  Status Read(uint64_t record, int field, void* out, uint64_t bytes, ReadScratch* scratch) const;

  // Read() in steps, for who takes many records through one step before the next one, so that
  // waiting for memory overlaps. Record and field must exist; errors are those of Read().
  Status Find(uint64_t record, int field, StoredPlace* place) const;
  Status CopyStored(const StoredPlace& place, void* out, ReadScratch* scratch) const;
  bool WantsCheck(const StoredPlace& place) const;
  Status CheckStored(const StoredPlace& place, const void* stored) const;
  Status DecodeStored(const StoredPlace& place, const void* stored, void* out, uint64_t bytes,
                      ReadScratch* scratch) const;
  // Ask the processor for what Find(), CopyStored() and CheckStored() are going to touch: hints
  // that neither fault nor touch the disk.
  void WarmFind(uint64_t record, int field) const;
  void WarmCopy(const StoredPlace& place) const;
  void WarmCheck(const StoredPlace& place) const;

  Result<proto::RecordMeta> ReadMeta(uint64_t record) const;

  // Asks the kernel to load the stored bytes of a record's fields ahead of use.
  void Prefetch(uint64_t record) const;
  // Waits until the stored bytes of a field are in memory and mapped.
  void Populate(uint64_t record, int field) const;

  // Where a field of a record lies in the mapping, its checksum checked as the policy says. Raw
  // fields of a fixed shape only; within a block, record after record lies side by side. The
  // memory is as long-lived as the reader, and unfenced: when the file is cut meanwhile, touching
  // it is a SIGBUS. InvalidArgument for other fields, and when the file is not mapped.
  Result<const uint8_t*> View(uint64_t record, int field) const;

  // Reads the headers of all blocks: DataLoss unless the digest is that of the shard's parts. No
  // record is read.
  Status CheckDigest() const;

  // Io when the file under this path was replaced or resized since Open(). When only its time of
  // modification is another one, it may have been written to in place, or merely touched: then all
  // that was checked at its first use is checked once more at its next.
  Status CheckUnchanged() const;

 private:
  struct Impl;
  explicit ShardReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shardmill
