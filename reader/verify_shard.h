// Verifies one shard file, going on after damage as far as the rest can still be found.
//
// Part of verify.h. Open() and Finish() are for one thread; between them VerifyBlock() may be
// called from several threads at once, for different blocks.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/input_file.h"
#include "reader/finding.h"
#include "reader/key_hashes.h"
#include "reader/schema.h"
#include "reader/shard_parts.h"
#include "reader/verify_block.h"

namespace shardmill {

// A block that was found, and which of its records cannot be read.
struct BlockOutcome {
  BlockTableEntry entry;
  bool in_place = false;
  bool all_lost = false;
  std::vector<uint32_t> lost;  // numbers in the block, ascending
};

struct ShardReport {
  ShardReport();
  ~ShardReport();
  ShardReport(ShardReport&&) noexcept;
  ShardReport& operator=(ShardReport&&) noexcept;

  std::string path;
  bool opened = false;
  uint64_t records = 0;  // of the blocks that were found
  uint64_t bytes = 0;    // of the file
  std::vector<BlockOutcome> blocks;
  std::vector<Finding> findings;
  // Each part that is sound; whether all are, and agree with each other.
  std::unique_ptr<ShardParts> parts;
  bool has_superblock = false;
  bool has_schema = false;
  bool parts_are_sound = false;
  // All parts and block headers are sound and in place, but are not those of the digest.
  bool has_foreign_part = false;
};

class ShardVerifier {
 public:
  ShardVerifier(const std::string& path, FileAccess access);

  // Checks what the shard says of itself as a whole, and finds its blocks. `fallback_schema` (may
  // be null, must outlive the object) stands in when the shard's own is lost.
  void Open(const RecordSchema* fallback_schema);

  uint32_t block_count() const { return static_cast<uint32_t>(blocks_.size()); }
  const BlockTableEntry& block(uint32_t index) const { return blocks_[index]; }
  uint64_t file_bytes() const { return report_.bytes; }
  // The next blocks [first, end) will be verified soon; those behind them later.
  void Populate(uint32_t first, uint32_t end) const;
  // Does nothing once the file was found to be gone.
  void VerifyBlock(uint32_t index, BlockVerifier* verifier, KeyHashes* keys);

  // When all blocks have been verified. Closes the file.
  ShardReport Finish();

 private:
  bool Check(const Status& status);
  void CheckParts();
  void FindBlocks();
  void WalkBlocks();
  void CheckDigest();
  BlockIdentity Identity(uint32_t block) const;

  const std::string path_;
  const FileAccess access_;
  std::unique_ptr<InputFile> file_;
  const RecordSchema* schema_ = nullptr;
  ShardReport report_;
  bool has_postscript_ = false;
  bool has_footer_ = false;
  bool agree_ = false;
  std::vector<BlockTableEntry> blocks_;
  std::vector<BlockReport> outcomes_;
  std::atomic<bool> lost_file_{false};
};

}  // namespace shardmill
