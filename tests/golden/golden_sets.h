// The golden data sets: small shards, one set per group of features, that every reader must read
// for ever. The files lie in this folder, their digests in proto/FORMAT.md.
//
// This library knows what is in them, value by value, and can write them again. It is for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"
#include "reader/shard_writer.h"

namespace shardmill {

struct GoldenField {
  std::vector<uint32_t> variable_dims;
  std::vector<uint8_t> tensor;  // what is encoded; of JPEG fields readers get another one
  std::string stored;           // a file that is stored as it is; empty: `tensor` is encoded
};

struct GoldenRecord {
  std::string key;
  int32_t crop_y = 0, crop_x = 0;  // of a source of 40 × 60
  std::vector<GoldenField> fields;
};

struct GoldenShard {
  uint64_t end_input = 0;  // the plan range begins where that of the shard before ends
  std::vector<GoldenRecord> records;
  std::vector<std::string> skipped;  // keys
};

struct GoldenSet {
  std::string name;  // of its folder
  uint32_t records_per_block = 2;
  bool uses_zstd = false, uses_jpeg = false;  // the bytes depend on the version of the library
  RecordSchema schema;
  std::vector<GoldenShard> shards;  // of split train
};

std::vector<GoldenSet> GoldenSets();
// CHECKs that there is one of this name.
GoldenSet GoldenSetNamed(const std::string& name);

// Writes shards and manifest.json into the folder, which exists.
Status WriteGoldenSet(const GoldenSet& set, const std::string& folder);
std::string GoldenShardName(const GoldenSet& set, size_t shard);

// The versions of the libraries that made the files in this folder.
bool SameZstdAsGolden();
bool SameJpegAsGolden();

}  // namespace shardmill
