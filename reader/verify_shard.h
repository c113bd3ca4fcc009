// Verifies one shard file, going on after damage as far as the rest can still be found.
//
// Part of verify.h. Open() and Finish() are for one thread; between them VerifyBlock() may be
// called from several threads at once, for different blocks.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "reader/base/input_file.h"
#include "reader/base/status.h"
#include "reader/finding.h"
#include "reader/key_hashes.h"
#include "reader/schema.h"
#include "reader/shard_parts.h"
#include "reader/verify_block.h"

namespace shardmill {

namespace proto {
class ShardSchema;
}  // namespace proto

// A block that was found, and which of its records cannot be read.
struct BlockOutcome {
  BlockTableEntry entry;
  uint32_t number = 0;
  std::optional<uint64_t> header_checksum;  // none: the header is damaged
  bool in_place = false;                    // the header is sound and belongs there
  bool all_lost = false;
  std::string lost_reason;
  bool has_keys = false;       // the metadata is sound
  std::vector<uint32_t> lost;  // numbers in the block, ascending
};

// What is known of a shard from elsewhere, in case that it does not say it itself any more.
struct ShardFallback {
  const RecordSchema* schema = nullptr;
  std::optional<Digest> dataset_id;
  // The same schema as the shards of the set carry it, of any split. Without one nothing tells
  // whether a shard that lost its schema had this one.
  const proto::ShardSchema* schema_message = nullptr;
};

struct ShardReport {
  ShardReport();
  ~ShardReport();
  ShardReport(ShardReport&&) noexcept;
  ShardReport& operator=(ShardReport&&) noexcept;

  std::string path;
  bool opened = false;
  // Its superblock or schema is sound, but not of this version of the format: nothing of it was
  // looked at. One finding says so.
  bool needs_newer_reader = false;
  uint64_t records = 0;  // of the blocks that were found
  uint64_t bytes = 0;    // of the file
  std::vector<BlockOutcome> blocks;
  std::vector<Finding> findings;
  // Each part that is sound; whether all are, and agree with each other.
  std::unique_ptr<ShardParts> parts;
  bool has_superblock = false;
  bool has_schema = false;
  bool has_footer = false;
  bool has_postscript = false;
  // Its own schema, or the sum of it in the superblock, is not that of the fallback.
  bool has_other_schema = false;
  // Schema and superblock are lost: the fallback's schema was used, but nothing proves that it is
  // that of the shard.
  bool schema_is_assumed = false;
  // Superblock and footer are sound, and agree with each other and with a sound postscript.
  bool parts_agree = false;
  bool parts_are_sound = false;
  // As the postscript says; without one, that of all parts and block headers, when they are sound.
  std::optional<Digest> digest;
  // All parts and block headers are sound and in place, and are those of the digest in the
  // postscript, or are not. The schema counts by its sum in the superblock.
  bool has_its_digest = false;
  bool has_foreign_part = false;
  // The digest of the sums of all parts and block headers, where those of damaged ones are taken as
  // they stand. If it is the digest of the shard, all that is sound is the shard's own, whatever
  // is lost. None: a sum is gone.
  std::optional<Digest> digest_of_sums;
};

class ShardVerifier {
 public:
  ShardVerifier(const std::string& path, FileAccess access);

  // Checks what the shard says of itself as a whole, and finds its blocks. The fallback's schema
  // must outlive the object. It stands in for one that is lost, unless the superblock says that
  // the shard had another.
  void Open(const ShardFallback& fallback);

  uint32_t block_count() const { return static_cast<uint32_t>(blocks_.size()); }
  const BlockTableEntry& block(uint32_t index) const { return blocks_[index]; }
  uint64_t file_bytes() const { return report_.bytes; }
  // The next blocks [first, end) will be verified soon; those behind them later.
  void Populate(uint32_t first, uint32_t end) const;
  // Does nothing once the file was found to be gone.
  void VerifyBlock(uint32_t index, BlockVerifier* verifier, KeyHashes* keys);

  // Not OK when the file is there and whole but could not be opened or read: a failure of the
  // machine, of which nothing follows about the shard. Ask when all blocks have been verified.
  const Status& failure() const { return failure_; }

  // When all blocks have been verified. Closes the file.
  ShardReport Finish();

 private:
  bool Check(const Status& status);
  bool IsFailure(const Status& status) const;
  bool IsForNewerReader(const Status& status);
  void CheckParts();
  void FindBlocks();
  void SearchBlocks();
  void FindIdentity(const ShardFallback& fallback);
  void CompareSchema(const ShardFallback& fallback);
  void CheckDigest();
  std::optional<uint64_t> SumAt(uint64_t offset) const;
  std::optional<Digest> DigestOfSums() const;

  const std::string path_;
  const FileAccess access_;
  std::unique_ptr<InputFile> file_;
  const RecordSchema* schema_ = nullptr;
  ShardReport report_;
  std::optional<BlockIdentity> identity_;  // of the shard, as far as anything says it
  std::optional<uint64_t> schema_sum_;     // where no superblock says it, but the schema is sound
  std::vector<BlockTableEntry> blocks_;
  std::vector<uint32_t> numbers_;  // of the blocks; they have gaps where some could not be found
  std::vector<BlockReport> outcomes_;
  std::atomic<bool> lost_file_{false};
  std::mutex failure_mutex_;
  Status failure_;
};

}  // namespace shardmill
