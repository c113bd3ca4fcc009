// The records of one block as they are stored, to be written to another shard unchanged.
//
// Not for concurrent use. Not for use in programs that only read: that is ShardReader.
#pragma once

#include <cstdint>

#include "reader/base/input_file.h"
#include "reader/base/status.h"
#include "reader/block_builder.h"  // EncodedRecord
#include "reader/block_format.h"
#include "reader/schema.h"

namespace shardmill {

class BlockRecords {
 public:
  // Checks the header. `file` and `schema` must outlive the object.
  static Result<BlockRecords> Open(const InputFile* file, const RecordSchema* schema,
                                   const BlockTableEntry& entry);

  uint32_t records() const { return header_.records; }
  // DataLoss unless the stored bytes of all fields have the sums that the header says. The sums of
  // tables and of the metadata are not checked: verification has done that.
  Result<EncodedRecord> Read(uint32_t index) const;
  // The serialised metadata alone.
  Result<std::string> ReadMeta(uint32_t index) const;

 private:
  BlockRecords(const InputFile* file, const RecordSchema* schema, uint64_t offset,
               BlockHeader header)
      : file_(file), schema_(schema), offset_(offset), header_(std::move(header)) {}
  Result<FileRange> StoredRange(uint32_t field, uint32_t index) const;
  Result<EncodedField> ReadField(uint32_t field, uint32_t index) const;

  const InputFile* file_;
  const RecordSchema* schema_;
  uint64_t offset_;  // of the block in the file
  BlockHeader header_;
};

}  // namespace shardmill
