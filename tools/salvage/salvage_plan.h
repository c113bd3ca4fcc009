// What is there to be saved: the shards of a damaged data set, and what is known of the set
// although manifest, superblocks or schemas may be lost. Part of salvage.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reader/base/checksum.h"
#include "reader/base/input_file.h"
#include "reader/base/status.h"
#include "reader/schema.h"
#include "tools/salvage/salvage.h"

namespace shardmill {

namespace proto {
class Manifest;
}  // namespace proto

// A shard of the set; nothing may be left of it.
struct SalvageShard {
  std::string FileName() const;

  std::string split;
  uint32_t number = 0;
  uint32_t count = 1;
  // Paths of the files that say that they are the shard, or that have its name and say nothing any
  // more; none: the file is missing.
  std::vector<std::string> sources;
  std::optional<uint64_t> expected;  // records, as the manifest says
  std::optional<Digest> digest;      // as the manifest says
  std::string newer;  // why this version of the program cannot read it; empty: it can
};

struct SalvagePlan {
  SalvagePlan();
  ~SalvagePlan();
  SalvagePlan(SalvagePlan&&) noexcept;
  SalvagePlan& operator=(SalvagePlan&&) noexcept;

  std::string folder;
  Digest dataset_id = {};
  std::unique_ptr<proto::Manifest> manifest;           // null: there is none that can be used
  std::unique_ptr<proto::ShardSchema> schema_message;  // of most shards; its split means nothing
  RecordSchema schema;
  uint32_t records_per_block = 0;    // of any sound shard; 0: none says it
  std::vector<SalvageShard> shards;  // split by split
  std::vector<Loss> losses;          // of the set as a whole
  std::vector<std::string> remarks;  // files that are left aside, and why
};

// NotFound when there is no shard; DataLoss when nothing says any more what a record consists of;
// InvalidArgument when all shards need a newer version; Io when a file is there but cannot be read.
Result<SalvagePlan> MakeSalvagePlan(const std::string& folder, FileAccess access);

}  // namespace shardmill
