// Which records of a split are variants of one source: what packing made of the same input, by
// chance.
//
// Variants stand side by side and their keys are equal up to the #vN at the end. Tiles, and corners
// with the centre, are no variants: each shows a part of its own, and counts as a source here; its
// variants are its augmented copies. Reading the index reads the metadata of every record once; it
// then holds nothing when all sources have equally many variants, else 8 bytes per source.
// Immutable; safe for concurrent use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "reader/dataset.h"

namespace shardmill {

namespace proto {
class ShardSchema;
}  // namespace proto

// The key without the #vN at its end.
std::string_view SourceOfKey(std::string_view key);

// Of how many records in a row each window of an input has, where its windows are parts (tiles,
// corners) by the recipe of the shard; 0 where all records of an input are variants.
uint64_t RecordsPerPart(const proto::ShardSchema& schema);

class VariantIndex {
 public:
  static Result<VariantIndex> Read(const Dataset::Split& split);
  // The same for keys in the order of their records.
  static VariantIndex Of(const std::vector<std::string>& keys);

  uint64_t sources() const { return sources_; }
  uint64_t FirstOf(uint64_t source) const {
    return first_.empty() ? source * variants_ : first_[source];
  }
  uint64_t CountOf(uint64_t source) const {
    return first_.empty() ? variants_ : first_[source + 1] - first_[source];
  }

 private:
  void Add(std::string_view key, uint64_t part);
  void Finish();

  uint64_t records_ = 0;
  uint64_t sources_ = 0;
  uint64_t variants_ = 0;        // of each source, when `first_` is empty
  std::vector<uint64_t> first_;  // record of each source, plus the number of records
  std::string last_source_;      // while reading
  uint64_t last_part_ = 0;
};

}  // namespace shardmill
