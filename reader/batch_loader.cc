#include "reader/batch_loader.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

#include "reader/base/ordered_pipeline.h"
#include "reader/batch_plan.h"
#include "reader/batch_slot.h"
#include "reader/epoch_order.h"

namespace shardmill {
namespace {

using Clock = std::chrono::steady_clock;

// From this size on, transparent huge pages are worth asking for.
constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;
constexpr uint64_t kBufferAlignment = 64;
// Read-ahead works this many rows ahead of the ring at least, so that small batches too keep
// several requests in the disk's queue.
constexpr uint64_t kMinRowsAhead = 64;
// How many rows ahead the processor is told of the next record: in random order each one begins
// with misses of the cache and of the address translation, which this hides.
constexpr uint64_t kRowsWarm = 2;
// Parts for which read-ahead stays on after the last page that had to come from disk.
constexpr int kColdParts = 1024;

uint64_t Nanoseconds(Clock::duration duration) {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count());
}

void* AllocateBuffer(uint64_t bytes) {
  const bool huge = bytes >= kHugePageBytes;
  const uint64_t alignment = huge ? kHugePageBytes : 4096;
  const uint64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* buffer = std::aligned_alloc(alignment, rounded);
  if (buffer != nullptr && huge) madvise(buffer, rounded, MADV_HUGEPAGE);
  return buffer;
}

// Pages that the calling thread has had to wait for from disk.
int64_t MajorFaults() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_majflt;
}

// What belongs to one worker thread alone; aligned, so that no two share a cache line.
struct alignas(64) Worker {
  ReadScratch scratch;
  std::vector<uint8_t> staging;
  int64_t major_faults = 0;  // up to the last slow part
};

}  // namespace

struct BatchLoader::Impl {
  std::shared_ptr<const Dataset> dataset;
  BatchLoaderOptions options;
  BatchPlan plan;
  std::vector<BatchSlot> slots;
  std::vector<Worker> workers;

  // The position of production: only the pipeline's produce callback touches it.
  uint64_t next_epoch = 0;
  uint64_t next_step = 0;
  std::optional<EpochOrder> order;
  uint64_t order_epoch = 0;
  uint64_t steps_ahead = 1;

  // How many more parts read-ahead stays on for.
  std::atomic<int> cold_parts{0};
  std::atomic<uint64_t> batches_taken{0};
  std::atomic<int> batches_held{0};
  std::atomic<uint64_t> read_ns{0};
  std::atomic<uint64_t> expand_ns{0};
  std::atomic<uint64_t> records_read{0};

  std::unique_ptr<OrderedPipeline> pipeline;

  ~Impl();
  Status AllocateSlots();
  Status Start();

  Result<std::optional<OrderedPipeline::Size>> ProduceBatch(const OrderedPipeline::Item& item);
  const EpochOrder* OrderOf(uint64_t epoch);
  bool WantsReadAhead() const;
  void FillAhead(BatchSlot* slot);

  struct Rows {
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  Status FillPart(const OrderedPipeline::Item& item, uint32_t part, int worker);
  Status ReadField(const BatchSlot& slot, const FieldPlan& field, Rows rows, uint8_t* out,
                   Worker* worker) const;
  Status ExpandField(const BatchSlot& slot, const FieldPlan& field, Rows rows,
                     const uint8_t* stored, uint8_t* out) const;
  void PrefetchAhead(const BatchSlot& slot, Rows rows) const;
  void NoteWhetherCold(Rows rows, uint64_t reading_ns, Worker* worker);
};

BatchLoader::Impl::~Impl() {
  pipeline.reset();  // joins the threads that write to the buffers
  for (BatchSlot& slot : slots) {
    if (slot.buffer == nullptr) continue;
    if (options.release) {
      options.release(slot.buffer, plan.slot_bytes);
    } else {
      std::free(slot.buffer);
    }
  }
}

Status BatchLoader::Impl::AllocateSlots() {
  slots.resize(options.slots);
  for (size_t number = 0; number < slots.size(); ++number) {
    BatchSlot& slot = slots[number];
    slot.number = static_cast<int>(number);
    void* buffer =
        options.allocate ? options.allocate(plan.slot_bytes) : AllocateBuffer(plan.slot_bytes);
    if (buffer == nullptr) {
      return InvalidArgumentError("no memory for " + std::to_string(slots.size()) + " slots of " +
                                  std::to_string(plan.slot_bytes) +
                                  " bytes; use a smaller global_batch or fewer slots");
    }
    slot.buffer = static_cast<uint8_t*>(buffer);
    if (reinterpret_cast<uintptr_t>(buffer) % kBufferAlignment != 0) {
      return InvalidArgumentError("allocate returned a buffer that is not 64-byte aligned");
    }
    slot.records.reserve(plan.capacity_rows);
    slot.weights.reserve(plan.capacity_rows);
    slot.records_ahead.reserve(plan.capacity_rows);
    for (const FieldPlan& field : plan.fields) {
      FieldView view;
      view.name = dataset->schema().fields[field.stored_index].name;
      view.dtype = field.delivered.dtype;
      view.shape = field.delivered.shape;
      view.shape.insert(view.shape.begin(), 0);
      view.data = slot.buffer + field.slot_offset;
      slot.fields.push_back(std::move(view));
    }
  }
  return OkStatus();
}

Status BatchLoader::Impl::Start() {
  next_epoch = options.first_epoch;
  next_step = options.first_step;
  steps_ahead = std::max<uint64_t>(1, kMinRowsAhead / plan.capacity_rows);
  workers = std::vector<Worker>(options.threads);
  for (Worker& worker : workers) worker.staging.resize(plan.staging_bytes);
  PipelineOptions pipeline_options;
  pipeline_options.threads = options.threads;
  pipeline_options.max_in_flight = options.slots;
  ASSIGN_OR_RETURN(pipeline,
                   OrderedPipeline::Start(
                       pipeline_options,
                       [this](const OrderedPipeline::Item& item) { return ProduceBatch(item); },
                       [this](const OrderedPipeline::Item& item, uint32_t part, int worker) {
                         return FillPart(item, part, worker);
                       }));
  return OkStatus();
}

const EpochOrder* BatchLoader::Impl::OrderOf(uint64_t epoch) {
  if (options.order == Order::kStored) return nullptr;
  if (!order.has_value() || order_epoch != epoch) {
    order.emplace(plan.split->records(), options.seed, epoch, plan.split->name());
    order_epoch = epoch;
  }
  return &*order;
}

// Works out which records a batch holds; the workers then fill it.
Result<std::optional<OrderedPipeline::Size>> BatchLoader::Impl::ProduceBatch(
    const OrderedPipeline::Item& item) {
  if (item.index >= plan.batches) return std::optional<OrderedPipeline::Size>();
  if (next_step == plan.steps_per_epoch) {
    next_step = 0;
    ++next_epoch;
  }
  BatchSlot& slot = slots[item.slot];
  slot.epoch = next_epoch;
  slot.step = next_step++;
  const StepRows rows = plan.RowsOfStep(options, slot.step);
  slot.rows = rows.rows;
  slot.global_rows = rows.global_rows;
  FillRecords(plan, rows, OrderOf(slot.epoch), &slot.records, &slot.weights);
  FillAhead(&slot);
  for (FieldView& view : slot.fields) view.shape[0] = static_cast<int64_t>(rows.rows);
  return std::optional<OrderedPipeline::Size>({plan.slot_bytes, plan.PartsOf(rows.rows)});
}

bool BatchLoader::Impl::WantsReadAhead() const {
  if (options.read_ahead == ReadAhead::kWhenCold) {
    return cold_parts.load(std::memory_order_relaxed) > 0;
  }
  return options.read_ahead == ReadAhead::kAlways;
}

// The rows that read-ahead asks for while this batch is read. Only within the epoch: the next
// one begins with a few reads that nobody announced.
void BatchLoader::Impl::FillAhead(BatchSlot* slot) {
  slot->records_ahead.clear();
  if (!WantsReadAhead()) return;
  const uint64_t step = slot->step + static_cast<uint64_t>(options.slots) - 1 + steps_ahead;
  if (step >= plan.steps_per_epoch) return;
  const StepRows rows = plan.RowsOfStep(options, step);
  const uint64_t records = plan.split->records();
  if (rows.first_position >= records) return;
  const uint64_t count = std::min(rows.rows, records - rows.first_position);
  slot->records_ahead.resize(count);
  if (const EpochOrder* epoch_order = OrderOf(slot->epoch)) {
    epoch_order->Fill(rows.first_position, count, slot->records_ahead.data());
  } else {
    for (uint64_t row = 0; row < count; ++row) {
      slot->records_ahead[row] = rows.first_position + row;
    }
  }
}

Status BatchLoader::Impl::FillPart(const OrderedPipeline::Item& item, uint32_t part,
                                   int worker_number) {
  const BatchSlot& slot = slots[item.slot];
  Worker& worker = workers[worker_number];
  Rows rows;
  rows.begin = part * plan.rows_per_part;
  rows.end = std::min(slot.rows, rows.begin + plan.rows_per_part);
  PrefetchAhead(slot, rows);
  Clock::duration reading(0);
  Clock::duration expanding(0);
  Clock::time_point start = Clock::now();
  for (const FieldPlan& field : plan.fields) {
    uint8_t* out = slot.buffer + field.slot_offset + rows.begin * field.delivered_bytes;
    uint8_t* decoded = field.IsDirect() ? out : worker.staging.data();
    RETURN_IF_ERROR(ReadField(slot, field, rows, decoded, &worker));
    const Clock::time_point read = Clock::now();
    reading += read - start;
    start = read;
    if (!field.expander.has_value()) continue;
    RETURN_IF_ERROR(ExpandField(slot, field, rows, decoded, out));
    start = Clock::now();
    expanding += start - read;
  }
  NoteWhetherCold(rows, Nanoseconds(reading), &worker);
  read_ns.fetch_add(Nanoseconds(reading), std::memory_order_relaxed);
  expand_ns.fetch_add(Nanoseconds(expanding), std::memory_order_relaxed);
  records_read.fetch_add(rows.end - rows.begin, std::memory_order_relaxed);
  return OkStatus();
}

// The count of pages that came from disk is looked at only after a part that was slow for memory.
void BatchLoader::Impl::NoteWhetherCold(Rows rows, uint64_t reading_ns, Worker* worker) {
  const int before = cold_parts.load(std::memory_order_relaxed);
  if (before > 0) cold_parts.store(before - 1, std::memory_order_relaxed);
  const uint64_t memory_ns = (rows.end - rows.begin) * plan.record_bytes;  // at 1 GB/s
  if (reading_ns <= memory_ns) return;
  const int64_t faults = MajorFaults();
  if (faults > worker->major_faults) cold_parts.store(kColdParts, std::memory_order_relaxed);
  worker->major_faults = faults;
}

Status BatchLoader::Impl::ReadField(const BatchSlot& slot, const FieldPlan& field, Rows rows,
                                    uint8_t* out, Worker* worker) const {
  for (uint64_t row = rows.begin; row < rows.end; ++row) {
    const auto [shard, record] = plan.split->Locate(slot.records[row]);
    if (row + kRowsWarm < slot.rows) {
      const auto [warm_shard, warm_record] = plan.split->Locate(slot.records[row + kRowsWarm]);
      warm_shard->Warm(warm_record, field.stored_index);
    }
    RETURN_IF_ERROR(
        shard->Read(record, field.stored_index, out, field.stored_bytes, &worker->scratch));
    out += field.stored_bytes;
  }
  return OkStatus();
}

Status BatchLoader::Impl::ExpandField(const BatchSlot& slot, const FieldPlan& field, Rows rows,
                                      const uint8_t* stored, uint8_t* out) const {
  for (uint64_t row = rows.begin; row < rows.end; ++row) {
    Status status = field.expander->Expand(stored, out);
    if (!status.ok()) {
      const auto [shard, record] = plan.split->Locate(slot.records[row]);
      return status.WithContext(shard->path() + ": record " + std::to_string(record) + ", field '" +
                                field.delivered.name + "'");
    }
    stored += field.stored_bytes;
    out += field.delivered_bytes;
  }
  return OkStatus();
}

void BatchLoader::Impl::PrefetchAhead(const BatchSlot& slot, Rows rows) const {
  const uint64_t end = std::min<uint64_t>(rows.end, slot.records_ahead.size());
  for (uint64_t row = rows.begin; row < end; ++row) {
    const auto [shard, record] = plan.split->Locate(slot.records_ahead[row]);
    shard->Prefetch(record);
  }
}

Result<std::unique_ptr<BatchLoader>> BatchLoader::Open(std::shared_ptr<const Dataset> dataset,
                                                       const BatchLoaderOptions& options) {
  SHARDMILL_CHECK(dataset != nullptr);
  auto impl = std::make_unique<Impl>();
  ASSIGN_OR_RETURN(impl->plan, PlanBatches(*dataset, options));
  impl->dataset = std::move(dataset);
  impl->options = options;
  RETURN_IF_ERROR(impl->AllocateSlots());
  RETURN_IF_ERROR(impl->Start());
  return std::unique_ptr<BatchLoader>(new BatchLoader(std::move(impl)));
}

BatchLoader::BatchLoader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

BatchLoader::~BatchLoader() = default;

Result<std::optional<Batch>> BatchLoader::Next() {
  // The ring has no free slot in which the pipeline could notice its end, or go on.
  if (impl_->batches_taken == impl_->plan.batches) return std::optional<Batch>();
  if (impl_->batches_held == impl_->options.slots) {
    return InvalidArgumentError("all " + std::to_string(impl_->options.slots) +
                                " batches of the loader are held by the caller; destroy one " +
                                "before asking for the next, or open the loader with more slots");
  }
  ASSIGN_OR_RETURN(const std::optional<OrderedPipeline::Item> item, impl_->pipeline->Take());
  if (!item.has_value()) return std::optional<Batch>();
  ++impl_->batches_taken;
  ++impl_->batches_held;
  return std::optional<Batch>(Batch(this, &impl_->slots[item->slot]));
}

void BatchLoader::Release(BatchSlot* slot) {
  --impl_->batches_held;
  impl_->pipeline->Release(slot->number);
}

void BatchLoader::Cancel() { impl_->pipeline->Cancel(); }

uint64_t BatchLoader::steps_per_epoch() const { return impl_->plan.steps_per_epoch; }

LoaderTimes BatchLoader::times() const {
  const OrderedPipeline::Times pipeline_times = impl_->pipeline->times();
  LoaderTimes times;
  times.read_ns = impl_->read_ns.load(std::memory_order_relaxed);
  times.expand_ns = impl_->expand_ns.load(std::memory_order_relaxed);
  times.wait_for_slot_ns = pipeline_times.workers_idle_ns;
  times.consumer_wait_ns = pipeline_times.take_wait_ns;
  times.batches = impl_->batches_taken;
  times.records = impl_->records_read.load(std::memory_order_relaxed);
  return times;
}

}  // namespace shardmill
