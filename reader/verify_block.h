// Verifies one block of a shard: header, tables, every record, metadata, padding.
//
// Part of verify.h. One object is for one thread; it may be used for block after block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/base/mapped_file.h"
#include "reader/base/status.h"
#include "reader/block_format.h"
#include "reader/finding.h"
#include "reader/schema.h"

namespace shardmill {

// A record's key as 64 bits of hash: enough to find candidates for duplicates.
struct KeyHash {
  uint64_t hash = 0;
  uint64_t record = 0;  // in the shard
};

class BlockVerifier {
 public:
  // `schema` is null when it is lost; then records cannot be told apart and only the header and
  // the metadata are checked. All pointers must outlive the verifier.
  BlockVerifier(const MappedFile* file, const RecordSchema* schema, std::vector<Finding>* findings,
                std::vector<KeyHash>* keys)
      : file_(file), schema_(schema), findings_(findings), keys_(keys) {}

  // Adds what is wrong to the findings, and the keys of the records. Returns the checksum of the
  // header, or nothing when the header is damaged.
  std::optional<uint64_t> Verify(const BlockTableEntry& entry, const BlockIdentity& identity);

  // A page of the mapping was lost: the rest of the file cannot be expected to be there.
  bool lost_file() const { return lost_file_; }

 private:
  void Add(const std::string& message) { AddFinding(std::nullopt, "", message); }
  void AddFinding(std::optional<uint32_t> index, const std::string& field,
                  const std::string& message);
  void AddStatus(const std::string& field, const Status& status);

  void VerifyMeta();
  Status ReadMeta(std::vector<uint64_t>* bounds, std::string* heap);
  void TakeKeys(const std::vector<uint64_t>& bounds, const std::string& heap);
  void VerifyField(uint32_t field);
  Status ReadTable(uint32_t field, std::string* table);
  void VerifySizes(uint32_t field, const std::string& table, const std::vector<uint64_t>& bounds,
                   const std::vector<bool>& sound);
  Status CheckSize(const FieldSpec& spec, const std::vector<uint32_t>& dims,
                   const FileRange& stored) const;
  // Per record, whether its checksum is right.
  std::vector<bool> VerifyRecords(uint32_t field, uint64_t heap_offset,
                                  const std::vector<uint64_t>& bounds);
  Status CheckPadding(uint64_t region_offset, uint64_t region_bytes);

  const MappedFile* file_;
  const RecordSchema* schema_;
  std::vector<Finding>* findings_;
  std::vector<KeyHash>* keys_;
  bool lost_file_ = false;

  // Of the block in hand:
  BlockTableEntry entry_;
  uint32_t number_ = 0;
  BlockHeader header_;
  std::vector<std::string> record_keys_;  // empty strings where the metadata is damaged
};

}  // namespace shardmill
