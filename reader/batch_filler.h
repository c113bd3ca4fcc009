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

namespace shardmill {

class BatchFiller {
 public:
  // `plan` must outlive the filler.
  BatchFiller(const BatchPlan* plan, int workers, ReadAhead read_ahead);

  Status Fill(const BatchSlot& slot, uint32_t part, int worker);

  // Whether Fill() would use BatchSlot::records_ahead.
  bool WantsReadAhead() const;

  uint64_t read_ns() const { return read_ns_.load(std::memory_order_relaxed); }
  uint64_t expand_ns() const { return expand_ns_.load(std::memory_order_relaxed); }
  uint64_t records() const { return records_.load(std::memory_order_relaxed); }

 private:
  // What belongs to one thread alone; aligned, so that no two share a cache line.
  struct alignas(64) Worker {
    ReadScratch scratch;
    std::vector<uint8_t> staging;
    int64_t major_faults = 0;  // up to the last slow part
  };
  struct Rows {
    uint64_t begin = 0;
    uint64_t end = 0;
  };

  Status ReadField(const BatchSlot& slot, const FieldPlan& field, Rows rows, uint8_t* out,
                   Worker* worker) const;
  Status ExpandField(const BatchSlot& slot, const FieldPlan& field, Rows rows,
                     const uint8_t* stored, uint8_t* out) const;
  void PrefetchAhead(const BatchSlot& slot, Rows rows) const;
  void NoteWhetherCold(Rows rows, uint64_t reading_ns, Worker* worker);

  const BatchPlan& plan_;
  const ReadAhead read_ahead_;
  std::vector<Worker> workers_;
  std::atomic<int> cold_parts_{0};  // for how many more parts read-ahead stays on
  std::atomic<uint64_t> read_ns_{0};
  std::atomic<uint64_t> expand_ns_{0};
  std::atomic<uint64_t> records_{0};
};

}  // namespace shardmill
