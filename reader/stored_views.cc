#include "reader/stored_views.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "reader/epoch_order.h"
#include "reader/shard_reader.h"

namespace shardmill {

Result<std::unique_ptr<StoredViews>> StoredViews::Open(std::shared_ptr<const Dataset> dataset,
                                                       const StoredViewsOptions& options) {
  SHARDMILL_CHECK(dataset != nullptr);
  std::unique_ptr<StoredViews> views(new StoredViews());
  views->dataset_ = std::move(dataset);
  views->options_ = options;
  ASSIGN_OR_RETURN(views->split_, views->dataset_->split(options.split));
  RETURN_IF_ERROR(views->PlanSteps());
  RETURN_IF_ERROR(views->PlanFields());
  RETURN_IF_ERROR(views->dataset_->CheckUnchanged());
  return views;
}

Status StoredViews::PlanSteps() {
  if (options_.ranks == 0 || options_.rank >= options_.ranks) {
    return InvalidArgumentError("rank is " + std::to_string(options_.rank) + " and ranks is " +
                                std::to_string(options_.ranks) + "; rank must be below ranks");
  }
  const uint64_t batch = options_.global_batch;
  if (batch < options_.ranks || batch > std::numeric_limits<uint32_t>::max()) {
    return InvalidArgumentError("global_batch is " + std::to_string(batch) +
                                "; it must be at least the number of ranks and below 2^32");
  }
  if (options_.tail == TailPolicy::kPad) {
    return InvalidArgumentError("views cannot be padded; use the tail policy drop or partial");
  }
  const uint64_t records = split_->records();
  steps_ = records / batch;
  if (options_.tail == TailPolicy::kPartial && records % batch != 0) ++steps_;
  if (options_.first_step > steps_) {
    return InvalidArgumentError("first_step is " + std::to_string(options_.first_step) +
                                ", but there are " + std::to_string(steps_) + " steps");
  }
  next_step_ = options_.first_step;
  return OkStatus();
}

Status StoredViews::PlanFields() {
  const RecordSchema& schema = dataset_->schema();
  if (options_.fields.empty()) {
    for (const FieldSpec& field : schema.fields) options_.fields.push_back(field.name);
  }
  for (const std::string& name : options_.fields) {
    const std::optional<int> index = schema.FindField(name);
    if (!index.has_value()) return InvalidArgumentError("there is no field '" + name + "'");
    const FieldSpec& field = schema.fields[static_cast<size_t>(*index)];
    if (!field.IsDense()) {
      return InvalidArgumentError("field '" + name + "' is stored as " +
                                  std::string(CodecName(field.codec)) +
                                  (field.IsFixedShape() ? "" : " with a shape that varies") +
                                  "; only raw fields of a fixed shape can be viewed, others are "
                                  "read with BatchLoader");
    }
    fields_.push_back(*index);
  }
  return OkStatus();
}

Result<bool> StoredViews::Next(ViewBatch* batch) {
  if (next_step_ == steps_) return false;
  const uint64_t first = next_step_ * options_.global_batch;
  const uint64_t global_rows = std::min(options_.global_batch, split_->records() - first);
  const RankSlice slice = SliceForRank(global_rows, options_.rank, options_.ranks);
  batch->dataset_ = dataset_;
  batch->step_ = next_step_;
  batch->first_record_ = first + slice.begin;
  batch->rows_ = static_cast<int64_t>(slice.end - slice.begin);
  batch->global_rows_ = static_cast<int64_t>(global_rows);
  for (; !batch->runs_.empty(); batch->runs_.pop_back()) {
    batch->spare_.push_back(std::move(batch->runs_.back()));
  }
  for (uint64_t record = first + slice.begin; record < first + slice.end;) {
    ViewRun* run = NewRun(batch);
    RETURN_IF_ERROR(FillRun(record, first + slice.end - record, run));
    record += static_cast<uint64_t>(run->rows);
  }
  ++next_step_;
  return true;
}

// One more run, in memory of an earlier batch where there is some.
ViewRun* StoredViews::NewRun(ViewBatch* batch) {
  if (batch->spare_.empty()) return &batch->runs_.emplace_back();
  batch->runs_.push_back(std::move(batch->spare_.back()));
  batch->spare_.pop_back();
  return &batch->runs_.back();
}

// The run that begins at a record: up to `most_rows` rows, to the end of the block at most.
Status StoredViews::FillRun(uint64_t first_record, uint64_t most_rows, ViewRun* run) const {
  const auto [shard, in_shard] = split_->Locate(first_record);
  // Every block but the last has as many records as the first.
  const uint64_t block_records = shard->block(0).records;
  const ShardReader::BlockInfo block =
      shard->block(static_cast<uint32_t>(in_shard / block_records));
  const uint64_t rows = std::min(most_rows, block.first_record + block.records - in_shard);
  run->first_record = first_record;
  run->rows = static_cast<int64_t>(rows);
  run->fields.resize(fields_.size());
  for (size_t i = 0; i < fields_.size(); ++i) {
    const FieldSpec& spec = shard->schema().fields[static_cast<size_t>(fields_[i])];
    FieldView& view = run->fields[i];
    view.name = spec.name;
    view.dtype = spec.dtype;
    view.shape.assign(1, run->rows);
    view.shape.insert(view.shape.end(), spec.shape.begin(), spec.shape.end());
    ASSIGN_OR_RETURN(view.data, ViewRows(*shard, in_shard, rows, fields_[i]));
  }
  return OkStatus();
}

// The memory of the first of `rows` records, all of which are checked.
Result<const uint8_t*> StoredViews::ViewRows(const ShardReader& shard, uint64_t first,
                                             uint64_t rows, int field) const {
  ASSIGN_OR_RETURN(const uint8_t* const data, shard.View(first, field));
  for (uint64_t row = 1; row < rows; ++row) {
    RETURN_IF_ERROR(shard.View(first + row, field).status());
  }
  return data;
}

}  // namespace shardmill
