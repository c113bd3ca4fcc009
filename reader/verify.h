// Proves that a data set, or one shard, is intact: the library behind `shardmill verify`.
//
// Checks every byte: all checksums, zero padding, counts, offsets, the block table, superblock
// against postscript against manifest, statistics and skipped inputs of the manifest against the
// shards, keys that occur twice. Damage does not stop it: all that can be found is listed. It
// finds damage, not malice, and does not decode coded records beyond their stated size.
//
// The checksums are computed on the mapping, inside fences (or with pread, see FileAccess): a shard
// that is cut while it is being verified is a finding, not a signal.
// Memory: 8 bytes per record for its key, bounded by max_keys_in_memory, and what the findings
// take; of one block at most 100,000 damaged records are listed. It does not depend on what the
// files say of themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reader/base/input_file.h"
#include "reader/base/status.h"
#include "reader/finding.h"

namespace shardmill {

struct VerifyOptions {
  // Shards and the blocks of a shard are divided among them; the report does not depend on it.
  int threads = 1;
  FileAccess access = FileAccess::kMapped;
  // Hashes of keys that are held at once, 8 bytes each. A larger data set is searched for keys that
  // occur twice in several passes over the metadata.
  uint64_t max_keys_in_memory = uint64_t{64} << 20;
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
  // No damage was found, but there are shards of a newer version, of which nothing is known.
  bool needs_newer_reader() const;
};

// `path` is a data set's folder, its manifest.json, or one shard file. Damage is no error: an
// error status means that there is nothing to verify (NotFound), that a file cannot be read
// although it is there, memory ran out, or another set took the place of this one meanwhile (Io),
// or that it was Cancelled.
Result<VerifyReport> Verify(const std::string& path, const VerifyOptions& options);

}  // namespace shardmill
