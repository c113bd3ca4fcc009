// Unites damaged copies of one shard, so that each record is taken from the copy in which it is
// sound. Part of salvage.h.
//
// The mended shards lie in a folder of their own for as long as they are needed; each takes the
// room of one shard. Not for concurrent use.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reader/base/input_file.h"
#include "reader/base/status.h"
#include "reader/schema.h"
#include "reader/verify_run.h"
#include "reader/verify_shard.h"
#include "tools/salvage/salvage.h"
#include "tools/salvage/salvage_plan.h"

namespace shardmill {

// The folder of the mended shards, in that of the new set.
inline constexpr char kMendedName[] = ".mended";

struct MendedShard {
  ShardReport report;
  std::vector<std::unique_ptr<KeyHashes>> keys;
  std::vector<size_t> used;  // the copies besides the best one
};

class MendedCopies {
 public:
  using VerifyFiles = std::function<Result<VerifyRun>(const std::vector<std::string>& paths)>;

  explicit MendedCopies(std::string folder) : folder_(std::move(folder)) {}

  // Nothing when files[best] is sound, when no other file certainly is a copy of the same shard, or
  // when they add nothing to it. Files that have no part in common are copies of one shard when
  // together they have the digest that one of them or the manifest says. Nothing is taken from
  // files of another schema or recipe, nor a result that would be refused itself.
  Result<std::optional<MendedShard>> Mend(const SalvageShard& shard,
                                          const std::vector<ShardReport*>& files, size_t best,
                                          const RecordSchema& schema, FileAccess access,
                                          const VerifyFiles& verify);

  // Put the path of the best copy in the place of that of a mended shard.
  std::string NameOriginals(std::string text) const;
  void NameOriginals(std::vector<Loss>* losses) const;

  // When they are needed no more.
  Status Remove() const;

 private:
  // What a mended shard is made of and how it is judged.
  struct Attempt {
    const SalvageShard* shard = nullptr;
    const std::vector<ShardReport*>* files = nullptr;
    size_t best = 0;
    const RecordSchema* schema = nullptr;
    FileAccess access = FileAccess::kMapped;
    const VerifyFiles* verify = nullptr;
  };
  Result<std::optional<MendedShard>> MendWith(const Attempt& attempt,
                                              const std::vector<size_t>& others, bool must_prove);

  const std::string folder_;
  std::map<std::string, std::string> originals_;  // by the path of the mended shard
};

}  // namespace shardmill
