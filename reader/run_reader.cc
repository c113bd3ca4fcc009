#include "reader/run_reader.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace shardmill {

RunReader::RunReader(const BatchPlan* plan, const BadRecordLog* bad_records, ReadScratch* scratch,
                     StageClock* clock)
    : plan_(*plan), bad_records_(*bad_records), scratch_(*scratch), clock_(*clock) {}

uint64_t RunReader::ScratchBytes(uint64_t stored_bytes, uint64_t rows_per_part) {
  return stored_bytes * std::min(kMostRows, rows_per_part);
}

Status RunReader::Read(const FieldPlan& field, const BatchSlot& slot, uint64_t begin, uint64_t end,
                       uint8_t* out, uint64_t* record, const OnBadRow& on_bad) {
  const uint64_t rows =
      std::clamp<uint64_t>(kStepBytes / std::max<uint64_t>(1, field.stored_bytes), 1, kMostRows);
  while (begin < end) {
    Group group{field, slot, on_bad, begin, std::min(end, begin + rows), out, record};
    RETURN_IF_ERROR(CopyRows(&group));
    RETURN_IF_ERROR(CheckRows(group));
    if (field.IsCoded()) RETURN_IF_ERROR(DecodeRows(group));
    begin = group.end;
    out = group.OutOf(begin);
  }
  return OkStatus();
}

void RunReader::Announce(const Group& group, uint64_t row) {
  Row& next = RowAt(group, row);
  std::tie(next.shard, next.record) = plan_.split->Locate(group.slot.records[row]);
  next.shard->WarmFind(next.record, group.field.stored_index);
}

void RunReader::Find(const Group& group, uint64_t row) {
  Row& next = RowAt(group, row);
  // An error will be met again, and reported, when the row is copied.
  next.is_found = next.shard->Find(next.record, group.field.stored_index, &next.place).ok();
  if (next.is_found) next.shard->WarmCopy(next.place);
}

// Also for rows behind the group: this worker or another one will be at them next.
void RunReader::LookAhead(const Group& group, uint64_t row) {
  const uint64_t announce_end = std::min(row + kFindAhead + 1, group.slot.rows);
  const uint64_t find_end = std::min(row + kCopyAhead + 1, group.slot.rows);
  for (; announced_ < announce_end; ++announced_) Announce(group, announced_);
  for (; found_ < find_end; ++found_) Find(group, found_);
}

// Ends the group before the first row for which the scratch memory has no room.
Status RunReader::CopyRows(Group* group) {
  clock_.Enter(Stage::kCopy);
  announced_ = group->begin;
  found_ = group->begin;
  stored_used_ = 0;
  for (uint64_t row = group->begin; row < group->end; ++row) {
    LookAhead(*group, row);
    Row& current = RowAt(*group, row);
    *group->record = group->slot.records[row];
    Status status;
    current.is_sound = !bad_records_.HasAny() || !bad_records_.IsKnown(*group->record);
    if (current.is_sound) {
      if (!current.is_found) {
        status = current.shard->Find(current.record, group->field.stored_index, &current.place);
      }
      if (status.ok() && !MakeRoom(*group, row)) {
        group->end = row;
        break;
      }
      if (status.ok()) status = CopyRow(*group, row);
      current.is_sound = status.ok();
    }
    if (!current.is_sound) RETURN_IF_ERROR(group->on_bad(row, std::move(status)));
  }
  return OkStatus();
}

// A group has at least one row, however large.
bool RunReader::MakeRoom(const Group& group, uint64_t row) {
  const uint64_t bytes = rows_[row - group.begin].place.range.bytes;
  if (!group.field.IsCoded() || bytes <= scratch_.stored_room() - stored_used_) return true;
  if (stored_used_ > 0) return false;
  // The range lies in the file, so its size is bounded by what is on the disk.
  scratch_.Reserve(bytes);
  return true;
}

// What is raw has the size that the schema says, so `out` has room.
Status RunReader::CopyRow(const Group& group, uint64_t row) {
  Row& current = RowAt(group, row);
  uint8_t* to = group.OutOf(row);
  if (group.field.IsCoded()) {
    to = scratch_.stored() + stored_used_;
    stored_used_ += current.place.range.bytes;
  }
  current.stored = to;
  return current.shard->CopyStored(current.place, to, &scratch_);
}

Status RunReader::CheckRows(const Group& group) {
  for (uint64_t row = group.begin; row < group.end; ++row) {
    Row& current = RowAt(group, row);
    const uint64_t ahead = row + kCopyAhead;
    if (!current.is_sound || !current.shard->WantsCheck(current.place)) continue;
    clock_.Enter(Stage::kChecksum);
    if (ahead < group.end && RowAt(group, ahead).is_sound) {
      RowAt(group, ahead).shard->WarmCheck(RowAt(group, ahead).place);
    }
    *group.record = group.slot.records[row];
    Status status = current.shard->CheckStored(current.place, current.stored);
    if (status.ok()) continue;
    current.is_sound = false;
    RETURN_IF_ERROR(group.on_bad(row, std::move(status)));
  }
  return OkStatus();
}

Status RunReader::DecodeRows(const Group& group) {
  clock_.Enter(Stage::kDecode);
  for (uint64_t row = group.begin; row < group.end; ++row) {
    const Row& current = RowAt(group, row);
    if (!current.is_sound) continue;
    *group.record = group.slot.records[row];
    Status status = current.shard->DecodeStored(current.place, current.stored, group.OutOf(row),
                                                group.field.stored_bytes, &scratch_);
    if (!status.ok()) RETURN_IF_ERROR(group.on_bad(row, std::move(status)));
  }
  return OkStatus();
}

}  // namespace shardmill
