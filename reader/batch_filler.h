// Fills the rows of a slot: reads each field of each record, expands labels, reads ahead.
//
// Internal to the batch loader. Fill() may run on several threads at once, each with its own
// worker number and its own part of a slot.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "reader/base/status.h"
#include "reader/batch_loader.h"
#include "reader/batch_plan.h"
#include "reader/batch_slot.h"
#include "reader/shard_reader.h"
#include "reader/stage_clock.h"

namespace shardmill {

class BatchFiller {
 public:
  // `plan` must outlive the filler. Each worker keeps `trace_spans` spans of its time.
  BatchFiller(const BatchPlan* plan, int workers, ReadAhead read_ahead, uint64_t trace_spans);

  Status Fill(const BatchSlot& slot, uint32_t part, int worker);

  // Whether Fill() would use BatchSlot::records_ahead.
  bool WantsReadAhead() const;

  int workers() const { return static_cast<int>(workers_.size()); }
  const StageClock& clock(int worker) const { return workers_[worker].clock; }
  uint64_t nanoseconds(Stage stage) const;  // of all workers
  uint64_t records() const { return records_.load(std::memory_order_relaxed); }

 private:
  // What belongs to one thread alone; aligned, so that no two share a cache line.
  struct alignas(64) Worker {
    StageClock clock;
    ReadScratch scratch;
    std::vector<uint8_t> staging;
    int64_t major_faults = 0;  // up to the last slow part
  };
  struct Rows {
    uint64_t begin = 0;
    uint64_t end = 0;
  };

  Status FillRows(const BatchSlot& slot, Rows rows, Worker* worker) const;
  void PopulateRows(const BatchSlot& slot, Rows rows) const;
  Status ReadField(const BatchSlot& slot, const FieldPlan& field, Rows rows, uint8_t* out,
                   Worker* worker) const;
  Status ExpandField(const BatchSlot& slot, const FieldPlan& field, Rows rows,
                     const uint8_t* stored, uint8_t* out) const;
  void PrefetchAhead(const BatchSlot& slot, Rows rows) const;
  void NoteWhetherCold(Rows rows, uint64_t reading_ns, Worker* worker);
  static uint64_t ReadingNs(const Worker& worker);

  const BatchPlan& plan_;
  const ReadAhead read_ahead_;
  std::vector<Worker> workers_;
  std::atomic<int> cold_parts_{0};  // for how many more parts read-ahead stays on
  std::atomic<uint64_t> records_{0};
};

}  // namespace shardmill
