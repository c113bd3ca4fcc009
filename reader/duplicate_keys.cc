#include "reader/duplicate_keys.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "proto/manifest.pb.h"
#include "proto/schema.pb.h"
#include "reader/base/checksum.h"
#include "reader/base/input_file.h"
#include "reader/meta_walker.h"

namespace shardmill {
namespace {

uint64_t HashOf(std::string_view key) { return Checksum64(key.data(), key.size()); }

// take(shard, record, key) for each record that has a key, in order.
template <typename Take>
Status ForEachKey(const std::vector<ShardReport>& shards, const VerifyOptions& options, Take take) {
  MetaWalker walker;
  for (size_t s = 0; s < shards.size(); ++s) {
    if (!shards[s].opened) continue;
    const auto file = InputFile::Open(shards[s].path, options.access);
    if (!file.ok()) continue;  // it is gone since it was verified
    for (const BlockOutcome& block : shards[s].blocks) {
      if (options.cancelled && options.cancelled()) {
        return CancelledError("verification was cancelled");
      }
      const auto header = ReadBlockHeader(**file, block.entry.offset, block.entry.bytes);
      if (!header.ok()) continue;
      const Status damaged =
          walker.Walk(**file, block.entry.offset, *header,
                      [&](uint32_t first, const std::vector<std::string_view>& keys) {
                        for (size_t i = 0; i < keys.size(); ++i) {
                          if (!keys[i].empty())
                            take(s, block.entry.first_record + first + i, keys[i]);
                        }
                      });
      if (!damaged.ok()) continue;  // said already
    }
  }
  return OkStatus();
}

struct Occurrence {
  uint64_t hash = 0;
  std::string key;
  size_t shard = 0;
  uint64_t record = 0;

  bool operator<(const Occurrence& other) const {
    return std::tie(hash, key, shard, record) <
           std::tie(other.hash, other.key, other.shard, other.record);
  }
};

// The records whose hash is one of `repeated` and whose key is that of an earlier one.
Status AddDuplicates(const std::vector<ShardReport>& shards, const VerifyOptions& options,
                     const std::vector<uint64_t>& repeated, std::vector<DuplicateKey>* found) {
  if (repeated.empty()) return OkStatus();
  std::vector<Occurrence> all;
  RETURN_IF_ERROR(
      ForEachKey(shards, options, [&](size_t shard, uint64_t record, std::string_view key) {
        const uint64_t hash = HashOf(key);
        if (!std::binary_search(repeated.begin(), repeated.end(), hash)) return;
        all.push_back({hash, std::string(key), shard, record});
      }));
  std::sort(all.begin(), all.end());
  for (size_t i = 1, first = 0; i < all.size(); ++i) {
    if (all[i].key != all[first].key) {
      first = i;
      continue;
    }
    found->push_back(
        {std::move(all[i].key), all[i].shard, all[i].record, all[first].shard, all[first].record});
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<DuplicateKey>> FindDuplicateKeys(
    const std::vector<ShardReport>& shards, const VerifyOptions& options,
    std::vector<std::unique_ptr<KeyHashes>> gathered) {
  std::vector<DuplicateKey> found;
  uint32_t end = gathered.empty() ? HashRange::kParts : gathered.front()->range().end();
  RETURN_IF_ERROR(AddDuplicates(shards, options, RepeatedHashes(gathered), &found));
  gathered.clear();
  while (end < HashRange::kParts) {
    HashRange range(end, options.max_keys_in_memory);
    std::vector<std::unique_ptr<KeyHashes>> more;
    more.push_back(std::make_unique<KeyHashes>(&range));
    RETURN_IF_ERROR(ForEachKey(shards, options, [&](size_t, uint64_t, std::string_view key) {
      more.front()->Add(HashOf(key));
    }));
    RETURN_IF_ERROR(AddDuplicates(shards, options, RepeatedHashes(more), &found));
    end = range.end();
  }
  std::sort(found.begin(), found.end(), [](const DuplicateKey& a, const DuplicateKey& b) {
    return std::tie(a.shard, a.record) < std::tie(b.shard, b.record);
  });
  return found;
}

Finding DuplicateKeyFinding(const DuplicateKey& duplicate, const std::vector<ShardReport>& shards) {
  const ShardReport& shard = shards[duplicate.shard];
  Finding finding;
  finding.file = shard.path;
  finding.record = duplicate.record;
  const auto behind = std::upper_bound(
      shard.blocks.begin(), shard.blocks.end(), duplicate.record,
      [](uint64_t record, const BlockOutcome& block) { return record < block.entry.first_record; });
  finding.block = static_cast<uint32_t>(behind - shard.blocks.begin() - 1);
  finding.key = duplicate.key;
  finding.message = "the key is also that of record " + std::to_string(duplicate.first_record) +
                    " of " + shards[duplicate.first_shard].path;
  return finding;
}

}  // namespace shardmill
