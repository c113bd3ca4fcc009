// `shardmill verify --salvage OUT`: copies all sound records of a damaged data set into a new one.
//
// Shard k of a split of the new set holds what could be saved of shard k of the old one, in order
// and bit for bit; a shard that is lost becomes an empty one. A record is saved when all its
// fields and its metadata are sound, its block is in its place, and no earlier sound record has
// its key. So the new set is always one that verification finds intact. Works without a manifest,
// with one that is damaged or of another set, and with shards whose superblock, schema, footer or
// end is lost, as long as one shard or the manifest still has the schema. The id of the set does
// not tell which packing a shard is of, so that nothing is taken of one that had another schema,
// of which superblock and schema are lost and nothing else proves the schema, or that has a part
// of another; and one whose digest is not that of the manifest is told as a loss, as is what may be
// of another packing because too much is lost to compare the digest. Without a
// manifest that can be used nobody knows of what is missing altogether, which is a loss like
// others. Of several files that say that they are the same shard, the one is taken of which most
// can be saved; where they certainly are copies of it, each part is taken from the one in which it
// is sound. The statistics of a shard that lost records are counted again; which inputs were left
// out is taken from the manifest where the footer is lost. The data set id stays when there is a
// manifest and nothing was lost; else it is the XXH3-128 of the old one and of what was saved (see
// FORMAT.md). Memory: that of verification, and one block for each thread. What an earlier salvage
// to the same folder left when it was killed is removed first.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reader/base/checksum.h"
#include "reader/base/input_file.h"
#include "reader/base/status.h"

namespace shardmill {

struct SalvageOptions {
  int threads = 1;
  FileAccess access = FileAccess::kMapped;
  std::function<void(uint64_t done, uint64_t total)> progress;  // see VerifyOptions
  std::function<bool()> cancelled;
};

// One record, or several in a row, that could not be saved; or a fact about the shard (0 records).
struct Loss {
  std::string file;                 // of the shard
  std::optional<uint32_t> block;    // none: not known
  std::optional<uint64_t> record;   // the first; from the start of the shard
  std::optional<uint64_t> records;  // how many; none: not known
  std::string key;                  // of a single record, where it can still be read
  std::string reason;
};

struct SalvageReport {
  uint64_t shards = 0;
  uint64_t records = 0;           // saved
  uint64_t bytes = 0;             // written
  uint64_t unproven_records = 0;  // of these: that they are those that were packed is not proven
  uint64_t lost_records = 0;      // as far as their number is known
  bool lost_uncounted = false;    // there are losses of unknown number
  // Without one nobody knows whether there were more shards.
  bool has_manifest = false;
  Digest source_id = {};
  Digest dataset_id = {};            // of the new set
  std::vector<Loss> losses;          // of the set, then by shard, block and record
  std::vector<std::string> remarks;  // what is left aside, removed, or put together
};

// `path` is the folder of the damaged set, or its manifest. InvalidArgument when `out` exists, or
// another salvage is at work on it. OUT appears under its name when it is complete, or not at all.
Result<SalvageReport> Salvage(const std::string& path, const std::string& out,
                              const SalvageOptions& options);

}  // namespace shardmill
