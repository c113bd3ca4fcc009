#include "reader/row_filler.h"

#include <cstring>
#include <string>

namespace shardmill {

Status LocateInSplit(const Status& status, const BatchPlan& plan, const FieldPlan& field,
                     uint64_t record) {
  if (status.ok()) return status;
  const auto [shard, in_shard] = plan.split->Locate(record);
  return status.WithContext(shard->path() + ": record " + std::to_string(in_shard) + ", field '" +
                            field.delivered.name + "'");
}

RowFiller::RowFiller(const BatchPlan* plan, ReadScratch* scratch, StageClock* clock)
    : plan_(*plan), scratch_(scratch), clock_(clock) {}

Status RowFiller::FillField(const FieldPlan& field, uint64_t row, uint64_t record,
                            BatchSlot* slot) {
  const auto [shard, in_shard] = plan_.split->Locate(record);
  uint8_t* out = slot->buffer + field.slot_offset + row * field.delivered_bytes;
  uint8_t* decoded = out;
  if (!field.IsDirect()) {
    if (decoded_.size() < field.stored_bytes) decoded_.resize(field.stored_bytes);
    decoded = decoded_.data();
  }
  clock_->Enter(Stage::kCopy);
  RETURN_IF_ERROR(shard->Read(in_shard, field.stored_index, decoded, field.stored_bytes, scratch_));
  if (!field.expander.has_value()) return OkStatus();
  clock_->Enter(Stage::kExpand);
  return LocateInSplit(field.expander->Expand(decoded, out), plan_, field, record);
}

Status RowFiller::FillRow(uint64_t row, uint64_t record, BatchSlot* slot) {
  for (const FieldPlan& field : plan_.fields) {
    RETURN_IF_ERROR(FillField(field, row, record, slot));
  }
  return OkStatus();
}

void RowFiller::ClearRow(uint64_t row, BatchSlot* slot) const {
  for (const FieldPlan& field : plan_.fields) {
    std::memset(slot->buffer + field.slot_offset + row * field.delivered_bytes, 0,
                field.delivered_bytes);
  }
}

}  // namespace shardmill
