#include "reader/duplicate_keys.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "proto/record_meta.pb.h"
#include "reader/shard_reader.h"

namespace shardmill {
namespace {

struct Place {
  uint64_t hash = 0;
  uint64_t shard = 0;
  uint64_t record = 0;

  bool operator<(const Place& other) const {
    return std::tie(hash, shard, record) < std::tie(other.hash, other.shard, other.record);
  }
};

std::vector<Place> TakePlaces(std::vector<ShardReport>* shards) {
  std::vector<Place> places;
  size_t total = 0;
  for (const ShardReport& shard : *shards) total += shard.keys.size();
  places.reserve(total);
  for (size_t s = 0; s < shards->size(); ++s) {
    for (const KeyHash& key : (*shards)[s].keys) places.push_back({key.hash, s, key.record});
    std::vector<KeyHash>().swap((*shards)[s].keys);
  }
  std::sort(places.begin(), places.end());
  return places;
}

// Reads keys again, for the few records that need it.
class KeyReader {
 public:
  explicit KeyReader(const std::vector<ShardReport>* shards) : shards_(shards) {}

  // Nothing when the shard cannot be opened: then the hashes alone must do.
  std::optional<std::string> Key(const Place& place) {
    auto [entry, is_new] = readers_.try_emplace(place.shard);
    if (is_new) {
      auto opened = ShardReader::Open((*shards_)[place.shard].path, ChecksumPolicy::kOff);
      if (opened.ok()) entry->second = std::move(opened).value();
    }
    if (entry->second == nullptr) return std::nullopt;
    const Result<proto::RecordMeta> meta = entry->second->ReadMeta(place.record);
    if (!meta.ok()) return std::nullopt;
    return meta->key();
  }

 private:
  const std::vector<ShardReport>* shards_;
  std::map<uint64_t, std::unique_ptr<ShardReader>> readers_;
};

}  // namespace

void AddDuplicateKeys(std::vector<ShardReport>* shards) {
  const std::vector<Place> places = TakePlaces(shards);
  KeyReader reader(shards);
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i].hash != places[i - 1].hash) continue;
    const std::optional<std::string> earlier = reader.Key(places[i - 1]);
    const std::optional<std::string> later = reader.Key(places[i]);
    if (earlier && later && *earlier != *later) continue;  // only their hashes are the same
    ShardReport& shard = (*shards)[places[i].shard];
    Finding finding;
    finding.file = shard.path;
    finding.record = places[i].record;
    finding.key = later.value_or("");
    finding.message = "the key is also that of record " + std::to_string(places[i - 1].record) +
                      " of " + (*shards)[places[i - 1].shard].path;
    shard.findings.push_back(std::move(finding));
  }
}

}  // namespace shardmill
