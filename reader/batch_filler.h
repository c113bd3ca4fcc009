// Fills the rows of a slot: reads each field of each record, expands labels, reads ahead.
//
// Internal to the batch loader. Fill() may run on several threads at once, each with its own
// worker number and its own part of a slot.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "reader/bad_record_log.h"
#include "reader/base/status.h"
#include "reader/batch_loader.h"
#include "reader/batch_plan.h"
#include "reader/batch_slot.h"
#include "reader/record_order.h"
#include "reader/row_filler.h"
#include "reader/run_reader.h"
#include "reader/shard_reader.h"
#include "reader/stage_clock.h"
#include "reader/stored_source.h"

namespace shardmill {

class BatchFiller {
 public:
  // `plan` and `source`, which may be null, must outlive the filler.
  BatchFiller(const BatchPlan* plan, const BatchLoaderOptions& options, StoredSource* source);

  Status Fill(BatchSlot* slot, uint32_t part, int worker);

  // Whether Fill() would use BatchSlot::records_ahead.
  bool WantsReadAhead() const;

  const BadRecordLog& bad_records() const { return bad_records_; }
  int workers() const { return static_cast<int>(workers_.size()); }
  const StageClock& clock(int worker) const { return workers_[worker].clock; }
  uint64_t nanoseconds(Stage stage) const;  // of all workers
  uint64_t records() const { return records_.load(std::memory_order_relaxed); }

 private:
  struct BadRow {
    uint64_t row = 0;
    Status status;  // OK when the record is known to be bad
  };
  // What belongs to one thread alone; aligned, so that no two share a cache line.
  struct alignas(64) Worker {
    StageClock clock;
    ReadScratch scratch;
    std::vector<uint8_t> staging;
    std::optional<RowFiller> row_filler;
    std::optional<RunReader> run_reader;
    std::vector<BadRow> bad_rows;        // of the part in work
    std::unique_ptr<RecordOrder> order;  // made when a substitute is first looked for
    std::optional<uint64_t> order_epoch;
    uint64_t record = 0;       // in work
    int64_t major_faults = 0;  // up to the last slow part
  };
  struct Rows {
    uint64_t begin = 0;
    uint64_t end = 0;
  };

  Status FillRowsFenced(BatchSlot* slot, Rows rows, Worker* worker);
  Status FillRows(BatchSlot* slot, Rows rows, Worker* worker);
  Status FillPlainField(const FieldPlan& field, Rows rows, BatchSlot* slot, Worker* worker) const;
  Status FillShapedField(size_t index, Rows rows, BatchSlot* slot, Worker* worker) const;
  void PopulateRows(const BatchSlot& slot, Rows rows) const;
  Status ExpandField(const BatchSlot& slot, const FieldPlan& field, Rows rows,
                     const uint8_t* stored, uint8_t* out, Worker* worker) const;
  static bool IsBad(uint64_t row, const Worker& worker);
  Status NoteBadRow(uint64_t row, Status status, Worker* worker) const;
  Status RepairRow(const BadRow& bad, BatchSlot* slot, Worker* worker);
  Result<uint64_t> Substitute(uint64_t row, BatchSlot* slot, Worker* worker);
  void PrefetchAhead(const BatchSlot& slot, Rows rows) const;
  void NoteWhetherCold(Rows rows, uint64_t reading_ns, Worker* worker);
  int PartsOf(uint64_t bytes) const;
  static uint64_t ReadingNs(const Worker& worker);

  const BatchPlan& plan_;
  StoredSource* const source_;
  const ReadAhead read_ahead_;
  const BadRecordPolicy bad_record_policy_;
  BadRecordLog bad_records_;
  std::vector<Worker> workers_;
  const bool has_large_records_;
  std::atomic<int> cold_parts_;  // for how many more parts read-ahead stays on
  std::atomic<uint64_t> records_{0};
};

}  // namespace shardmill
