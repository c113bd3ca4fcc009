#include "reader/bad_record_log.h"

#include <tuple>
#include <utility>

#include "proto/record_meta.pb.h"
#include "reader/shard_reader.h"

namespace shardmill {

bool IsBadRecordError(const Status& status) {
  return status.code() == StatusCode::kDataLoss || status.code() == StatusCode::kIo;
}

std::string BadRecordLog::KeyOf(uint64_t record) const {
  const auto [shard, in_shard] = split_->Locate(record);
  const Result<proto::RecordMeta> meta = shard->ReadMeta(in_shard);
  return meta.ok() ? meta->key() : "";
}

BadRecord BadRecordLog::Describe(uint64_t record, const Status& reason) const {
  const auto [shard, in_shard] = split_->Locate(record);
  BadRecord bad;
  bad.record = record;
  bad.shard = shard->path();
  bad.record_in_shard = in_shard;
  bad.key = KeyOf(record);
  bad.reason = reason.message();
  return bad;
}

Status BadRecordLog::Note(uint64_t record, const Status& reason, const Place& place) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto found = records_.find(record);
  const bool is_new = found == records_.end();
  if (is_new) {
    if (records_.size() == limit_) {
      return DataLossError("more than " + std::to_string(limit_) +
                           " bad records; the last one: " + reason.message() +
                           ". Repair the data set (shardmill verify lists all damage) or allow "
                           "more with max_bad_records");
    }
    found = records_.emplace(record, Describe(record, reason)).first;
    count_.store(records_.size(), std::memory_order_release);
  }
  BadRecord& bad = found->second;
  // Rows come before mere encounters, then the earlier place.
  const bool is_first_of_kind = place.is_row ? bad.rows == 0 : is_new;
  const bool is_earlier = std::tie(place.epoch, place.step) < std::tie(bad.epoch, bad.step);
  const bool replaces = is_first_of_kind || (is_earlier && place.is_row == (bad.rows > 0));
  bad.rows += place.is_row ? 1 : 0;
  if (!replaces) return OkStatus();
  bad.epoch = place.epoch;
  bad.step = place.step;
  bad.substitute = place.substitute;
  bad.substitute_key = place.substitute.has_value() ? KeyOf(*place.substitute) : "";
  return OkStatus();
}

bool BadRecordLog::IsKnown(uint64_t record) const {
  if (!HasAny()) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  return records_.count(record) != 0;
}

std::vector<BadRecord> BadRecordLog::List() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<BadRecord> list;
  for (const auto& entry : records_) list.push_back(entry.second);
  return list;
}

}  // namespace shardmill
