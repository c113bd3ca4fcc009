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

using Place = DuplicateKey::Place;

auto Order(const Place& place) { return std::tie(place.shard, place.block, place.index); }

// take(place, key) for each record that has a key, in order.
template <typename Take>
Status ForEachKey(const std::vector<ShardReport>& shards, const VerifyOptions& options, Take take) {
  MetaWalker walker;
  for (size_t s = 0; s < shards.size(); ++s) {
    if (!shards[s].opened) continue;
    const auto file = InputFile::Open(shards[s].path, options.access);
    if (!file.ok()) continue;  // it is gone since it was verified
    for (size_t b = 0; b < shards[s].blocks.size(); ++b) {
      if (options.cancelled && options.cancelled()) {
        return CancelledError("verification was cancelled");
      }
      const BlockTableEntry& entry = shards[s].blocks[b].entry;
      const auto header = ReadBlockHeader(**file, entry.offset, entry.bytes);
      if (!header.ok()) continue;  // said already, as is what the walk meets
      (void)walker
          .Walk(**file, entry.offset, *header,
                [&](uint32_t first, const std::vector<std::string_view>& keys) {
                  for (uint32_t i = 0; i < keys.size(); ++i) {
                    if (!keys[i].empty()) take(Place{s, b, first + i}, keys[i]);
                  }
                })
          .ok();
    }
  }
  return OkStatus();
}

struct Occurrence {
  uint64_t hash = 0;
  std::string key;
  Place place;

  bool operator<(const Occurrence& other) const {
    if (hash != other.hash) return hash < other.hash;
    return key != other.key ? key < other.key : Order(place) < Order(other.place);
  }
};

// The records whose hash is one of `repeated` and whose key is that of an earlier one.
Status AddDuplicates(const std::vector<ShardReport>& shards, const VerifyOptions& options,
                     const std::vector<uint64_t>& repeated, std::vector<DuplicateKey>* found) {
  if (repeated.empty()) return OkStatus();
  std::vector<Occurrence> all;
  RETURN_IF_ERROR(ForEachKey(shards, options, [&](const Place& place, std::string_view key) {
    const uint64_t hash = HashOf(key);
    if (!std::binary_search(repeated.begin(), repeated.end(), hash)) return;
    all.push_back({hash, std::string(key), place});
  }));
  std::sort(all.begin(), all.end());
  for (size_t i = 1, first = 0; i < all.size(); ++i) {
    if (all[i].key != all[first].key) {
      first = i;
    } else {
      found->push_back({all[i].key, all[i].place, all[first].place});
    }
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
    RETURN_IF_ERROR(ForEachKey(shards, options, [&](const Place&, std::string_view key) {
      more.front()->Add(HashOf(key));
    }));
    RETURN_IF_ERROR(AddDuplicates(shards, options, RepeatedHashes(more), &found));
    end = range.end();
  }
  std::sort(found.begin(), found.end(), [](const DuplicateKey& a, const DuplicateKey& b) {
    return Order(a.place) < Order(b.place);
  });
  return found;
}

Finding DuplicateKeyFinding(const DuplicateKey& duplicate, const std::vector<ShardReport>& shards) {
  const auto record_of = [&](const Place& place) {
    return shards[place.shard].blocks[place.block].entry.first_record + place.index;
  };
  const ShardReport& shard = shards[duplicate.place.shard];
  Finding finding;
  finding.file = shard.path;
  finding.block = shard.blocks[duplicate.place.block].number;
  finding.record = record_of(duplicate.place);
  finding.key = duplicate.key;
  finding.message = "the key is also that of record " + std::to_string(record_of(duplicate.first)) +
                    " of " + shards[duplicate.first.shard].path;
  return finding;
}

}  // namespace shardmill
