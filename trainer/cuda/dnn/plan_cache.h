// Plans that were made before, kept in a file: what cuDNN recommends costs up to seconds per
// shape, reading it back a tenth of a millisecond.
//
// An entry is known by the device, the version of the library and the problem, so that one file
// may serve several machines. The file is checksummed and written atomically; it is no source of
// truth: a file that is damaged, foreign or not there counts as empty. Not for concurrent use;
// of several processes that save the last one wins.
//
// File, numbers little-endian: "SMILLPLN", u32 version, u32 number of entries; per entry the texts
// device, library, problem, json, each as u32 length and bytes, and a u64 of workspace bytes; at
// the end XXH3-64 of all before.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "reader/base/status.h"

namespace shardmill {

struct PlanKey {
  std::string device;   // DeviceDescription::name()
  std::string library;  // "cuDNN 9.19.0"
  std::string problem;  // ProblemText

  bool operator<(const PlanKey& other) const;
};

struct CachedPlan {
  std::string json;  // empty: there is no plan for this problem
  int64_t workspace_bytes = 0;
};

class PlanCache {
 public:
  // In memory only.
  PlanCache() = default;
  // `note` receives why the file at `path` was not taken, if so; a missing file is no reason.
  static PlanCache Open(const std::string& path, std::string* note);

  const CachedPlan* Find(const PlanKey& key) const;  // null: not there
  // Entries for the same device and other versions of the library go.
  void Put(const PlanKey& key, CachedPlan plan);
  int64_t size() const { return static_cast<int64_t>(plans_.size()); }

  // Writes the file if anything was put since it was opened or saved.
  Status Save();

 private:
  Status Decode(const std::string& file);

  std::string path_;
  std::map<PlanKey, CachedPlan> plans_;
  bool changed_ = false;
};

}  // namespace shardmill
