#include "reader/batch_filler.h"

#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <utility>

#include "reader/base/exception_status.h"
#include "reader/read_ahead.h"

namespace shardmill {
namespace {

// For so many bytes read-ahead stays on after the last page that had to come from disk.
constexpr uint64_t kColdBytes = uint64_t{256} << 20;
// The first bytes are taken for cold until they have shown that they are not.
constexpr uint64_t kUnknownBytes = uint64_t{8} << 20;
// Below this a record is not worth system calls of its own: the kernel reads ahead by itself.
constexpr uint64_t kLargeRecordBytes = 64 * 1024;

// Pages that the calling thread has had to wait for from disk.
int64_t MajorFaults() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_majflt;
}

}  // namespace

BatchFiller::BatchFiller(const BatchPlan* plan, const BatchLoaderOptions& options,
                         StoredSource* source)
    : plan_(*plan),
      source_(source),
      read_ahead_(options.read_ahead),
      bad_record_policy_(options.bad_records),
      bad_records_(plan->split, options.max_bad_records),
      workers_(static_cast<size_t>(options.threads)),
      has_large_records_(plan->record_bytes >= kLargeRecordBytes),
      cold_parts_(has_large_records_ ? PartsOf(kUnknownBytes) : 0) {
  if (read_ahead_ != ReadAhead::kNever && options.order != Order::kStored && has_large_records_) {
    AdviseRandomReads(*plan->split);
  }
  for (Worker& worker : workers_) {
    worker.staging.resize(plan->staging_bytes);
    worker.scratch.Reserve(plan->coded_bytes);
    worker.clock.KeepSpans(options.trace_spans);
    worker.scratch.set_clock(&worker.clock);
    worker.row_filler.emplace(plan, &worker.scratch, &worker.clock);
    worker.run_reader.emplace(plan, &bad_records_, &worker.scratch, &worker.clock);
  }
}

// A few for each thread at least.
int BatchFiller::PartsOf(uint64_t bytes) const {
  const uint64_t part_bytes = std::max<uint64_t>(1, plan_.rows_per_part * plan_.record_bytes);
  return static_cast<int>(std::max(bytes / part_bytes, 2 * uint64_t{workers_.size()}));
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

Status BatchFiller::Fill(BatchSlot* slot, uint32_t part, int worker_number) {
  Worker& worker = workers_[worker_number];
  Rows rows;
  rows.begin = part * plan_.rows_per_part;
  rows.end = std::min(slot->rows, rows.begin + plan_.rows_per_part);
  const uint64_t reading_before = ReadingNs(worker);
  const Status status = FillRowsFenced(slot, rows, &worker);
  worker.clock.Enter(Stage::kWaitForSlot);
  RETURN_IF_ERROR(status);
  NoteWhetherCold(rows, ReadingNs(worker) - reading_before, &worker);
  records_.fetch_add(rows.end - rows.begin, std::memory_order_relaxed);
  return OkStatus();
}

uint64_t BatchFiller::ReadingNs(const Worker& worker) {
  return worker.clock.nanoseconds(Stage::kDisk) + worker.clock.nanoseconds(Stage::kCopy);
}

// An exception (memory that is not to be had, a library that throws) becomes an error that names
// the record in work.
Status BatchFiller::FillRowsFenced(BatchSlot* slot, Rows rows, Worker* worker) {
  try {
    return FillRows(slot, rows, worker);
  } catch (...) {
    const auto [shard, record] = plan_.split->Locate(worker->record);
    return ExceptionStatus(shard->path() + ": record " + std::to_string(record));
  }
}

Status BatchFiller::FillRows(BatchSlot* slot, Rows rows, Worker* worker) {
  StageClock* clock = &worker->clock;
  worker->bad_rows.clear();
  worker->scratch.set_source(source_, slot->number);
  if (WantsReadAhead()) {
    clock->Enter(Stage::kDisk);
    clock->SetBatch(slot->epoch, slot->step);
    PrefetchAhead(*slot, rows);
    if (has_large_records_) PopulateRows(*slot, rows);
  }
  clock->SetBatch(slot->epoch, slot->step);
  for (size_t index = 0; index < plan_.fields.size(); ++index) {
    if (!plan_.fields[index].IsPlain()) {
      RETURN_IF_ERROR(FillShapedField(index, rows, slot, worker));
      continue;
    }
    RETURN_IF_ERROR(FillPlainField(plan_.fields[index], rows, slot, worker));
  }
  for (const BadRow& bad : worker->bad_rows) RETURN_IF_ERROR(RepairRow(bad, slot, worker));
  return OkStatus();
}

// All rows are read, then all are delivered: for small records that saves a look at the clock per
// row.
Status BatchFiller::FillPlainField(const FieldPlan& field, Rows rows, BatchSlot* slot,
                                   Worker* worker) const {
  uint8_t* out = slot->buffer + field.slot_offset + rows.begin * field.delivered_bytes;
  uint8_t* decoded = field.Converts() ? worker->staging.data() : out;
  RETURN_IF_ERROR(worker->run_reader->Read(
      field, *slot, rows.begin, rows.end, decoded, &worker->record,
      [&](uint64_t row, Status status) { return NoteBadRow(row, std::move(status), worker); }));
  if (!field.Delivers()) return OkStatus();
  worker->clock.Enter(Stage::kExpand);
  return ExpandField(*slot, field, rows, decoded, out, worker);
}

Status BatchFiller::FillShapedField(size_t index, Rows rows, BatchSlot* slot,
                                    Worker* worker) const {
  for (uint64_t row = rows.begin; row < rows.end; ++row) {
    const uint64_t record = slot->records[row];
    if (IsBad(row, *worker)) continue;
    worker->record = record;
    Status status;
    if (!bad_records_.IsKnown(record)) {
      status = worker->row_filler->FillField(index, row, record, slot);
      if (status.ok()) continue;
    }
    RETURN_IF_ERROR(NoteBadRow(row, std::move(status), worker));
  }
  return OkStatus();
}

// What comes from the disk is waited for here, in one call per record, and not page by page in
// the copy.
void BatchFiller::PopulateRows(const BatchSlot& slot, Rows rows) const {
  // Most of it has been asked for before, as the rows of a coming batch.
  for (uint64_t row = rows.begin; row < rows.end; ++row) {
    const auto [shard, record] = plan_.split->Locate(slot.records[row]);
    shard->Prefetch(record);
  }
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
  if (faults > worker->major_faults)
    cold_parts_.store(PartsOf(kColdBytes), std::memory_order_relaxed);
  worker->major_faults = faults;
}

Status BatchFiller::ExpandField(const BatchSlot& slot, const FieldPlan& field, Rows rows,
                                const uint8_t* stored, uint8_t* out, Worker* worker) const {
  const uint64_t elements = field.stored_bytes / DTypeBytes(field.stored.dtype);
  for (uint64_t row = rows.begin; row < rows.end; ++row) {
    worker->record = slot.records[row];
    Status status = IsBad(row, *worker) ? OkStatus() : field.Deliver(stored, elements, out);
    if (!status.ok()) {
      status = LocateInSplit(status, plan_, field, slot.records[row]);
      RETURN_IF_ERROR(NoteBadRow(row, std::move(status), worker));
    }
    stored += field.stored_bytes;
    out += field.delivered_bytes;
  }
  return OkStatus();
}

bool BatchFiller::IsBad(uint64_t row, const Worker& worker) {
  return std::any_of(worker.bad_rows.begin(), worker.bad_rows.end(),
                     [row](const BadRow& bad) { return bad.row == row; });
}

// Remembers the row for RepairRow(), or returns the error where the policy does not allow that.
Status BatchFiller::NoteBadRow(uint64_t row, Status status, Worker* worker) const {
  const bool is_repairable = status.ok() || IsBadRecordError(status);
  if (bad_record_policy_ == BadRecordPolicy::kFail || !is_repairable) return status;
  if (!IsBad(row, *worker)) worker->bad_rows.push_back({row, std::move(status)});
  return OkStatus();
}

Status BatchFiller::RepairRow(const BadRow& bad, BatchSlot* slot, Worker* worker) {
  const uint64_t record = slot->records[bad.row];
  BadRecordLog::Place place;
  place.epoch = slot->epoch;
  place.step = slot->step;
  if (bad_record_policy_ == BadRecordPolicy::kSkip) {
    worker->row_filler->ClearRow(bad.row, slot);
    slot->weights[bad.row] = 0;
    return bad_records_.Note(record, bad.status, place);
  }
  // First the record itself, so that the search need not read it again.
  place.is_row = false;
  RETURN_IF_ERROR(bad_records_.Note(record, bad.status, place));
  ASSIGN_OR_RETURN(place.substitute, Substitute(bad.row, slot, worker));
  place.is_row = true;
  slot->delivered[bad.row] = *place.substitute;
  return bad_records_.Note(record, bad.status, place);
}

// Fills the row with the first sound record behind its position in the order of the epoch that is
// not longer than the padded rows of the batch. That is the same on every rank and thread: it
// depends on the data and the order alone.
Result<uint64_t> BatchFiller::Substitute(uint64_t row, BatchSlot* slot, Worker* worker) {
  if (worker->order == nullptr) worker->order = plan_.order->NewOrder();
  if (worker->order_epoch != slot->epoch) worker->order->StartEpoch(slot->epoch);
  worker->order_epoch = slot->epoch;
  const uint64_t length = plan_.order->length();
  const uint64_t position = (slot->first_position + row) % length;
  for (uint64_t next = 1; next < length; ++next) {
    uint64_t candidate = 0;
    RETURN_IF_ERROR(worker->order->Fill((position + next) % length, 1, &candidate));
    const BadRecordLog::Place place = {slot->epoch, slot->step, false, std::nullopt};
    if (bad_records_.IsKnown(candidate)) {
      // Another worker may have met it in a later batch than this one.
      RETURN_IF_ERROR(bad_records_.Note(candidate, OkStatus(), place));
      continue;
    }
    worker->record = candidate;
    if (!worker->row_filler->Fits(candidate, *slot)) continue;
    const Status status = worker->row_filler->FillRow(row, candidate, slot);
    if (status.ok()) return candidate;
    if (!IsBadRecordError(status)) return status;
    RETURN_IF_ERROR(bad_records_.Note(candidate, status, place));
  }
  return DataLossError("split '" + plan_.split->name() +
                       "' has no sound record left to stand for " +
                       "a bad one; shardmill verify lists all damage");
}

void BatchFiller::PrefetchAhead(const BatchSlot& slot, Rows rows) const {
  const uint64_t end = std::min<uint64_t>(rows.end, slot.records_ahead.size());
  for (uint64_t row = rows.begin; row < end; ++row) {
    const auto [shard, record] = plan_.split->Locate(slot.records_ahead[row]);
    shard->Prefetch(record);
  }
}

}  // namespace shardmill
