// Makes small shards with known content for tests, and damages them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"
#include "reader/shard_reader.h"
#include "reader/shard_writer.h"

namespace shardmill::testing_shards {

// A folder under the test's temporary folder, emptied.
std::string EmptyFolder(const std::string& name);

// image u8 [4,6,3] raw, label u8 [4,6] zstd index of 3 classes with ignore 255.
RecordSchema ImageAndLabel();
// Every dtype, raw and zstd, fixed and with one or more variable dimensions.
RecordSchema AllKindsOfFields();

// What record `record` of shard `shard` holds: the same on every call.
std::vector<uint32_t> DimsOf(const FieldSpec& spec, uint32_t shard, uint64_t record);
std::vector<uint8_t> TensorOf(const FieldSpec& spec, uint32_t shard, uint64_t record);
std::string KeyOf(const std::string& split, uint32_t shard, uint64_t record);

ShardPlan PlanOf(const std::string& split, uint32_t shard, uint32_t shards,
                 uint32_t records_per_block);
EncodedRecord EncodeTestRecord(const RecordSchema& schema, const ShardPlan& plan, uint64_t record);
Result<ShardResult> WriteTestShard(const std::string& folder, const ShardPlan& plan,
                                   const RecordSchema& schema, uint64_t records);

// ImageAndLabel in train (3 shards of 5, 6 and 7 records) and val (1 of 4), with manifest.json.
void WriteTestDataset(const std::string& folder);

// Reads every field and the metadata of every record; the first error, or Internal when
// something read well but is not what WriteTestShard wrote.
Status ReadEverything(const ShardReader& reader);

std::string ReadBytes(const std::string& path);
void WriteBytes(const std::string& path, const std::string& bytes);

// Makes the checksums of a shard right again after a change to its bytes, so that the checks
// behind them are reached. `block_offset` is that of the changed block.
void ResealSuperblock(std::string* shard);
void ResealSchema(std::string* shard);  // and the superblock
void ResealBlock(uint64_t block_offset, std::string* shard);
void ResealFooter(std::string* shard);  // and the postscript
void ResealPostscript(std::string* shard);
// The digest in the postscript, over blocks at these offsets; and the postscript. After this only
// the meaning of the bytes can still give the change away.
void ResealDigest(const std::vector<uint64_t>& block_offsets, std::string* shard);

void SetU32(uint64_t offset, uint32_t value, std::string* bytes);
void SetU64(uint64_t offset, uint64_t value, std::string* bytes);
uint64_t GetU64(uint64_t offset, const std::string& bytes);

}  // namespace shardmill::testing_shards
