#include "reader/batch_filler.h"

#include <sys/resource.h>

#include <algorithm>
#include <string>

namespace shardmill {
namespace {

// How many rows ahead the processor is told of the next record: in random order each one begins
// with misses of the cache and of the address translation, which this hides.
constexpr uint64_t kRowsWarm = 2;
// Parts for which read-ahead stays on after the last page that had to come from disk.
constexpr int kColdParts = 1024;

// Pages that the calling thread has had to wait for from disk.
int64_t MajorFaults() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_majflt;
}

}  // namespace

BatchFiller::BatchFiller(const BatchPlan* plan, int workers, ReadAhead read_ahead,
                         uint64_t trace_spans)
    : plan_(*plan), read_ahead_(read_ahead), workers_(workers) {
  for (Worker& worker : workers_) {
    worker.staging.resize(plan->staging_bytes);
    worker.scratch.Reserve(plan->coded_bytes);
    worker.clock.KeepSpans(trace_spans);
    worker.scratch.set_clock(&worker.clock);
  }
}

uint64_t BatchFiller::nanoseconds(Stage stage) const {
  uint64_t sum = 0;
  for (const Worker& worker : workers_) sum += worker.clock.nanoseconds(stage);
  return sum;
}

bool BatchFiller::WantsReadAhead() const {
  if (read_ahead_ == ReadAhead::kWhenCold) {
    return cold_parts_.load(std::memory_order_relaxed) > 0;
  }
  return read_ahead_ == ReadAhead::kAlways;
}

Status BatchFiller::Fill(const BatchSlot& slot, uint32_t part, int worker_number) {
  Worker& worker = workers_[worker_number];
  Rows rows;
  rows.begin = part * plan_.rows_per_part;
  rows.end = std::min(slot.rows, rows.begin + plan_.rows_per_part);
  const uint64_t reading_before = ReadingNs(worker);
  const Status status = FillRows(slot, rows, &worker);
  worker.clock.Enter(Stage::kWaitForSlot);
  RETURN_IF_ERROR(status);
  NoteWhetherCold(rows, ReadingNs(worker) - reading_before, &worker);
  records_.fetch_add(rows.end - rows.begin, std::memory_order_relaxed);
  return OkStatus();
}

uint64_t BatchFiller::ReadingNs(const Worker& worker) {
  return worker.clock.nanoseconds(Stage::kDisk) + worker.clock.nanoseconds(Stage::kCopy);
}

Status BatchFiller::FillRows(const BatchSlot& slot, Rows rows, Worker* worker) const {
  StageClock* clock = &worker->clock;
  if (WantsReadAhead()) {
    clock->Enter(Stage::kDisk);
    clock->SetBatch(slot.epoch, slot.step);
    PrefetchAhead(slot, rows);
    PopulateRows(slot, rows);
  }
  for (const FieldPlan& field : plan_.fields) {
    uint8_t* out = slot.buffer + field.slot_offset + rows.begin * field.delivered_bytes;
    uint8_t* decoded = field.IsDirect() ? out : worker->staging.data();
    clock->Enter(Stage::kCopy);
    clock->SetBatch(slot.epoch, slot.step);
    RETURN_IF_ERROR(ReadField(slot, field, rows, decoded, worker));
    if (!field.expander.has_value()) continue;
    clock->Enter(Stage::kExpand);
    RETURN_IF_ERROR(ExpandField(slot, field, rows, decoded, out));
  }
  return OkStatus();
}

// What comes from the disk is waited for here, in one call per record, and not page by page in
// the copy.
void BatchFiller::PopulateRows(const BatchSlot& slot, Rows rows) const {
  for (uint64_t row = rows.begin; row < rows.end; ++row) {
    const auto [shard, record] = plan_.split->Locate(slot.records[row]);
    for (const FieldPlan& field : plan_.fields) shard->Populate(record, field.stored_index);
  }
}

// The count of pages that came from disk is looked at only after a part that was slow for memory.
void BatchFiller::NoteWhetherCold(Rows rows, uint64_t reading_ns, Worker* worker) {
  const int before = cold_parts_.load(std::memory_order_relaxed);
  if (before > 0) cold_parts_.store(before - 1, std::memory_order_relaxed);
  const uint64_t memory_ns = (rows.end - rows.begin) * plan_.record_bytes;  // at 1 GB/s
  if (reading_ns <= memory_ns) return;
  const int64_t faults = MajorFaults();
  if (faults > worker->major_faults) cold_parts_.store(kColdParts, std::memory_order_relaxed);
  worker->major_faults = faults;
}

Status BatchFiller::ReadField(const BatchSlot& slot, const FieldPlan& field, Rows rows,
                              uint8_t* out, Worker* worker) const {
  for (uint64_t row = rows.begin; row < rows.end; ++row) {
    const auto [shard, record] = plan_.split->Locate(slot.records[row]);
    if (row + kRowsWarm < slot.rows) {
      const auto [warm_shard, warm_record] = plan_.split->Locate(slot.records[row + kRowsWarm]);
      warm_shard->Warm(warm_record, field.stored_index);
    }
    RETURN_IF_ERROR(
        shard->Read(record, field.stored_index, out, field.stored_bytes, &worker->scratch));
    out += field.stored_bytes;
  }
  return OkStatus();
}

Status BatchFiller::ExpandField(const BatchSlot& slot, const FieldPlan& field, Rows rows,
                                const uint8_t* stored, uint8_t* out) const {
  for (uint64_t row = rows.begin; row < rows.end; ++row) {
    Status status = field.expander->Expand(stored, out);
    if (!status.ok()) {
      const auto [shard, record] = plan_.split->Locate(slot.records[row]);
      return status.WithContext(shard->path() + ": record " + std::to_string(record) + ", field '" +
                                field.delivered.name + "'");
    }
    stored += field.stored_bytes;
    out += field.delivered_bytes;
  }
  return OkStatus();
}

void BatchFiller::PrefetchAhead(const BatchSlot& slot, Rows rows) const {
  const uint64_t end = std::min<uint64_t>(rows.end, slot.records_ahead.size());
  for (uint64_t row = rows.begin; row < end; ++row) {
    const auto [shard, record] = plan_.split->Locate(slot.records_ahead[row]);
    shard->Prefetch(record);
  }
}

}  // namespace shardmill
