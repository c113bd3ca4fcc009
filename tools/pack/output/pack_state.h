// `.pack-state`: what the unfinished data set in a folder is made of, so that the same command
// knows which finished shards it may keep, and another one can say what differs.
//
// A text of ours beside the shards, written before the first of them and removed when the set is
// complete: the settings that decide what is stored, and key, sizes and times of change of every
// input in the order of the plan; a checksum over it all. Behind that, with a checksum of its own,
// a line for each finished shard, so that another file of its name is not taken for it. Free
// functions without state.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reader/base/checksum.h"
#include "reader/base/status.h"
#include "reader/names.h"
#include "tools/pack/pack_plan.h"

namespace shardmill {

// When the files of an input were last changed, in nanoseconds since 1970; 0 where there is none.
struct InputTimes {
  int64_t image_ns = 0, label_ns = 0;
};
inline bool operator==(const InputTimes& a, const InputTimes& b) {
  return a.image_ns == b.image_ns && a.label_ns == b.label_ns;
}

struct InputState {
  std::string key;
  uint64_t image_bytes = 0, label_bytes = 0;
  InputTimes times;
};

struct SplitState {
  std::string name;
  uint64_t problems = 0;  // inputs that are no samples
  std::vector<InputState> inputs;
};

// A shard that is finished, or is about to get its name.
struct StateShard {
  Digest digest = {};
  bool kept = false;  // it was there when the state was written
};

struct PackState {
  Digest dataset_id = {};
  // Option and value, sorted by option: the recipe, and what decides which inputs are left out.
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<SplitState> splits;
  std::map<std::string, StateShard> shards;  // by file name
};

// Looks at the files of all inputs. One that is gone has the times 0.
PackState MakePackState(const PackPlan& plan, const PackOptions& options);

// Its shards are those that are kept.
Status WritePackState(const std::string& folder, const PackState& state);
// Adds a line to the state in `folder`, before the shard gets its name. Several processes may do so
// at once. Without a state no shard can be kept: then there is nothing to do.
Status AddToPackState(const std::string& folder, const std::string& shard_file,
                      const Digest& digest);

struct StoredState {
  bool exists = false;
  // Nothing when it does not exist or is damaged: then nobody knows what shards are made of.
  std::optional<PackState> state;

  bool damaged() const { return exists && !state.has_value(); }
};
Result<StoredState> ReadPackState(const std::string& folder);

// Whether shards made under `then` may belong to the set that `now` describes.
bool SameSet(const PackState& then, const PackState& now);
// Per shard of the plan, whether a file of its inputs has changed between two states of the same
// set; how many inputs have, and the key of the first.
struct ShardChanges {
  std::vector<bool> shards;
  uint64_t inputs = 0;
  std::string first_key;
};
ShardChanges FindChanges(const PackPlan& plan, const PackState& then, const PackState& now);
// What differs between two states that are not of the same set: settings, inputs.
std::string DescribeDifference(const PackState& then, const PackState& now);

}  // namespace shardmill
