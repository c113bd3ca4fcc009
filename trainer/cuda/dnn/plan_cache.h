// Plans that were made before, kept in a file: what cuDNN recommends costs up to seconds per
// shape, reading it back a tenth of a millisecond.
//
// An entry is known by the device, the version of the library and the problem, so that one file
// may serve several machines. The file is checksummed and written atomically; it is no source of
// truth: one that is damaged, of another version or not there counts as empty, and one that was
// never a file of plans is refused, for it would be lost. Not for concurrent use, but several
// processes may use one file: each adds its plans to what the others have saved.
//
// File, numbers little-endian: "SMILLPLN", u32 version, u32 number of entries; per entry the texts
// device, library, problem, json, each as u32 length and bytes, and a u64 of workspace bytes; at
// the end XXH3-64 of all before.
#pragma once

#include <cstdint>
#include <map>
#include <set>
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
  // `note` receives why the plans of the file at `path` were not taken, if so; a file that is
  // missing or empty is no reason. InvalidArgument when it is a file of another kind.
  static Result<PlanCache> Open(const std::string& path, std::string* note);

  const CachedPlan* Find(const PlanKey& key) const;  // null: not there
  // Entries for the same device and other versions of the library go.
  void Put(const PlanKey& key, CachedPlan plan);
  // The entry goes, from the file too.
  void Drop(const PlanKey& key);
  int64_t size() const { return static_cast<int64_t>(plans_.size()); }

  // Writes the file if anything was put or dropped since it was opened or saved, together with what
  // other processes have saved there meanwhile. Where that fails once it is not tried again: a lock
  // that another process keeps would hold up each convolution, and nothing but time is lost.
  Status Save();

 private:
  using Plans = std::map<PlanKey, CachedPlan>;
  static Status Decode(const std::string& file, Plans* plans);
  Status Merge();
  Status Write();
  std::string Encode() const;

  std::string path_;
  Plans plans_;
  std::set<PlanKey> dropped_;
  bool changed_ = false;
  bool is_given_up_ = false;
};

}  // namespace shardmill
