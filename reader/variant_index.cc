#include "reader/variant_index.h"

#include <algorithm>

#include "proto/record_meta.pb.h"
#include "reader/shard_reader.h"

namespace shardmill {

std::string_view SourceOfKey(std::string_view key) {
  const size_t digits = key.find_last_not_of("0123456789") + 1;
  if (digits < 2 || digits == key.size() || key.substr(digits - 2, 2) != "#v") return key;
  return key.substr(0, digits - 2);
}

void VariantIndex::Add(std::string_view key) {
  const std::string_view source = SourceOfKey(key);
  if (first_.empty() || source != last_source_) {
    first_.push_back(records_);
    last_source_ = source;
  }
  ++records_;
}

void VariantIndex::Finish() {
  sources_ = first_.size();
  first_.push_back(records_);
  last_source_.clear();
  variants_ = sources_ == 0 ? 0 : records_ / sources_;
  for (uint64_t source = 0; source <= sources_; ++source) {
    if (first_[source] != source * variants_) {
      first_.shrink_to_fit();
      return;
    }
  }
  first_ = {};
}

VariantIndex VariantIndex::Of(const std::vector<std::string>& keys) {
  VariantIndex index;
  for (const std::string& key : keys) index.Add(key);
  index.Finish();
  return index;
}

Result<VariantIndex> VariantIndex::Read(const Dataset::Split& split) {
  VariantIndex index;
  for (int number = 0; number < split.shard_count(); ++number) {
    const ShardReader& shard = split.shard(number);
    for (uint64_t record = 0; record < shard.records(); ++record) {
      ASSIGN_OR_RETURN(const proto::RecordMeta meta, shard.ReadMeta(record));
      index.Add(meta.key());
    }
  }
  index.Finish();
  return index;
}

}  // namespace shardmill
