// Batches of a split in stored order as views of the mapped shards: nothing is copied, and no
// thread is started. For evaluation, where the order does not matter.
//
//   auto views = StoredViews::Open(dataset, options);
//   ViewBatch batch;
//   while (*(*views)->Next(&batch)) {
//     for (const ViewRun& run : batch.runs()) Use(run.fields[0].data, run.rows);
//   }
//
// A batch holds the same rows as one of BatchLoader with Order::kStored, the same steps and slices
// of ranks. Its rows lie in one run for each block that they touch, as a rule one or two; within a
// run each field is one dense tensor. Checksums are checked as the data set was opened.
// The batch keeps the shards open: its views stay valid when the StoredViews and the last other
// owner of the data set are gone, until the batch is filled anew or destroyed.
// UNFENCED: BatchLoader copies out of the mapping inside a fence, so a shard that is cut under it
// is an error. A view cannot be fenced: touching a page that is gone ends the process with SIGBUS.
// Views are for files that nobody rewrites.
// One object is for one thread; different ones may share a data set.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/batch.h"
#include "reader/batch_loader.h"
#include "reader/dataset.h"

namespace shardmill {

struct StoredViewsOptions {
  std::string split;
  std::vector<std::string> fields;  // raw, of a fixed shape; empty: all fields
  uint64_t global_batch = 1;        // records of all ranks together; >= ranks
  uint32_t rank = 0;
  uint32_t ranks = 1;
  // kDrop or kPartial: there is nothing in the file to pad with.
  TailPolicy tail = TailPolicy::kPartial;
  uint64_t first_step = 0;
};

// Successive records that lie in one block.
struct ViewRun {
  uint64_t first_record = 0;  // of the split
  int64_t rows = 0;
  std::vector<FieldView> fields;  // in the order in which they were asked for
};

// Move-only: a lease on the mapping.
class ViewBatch {
 public:
  ViewBatch() = default;
  ViewBatch(ViewBatch&&) noexcept = default;
  ViewBatch& operator=(ViewBatch&&) noexcept = default;

  uint64_t step() const { return step_; }
  uint64_t first_record() const { return first_record_; }
  int64_t rows() const { return rows_; }
  int64_t global_rows() const { return global_rows_; }
  const std::vector<ViewRun>& runs() const { return runs_; }

 private:
  friend class StoredViews;
  std::shared_ptr<const Dataset> dataset_;
  uint64_t step_ = 0;
  uint64_t first_record_ = 0;
  int64_t rows_ = 0;
  int64_t global_rows_ = 0;
  std::vector<ViewRun> runs_;
  std::vector<ViewRun> spare_;  // memory of earlier batches that had more runs
};

class StoredViews {
 public:
  // InvalidArgument names the option, or the field that cannot be viewed; Io when a shard was
  // replaced since the data set was opened.
  static Result<std::unique_ptr<StoredViews>> Open(std::shared_ptr<const Dataset> dataset,
                                                   const StoredViewsOptions& options);

  // Makes `batch` the next one, in its own memory: one that is used again and again allocates
  // nothing in steady state. False after the last. DataLoss names shard,
  // record and field.
  Result<bool> Next(ViewBatch* batch);

  uint64_t steps() const { return steps_; }  // the same on every rank

 private:
  StoredViews() = default;
  Status PlanSteps();
  Status PlanFields();
  static ViewRun* NewRun(ViewBatch* batch);
  Status FillRun(uint64_t first_record, uint64_t most_rows, ViewRun* run) const;
  Result<const uint8_t*> ViewRows(const ShardReader& shard, uint64_t first, uint64_t rows,
                                  int field) const;

  std::shared_ptr<const Dataset> dataset_;
  StoredViewsOptions options_;
  const Dataset::Split* split_ = nullptr;
  std::vector<int> fields_;  // in the schema
  uint64_t steps_ = 0;
  uint64_t next_step_ = 0;
};

}  // namespace shardmill
