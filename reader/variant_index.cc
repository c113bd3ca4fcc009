#include "reader/variant_index.h"

#include <algorithm>
#include <charconv>

#include "proto/record_meta.pb.h"
#include "proto/schema.pb.h"
#include "reader/shard_reader.h"

namespace shardmill {

std::string_view SourceOfKey(std::string_view key) {
  const size_t digits = key.find_last_not_of("0123456789") + 1;
  if (digits < 2 || digits == key.size() || key.substr(digits - 2, 2) != "#v") return key;
  return key.substr(0, digits - 2);
}

uint64_t RecordsPerPart(const proto::ShardSchema& schema) {
  // Augmented copies are of train only; the other splits have a mode of their own.
  const bool is_train = schema.split() == "train";
  bool has_parts = false;
  uint64_t copies = 0;
  for (const proto::Recipe::Option& option : schema.recipe().options()) {
    const std::string& value = option.value();
    if (option.name() == (is_train ? "crop-mode" : "eval-crop-mode")) {
      has_parts = value == "tile" || value == "corners";
    } else if (option.name() == "augment" && is_train) {
      std::from_chars(value.data(), value.data() + value.size(), copies);
    }
  }
  return has_parts ? copies + 1 : 0;
}

void VariantIndex::Add(std::string_view key, uint64_t part) {
  const std::string_view source = SourceOfKey(key);
  if (first_.empty() || source != last_source_ || part != last_part_) {
    first_.push_back(records_);
    last_source_ = source;
    last_part_ = part;
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
  for (const std::string& key : keys) index.Add(key, 0);
  index.Finish();
  return index;
}

Result<VariantIndex> VariantIndex::Read(const Dataset::Split& split) {
  VariantIndex index;
  for (int number = 0; number < split.shard_count(); ++number) {
    const ShardReader& shard = split.shard(number);
    const uint64_t per_part = RecordsPerPart(shard.schema_message());
    for (uint64_t record = 0; record < shard.records(); ++record) {
      ASSIGN_OR_RETURN(const proto::RecordMeta meta, shard.ReadMeta(record));
      index.Add(meta.key(), per_part == 0 ? 0 : meta.variant() / per_part);
    }
  }
  index.Finish();
  return index;
}

}  // namespace shardmill
