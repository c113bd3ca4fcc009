// Proves that a data set, or one shard, is intact: the library behind `shardmill verify`.
//
// Checks every byte: all checksums, zero padding, counts, offsets, the block table, superblock
// against postscript against manifest, statistics and skipped inputs of the manifest against the
// shards, keys that occur twice. Damage does not stop it: all that can be found is listed. It
// finds damage, not malice, and does not decode coded records beyond their stated size.
//
// The checksums are computed on the mapping, inside fences: a shard that is cut while it is being
// verified is a finding, not a signal.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/finding.h"

namespace shardmill {

struct VerifyOptions {
  int threads = 1;  // shards are divided among them
  // Bytes done and bytes in all, after each block. Called from any thread, one call at a time.
  std::function<void(uint64_t done, uint64_t total)> progress;
  // Asked after each block, from any thread; true ends the work with Cancelled.
  std::function<bool()> cancelled;
};

struct VerifyReport {
  uint64_t shards = 0;
  uint64_t blocks = 0;
  uint64_t records = 0;           // of the blocks that could be found
  uint64_t bytes = 0;             // of all shard files
  std::vector<Finding> findings;  // by file, block and record

  bool sound() const { return findings.empty(); }
};

// `path` is a data set's folder, its manifest.json, or one shard file. Damage is no error: an
// error status means that there is nothing to verify (NotFound) or that it was Cancelled.
Result<VerifyReport> Verify(const std::string& path, const VerifyOptions& options);

}  // namespace shardmill
