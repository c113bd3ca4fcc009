#include "reader/batch_shape.h"

#include <algorithm>
#include <string>

#include "reader/row_filler.h"

namespace shardmill {
namespace {

// The smallest allowed length that holds `length`.
int64_t PaddedLength(const Padding& padding, int64_t length) {
  if (padding.lengths.empty()) return length;
  const auto at = std::lower_bound(padding.lengths.begin(), padding.lengths.end(), length);
  return at == padding.lengths.end() ? padding.lengths.back() : *at;
}

}  // namespace

BatchShape::BatchShape(const BatchPlan* plan, const BatchLoaderOptions* options)
    : plan_(*plan), options_(*options), has_padding_(plan->HasPadding()) {
  if (!has_padding_) return;
  records_.reserve(options->global_batch);
  weights_.reserve(options->global_batch);
}

void BatchShape::Prepare(BatchSlot* slot) const {
  slot->shapes.resize(plan_.fields.size());
  for (size_t i = 0; i < plan_.fields.size(); ++i) {
    const FieldPlan& field = plan_.fields[i];
    slot->shapes[i].row_bytes = field.delivered_bytes;
    if (!field.padding.has_value()) continue;
    slot->shapes[i].padded_shape = field.stored.shape;
    slot->fields[i].lengths.reserve(plan_.capacity_rows * field.longest.size());
  }
}

Status BatchShape::Decide(RecordOrder* order, BatchSlot* slot) {
  for (FieldView& view : slot->fields) view.shape[0] = static_cast<int64_t>(slot->rows);
  if (!has_padding_) return OkStatus();
  RETURN_IF_ERROR(
      FillRecords(plan_.GlobalRowsOfStep(options_, slot->step), order, &records_, &weights_));
  for (size_t i = 0; i < plan_.fields.size(); ++i) {
    const FieldPlan& field = plan_.fields[i];
    if (!field.padding.has_value()) continue;
    RETURN_IF_ERROR(FindLongest(field, &longest_));
    SetShape(field, longest_, &slot->shapes[i], &slot->fields[i]);
    slot->fields[i].lengths.assign(slot->rows * longest_.size(), 0);
  }
  return OkStatus();
}

// The padded lengths that hold every record of the global batch.
Status BatchShape::FindLongest(const FieldPlan& field, std::vector<int64_t>* longest) {
  longest->assign(field.longest.size(), 0);
  for (uint64_t record : records_) RETURN_IF_ERROR(NoteLengths(field, record, longest));
  for (int64_t& length : *longest) length = PaddedLength(*field.padding, length);
  return OkStatus();
}

Status BatchShape::NoteLengths(const FieldPlan& field, uint64_t record,
                               std::vector<int64_t>* longest) {
  const auto [shard, in_shard] = plan_.split->Locate(record);
  const Status status = shard->VariableDims(in_shard, field.stored_index, &dims_);
  if (!status.ok()) {
    // The worker that reads the record will meet the error again and do what the policy says.
    const bool passes = options_.bad_records != BadRecordPolicy::kFail && IsBadRecordError(status);
    return passes ? OkStatus() : status;
  }
  for (size_t i = 0; i < dims_.size(); ++i) {
    const int64_t length = dims_[i];
    if (length > field.longest[i] && !field.padding->cut_longer) {
      return LocateInSplit(
          InvalidArgumentError("its length " + std::to_string(length) + " is more than the " +
                               std::to_string(field.longest[i]) +
                               " of padding.lengths; give a longer one, or cut_longer"),
          plan_, field, record);
    }
    (*longest)[i] = std::max((*longest)[i], length);
  }
  return OkStatus();
}

void BatchShape::SetShape(const FieldPlan& field, const std::vector<int64_t>& lengths,
                          SlotField* shape, FieldView* view) const {
  size_t next = 0;
  for (size_t axis = 0; axis < field.stored.shape.size(); ++axis) {
    if (field.stored.shape[axis] == kVariableDim) shape->padded_shape[axis] = lengths[next++];
  }
  next = 0;
  shape->row_bytes = DTypeBytes(view->dtype);
  for (size_t axis = 0; axis < field.delivered.shape.size(); ++axis) {
    const int64_t dimension = field.delivered.shape[axis];
    view->shape[axis + 1] = dimension == kVariableDim ? lengths[next++] : dimension;
    shape->row_bytes *= static_cast<uint64_t>(view->shape[axis + 1]);
  }
}

}  // namespace shardmill
