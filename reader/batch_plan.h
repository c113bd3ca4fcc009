// What a BatchLoader will do, worked out before anything is read: the checked options, the layout
// of a slot, and which records each step of each epoch holds.
//
// Internal to the batch loader. Immutable once planned; safe for concurrent use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/batch_loader.h"
#include "reader/dataset.h"
#include "reader/field_plan.h"
#include "reader/record_order.h"
#include "reader/schema.h"

namespace shardmill {

// The rows of one rank in one step.
struct StepRows {
  uint64_t first_position = 0;  // in the epoch; positions behind its end are padding
  uint64_t rows = 0;
  uint64_t global_rows = 0;  // of all ranks, padding not counted
};

struct BatchPlan {
  const Dataset::Split* split = nullptr;
  std::optional<OrderPlan> order;
  Augment augment;
  std::vector<FieldPlan> fields;
  uint64_t capacity_rows = 0;  // of a slot: the largest share of any rank
  uint64_t slot_bytes = 0;
  uint64_t record_bytes = 0;   // decoded or delivered, whichever is more
  uint64_t staging_bytes = 0;  // per worker: decoded labels on their way to the expander
  uint64_t shaping_bytes = 0;  // per worker: tensors that are cut, turned or padded
  uint64_t coded_bytes = 0;    // per worker: stored bytes of coded records, as a rule at most
  uint64_t rows_per_part = 0;
  uint64_t steps_per_epoch = 0;
  uint64_t batches = 0;  // of the whole stream, from the first step on

  StepRows RowsOfStep(const BatchLoaderOptions& options, uint64_t step) const;
  // Those of all ranks together.
  StepRows GlobalRowsOfStep(const BatchLoaderOptions& options, uint64_t step) const;
  bool HasPadding() const;
  uint32_t PartsOf(uint64_t rows) const;
  // Of the ring and the workers together.
  uint64_t MemoryBytes(const BatchLoaderOptions& options) const;
};

// Checks the options against the data set; InvalidArgument names the option.
Result<BatchPlan> PlanBatches(const Dataset& dataset, const BatchLoaderOptions& options);

// Writes the records and weights of `rows` of a step; `order` is in the epoch of the step.
Status FillRecords(const StepRows& rows, RecordOrder* order, std::vector<uint64_t>* records,
                   std::vector<float>* weights);

}  // namespace shardmill
