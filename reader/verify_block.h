// Verifies one block of a shard: header, tables, every record, metadata, padding.
//
// Part of verify.h. One object is for one thread; it may be used for block after block, of any
// shard. Its memory does not depend on what a block says of itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/base/input_file.h"
#include "reader/base/status.h"
#include "reader/block_format.h"
#include "reader/finding.h"
#include "reader/key_hashes.h"
#include "reader/meta_walker.h"
#include "reader/schema.h"

namespace shardmill {

// What was found out about a block.
struct BlockReport {
  std::optional<uint64_t> header_checksum;  // none: the header is damaged
  bool in_place = false;                    // the header is sound and belongs there
  // Which records cannot be read: all, or those with these numbers in the block (ascending).
  bool all_lost = false;
  std::vector<uint32_t> lost;
  std::string lost_reason;  // when all are lost
  bool has_keys = false;    // the metadata can be read all the same
  // A page of the file is gone: the rest of the file cannot be expected to be there.
  bool lost_file = false;
  Status read_error;  // then
  std::vector<Finding> findings;
};

class BlockVerifier {
 public:
  // The shard that the block is in. The schema is null when it is lost; then records cannot be
  // told apart and only the header and the metadata are checked.
  struct Shard {
    const InputFile* file = nullptr;
    const RecordSchema* schema = nullptr;
  };

  // Adds the hashes of the sound keys to `keys`, which may be null.
  BlockReport Verify(const Shard& shard, const BlockTableEntry& entry,
                     const BlockIdentity& identity, KeyHashes* keys);

 private:
  void AddFinding(std::optional<uint32_t> index, const std::string& field,
                  const std::string& message);
  // A status about the block as a whole. Returns whether it was OK.
  bool Check(const std::string& field, const Status& status);
  // The same; all records of the block are lost unless it is OK.
  bool CheckOrLose(const std::string& field, const Status& status);
  void LoseRecord(uint32_t index, const std::string& field, const std::string& message);
  void GiveUpUnlisted();

  void VerifyRegions(KeyHashes* keys);
  void VerifyMeta(KeyHashes* keys);
  void VerifyField(uint32_t field);
  Status VerifyDenseRecords(uint32_t field);
  Status VerifyTable(uint32_t field);
  Status VerifyRecordsByTable(uint32_t field);
  Status CompareSums(uint32_t field, uint64_t base, uint32_t first, uint32_t count);
  Status CheckShapes(uint32_t field, uint64_t heap, uint32_t first, uint32_t count);
  Status CheckShape(const FieldSpec& spec, const std::vector<uint32_t>& dims,
                    const FileRange& stored);
  Status CheckPadding(uint64_t region_offset, uint64_t region_bytes);

  Shard shard_;
  BlockReport report_;
  BlockTableEntry entry_;
  uint32_t number_ = 0;
  uint64_t unlisted_ = 0;  // findings about single records, beyond those that are listed
  BlockHeader header_;

  MetaWalker meta_;
  std::vector<uint64_t> bounds_;
  std::vector<uint64_t> sums_;
  std::vector<uint64_t> expected_;
  std::vector<uint32_t> dims_;
  std::vector<uint8_t> start_;  // of a record's stored bytes
};

}  // namespace shardmill
