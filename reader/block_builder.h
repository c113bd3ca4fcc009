// Gathers the encoded records of one block and writes them to a file.
//
// Used by the shard writer; not for concurrent use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/file.h"
#include "reader/base/status.h"
#include "reader/block_format.h"
#include "reader/codec.h"
#include "reader/schema.h"

namespace shardmill {

// One record, ready to be stored: fields in schema order.
struct EncodedRecord {
  std::vector<EncodedField> fields;
  std::string meta;  // serialised proto::RecordMeta
};

class BlockBuilder {
 public:
  // `schema` must outlive the builder.
  explicit BlockBuilder(const RecordSchema* schema) : schema_(schema) {}

  // InvalidArgument when the record does not fit the schema.
  Status Add(EncodedRecord record);
  uint32_t records() const { return static_cast<uint32_t>(records_.size()); }

  // Appends the block to `file` and forgets its records. `identity` gives data set, shard, block
  // number and first record; the result is the header as it was written.
  Result<BlockHeader> Write(const BlockHeader& identity, AtomicFile* file);

 private:
  std::string RegionTable(size_t field) const;
  std::string MetaTable() const;
  BlockHeader MakeHeader(const BlockHeader& identity, const std::vector<std::string>& tables,
                         const std::string& meta) const;
  std::vector<uint64_t> RecordChecksums() const;
  Status WriteField(size_t field, AtomicFile* file) const;

  const RecordSchema* schema_;
  std::vector<EncodedRecord> records_;
};

}  // namespace shardmill
