#include "reader/batch_loader.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include "reader/base/ordered_pipeline.h"
#include "reader/batch_filler.h"
#include "reader/batch_plan.h"
#include "reader/batch_shape.h"
#include "reader/batch_slot.h"
#include "reader/direct_reader.h"
#include "reader/keyed_permutation.h"
#include "reader/loader_trace.h"
#include "reader/record_order.h"
#include "reader/stage_clock.h"

namespace shardmill {
namespace {

// From this size on, transparent huge pages are worth asking for.
constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;
constexpr uint64_t kBufferAlignment = 64;
// Read-ahead works this many rows ahead of the ring at least, so that small batches too keep
// several requests in the disk's queue.
constexpr uint64_t kMinRowsAhead = 64;
void* AllocateBuffer(uint64_t bytes) {
  const bool huge = bytes >= kHugePageBytes;
  const uint64_t alignment = huge ? kHugePageBytes : 4096;
  const uint64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* buffer = std::aligned_alloc(alignment, rounded);
  if (buffer != nullptr && huge) madvise(buffer, rounded, MADV_HUGEPAGE);
  return buffer;
}

}  // namespace

struct LoaderState {
  std::shared_ptr<const Dataset> dataset;
  BatchLoaderOptions options;
  BatchPlan plan;
  std::vector<BatchSlot> slots;
  std::unique_ptr<DirectReader> direct;  // for Io::kDirect
  std::unique_ptr<BatchFiller> filler;

  // The position of production: only the pipeline's produce callback touches it.
  uint64_t next_epoch = 0;
  uint64_t next_step = 0;
  std::unique_ptr<RecordOrder> order;
  std::optional<uint64_t> order_epoch;
  OrderKey augment_key;  // of the same epoch
  std::unique_ptr<BatchShape> shape;
  uint64_t steps_ahead = 1;

  StageClock plan_clock{Stage::kConsumer};      // of whichever thread produces
  StageClock consumer_clock{Stage::kConsumer};  // of the caller of Next()
  std::atomic<uint64_t> batches_taken{0};
  std::atomic<int> batches_held{0};

  std::unique_ptr<OrderedPipeline> pipeline;

  ~LoaderState();
  Status AllocateSlots();
  Status OpenDirect();
  Status Start();

  Result<std::optional<OrderedPipeline::Size>> ProduceBatch(const OrderedPipeline::Item& item);
  RecordOrder* OrderOf(uint64_t epoch);
  Status FillAhead(BatchSlot* slot);
};

LoaderState::~LoaderState() {
  pipeline.reset();  // joins the threads that write to the buffers
  direct.reset();    // waits for the reads into them
  for (BatchSlot& slot : slots) {
    if (slot.buffer == nullptr) continue;
    if (options.release) {
      options.release(slot.buffer, plan.slot_bytes);
    } else {
      std::free(slot.buffer);
    }
  }
}

Status LoaderState::AllocateSlots() {
  slots.resize(options.slots);
  for (size_t number = 0; number < slots.size(); ++number) {
    BatchSlot& slot = slots[number];
    slot.number = static_cast<int>(number);
    void* buffer =
        options.allocate ? options.allocate(plan.slot_bytes) : AllocateBuffer(plan.slot_bytes);
    if (buffer == nullptr) {
      return IoError("no memory for " + std::to_string(slots.size()) + " batches of " +
                     std::to_string(plan.slot_bytes) +
                     " bytes; use a smaller batch or fewer slots");
    }
    slot.buffer = static_cast<uint8_t*>(buffer);
    if (reinterpret_cast<uintptr_t>(buffer) % kBufferAlignment != 0) {
      return InvalidArgumentError("allocate returned a buffer that is not 64-byte aligned");
    }
    slot.records.reserve(plan.capacity_rows);
    slot.delivered.reserve(plan.capacity_rows);
    slot.weights.reserve(plan.capacity_rows);
    slot.records_ahead.reserve(plan.capacity_rows);
    for (const FieldPlan& field : plan.fields) {
      FieldView view;
      view.name = field.stored.name;
      view.dtype = field.delivered.dtype;
      view.shape = field.delivered.shape;
      view.shape.insert(view.shape.begin(), 0);
      view.data = slot.buffer + field.slot_offset;
      slot.fields.push_back(std::move(view));
    }
    shape->Prepare(&slot);
  }
  return OkStatus();
}

Status LoaderState::OpenDirect() {
  if (options.io != Io::kDirect) return OkStatus();
  options.read_ahead = ReadAhead::kNever;
  DirectReader::Options direct_options;
  direct_options.queue_depth = options.queue_depth;
  direct_options.threads = options.threads;
  direct_options.into_slots = options.bad_records == BadRecordPolicy::kFail;
  ASSIGN_OR_RETURN(direct, DirectReader::Open(&plan, slots, direct_options));
  return OkStatus();
}

Status LoaderState::Start() {
  next_epoch = options.first_epoch;
  next_step = options.first_step;
  order = plan.order->NewOrder();
  steps_ahead = std::max<uint64_t>(1, kMinRowsAhead / plan.capacity_rows);
  filler = std::make_unique<BatchFiller>(&plan, options, direct.get());
  plan_clock.KeepSpans(options.trace_spans);
  consumer_clock.KeepSpans(options.trace_spans);
  PipelineOptions pipeline_options;
  pipeline_options.threads = options.threads;
  pipeline_options.max_in_flight = options.slots;
  ASSIGN_OR_RETURN(pipeline,
                   OrderedPipeline::Start(
                       pipeline_options,
                       [this](const OrderedPipeline::Item& item) {
                         plan_clock.Enter(Stage::kPlan);
                         auto size = ProduceBatch(item);
                         plan_clock.SetBatch(slots[item.slot].epoch, slots[item.slot].step);
                         plan_clock.Enter(Stage::kConsumer);
                         return size;
                       },
                       [this](const OrderedPipeline::Item& item, uint32_t part, int worker) {
                         return filler->Fill(&slots[item.slot], part, worker);
                       }));
  return OkStatus();
}

RecordOrder* LoaderState::OrderOf(uint64_t epoch) {
  if (order_epoch != epoch) {
    order->StartEpoch(epoch);
    order_epoch = epoch;
    augment_key = MakeOrderKey(options.seed, epoch, plan.split->name(), "augment");
  }
  return order.get();
}

// Works out which records a batch holds; the workers then fill it.
Result<std::optional<OrderedPipeline::Size>> LoaderState::ProduceBatch(
    const OrderedPipeline::Item& item) {
  if (item.index >= plan.batches) return std::optional<OrderedPipeline::Size>();
  if (next_step == plan.steps_per_epoch) {
    next_step = 0;
    ++next_epoch;
  }
  if (next_step == 0 || item.index == 0) RETURN_IF_ERROR(dataset->CheckUnchanged());
  BatchSlot& slot = slots[item.slot];
  slot.epoch = next_epoch;
  slot.step = next_step++;
  const StepRows rows = plan.RowsOfStep(options, slot.step);
  slot.first_position = rows.first_position;
  slot.rows = rows.rows;
  slot.global_rows = rows.global_rows;
  RETURN_IF_ERROR(FillRecords(rows, OrderOf(slot.epoch), &slot.records, &slot.weights));
  slot.delivered = slot.records;
  slot.augment_key = augment_key;
  RETURN_IF_ERROR(shape->Decide(OrderOf(slot.epoch), &slot));
  RETURN_IF_ERROR(FillAhead(&slot));
  if (direct != nullptr) RETURN_IF_ERROR(direct->Announce(slot));
  return std::optional<OrderedPipeline::Size>({plan.slot_bytes, plan.PartsOf(rows.rows)});
}

// The rows that read-ahead asks for while this batch is read. Only within the epoch: the next
// one begins with a few reads that nobody announced.
Status LoaderState::FillAhead(BatchSlot* slot) {
  slot->records_ahead.clear();
  if (!filler->WantsReadAhead()) return OkStatus();
  const uint64_t step = slot->step + static_cast<uint64_t>(options.slots) - 1 + steps_ahead;
  if (step >= plan.steps_per_epoch) return OkStatus();
  const StepRows rows = plan.RowsOfStep(options, step);
  const uint64_t length = plan.order->length();
  if (rows.first_position >= length) return OkStatus();
  slot->records_ahead.resize(std::min(rows.rows, length - rows.first_position));
  return OrderOf(slot->epoch)
      ->Fill(rows.first_position, slot->records_ahead.size(), slot->records_ahead.data());
}

Result<std::shared_ptr<LoaderState>> BatchLoader::OpenState(std::shared_ptr<const Dataset> dataset,
                                                            const BatchLoaderOptions& options) {
  if (dataset == nullptr) return InvalidArgumentError("the loader was given no data set");
  auto state = std::make_shared<LoaderState>();
  ASSIGN_OR_RETURN(state->plan, PlanBatches(*dataset, options));
  state->dataset = std::move(dataset);
  state->options = options;
  state->options.weights = {};  // the plan has them
  state->shape = std::make_unique<BatchShape>(&state->plan, &state->options);
  RETURN_IF_ERROR(state->AllocateSlots());
  RETURN_IF_ERROR(state->OpenDirect());
  RETURN_IF_ERROR(state->Start());
  return state;
}

Result<std::unique_ptr<BatchLoader>> BatchLoader::Open(std::shared_ptr<const Dataset> dataset,
                                                       const BatchLoaderOptions& options) {
  try {
    ASSIGN_OR_RETURN(std::shared_ptr<LoaderState> state, OpenState(std::move(dataset), options));
    return std::unique_ptr<BatchLoader>(new BatchLoader(std::move(state)));
  } catch (const std::bad_alloc&) {
    return IoError("no memory for batches of " + std::to_string(options.global_batch) +
                   " records; use a smaller batch or fewer slots");
  }
}

BatchLoader::BatchLoader(std::shared_ptr<LoaderState> state) : state_(std::move(state)) {}

BatchLoader::~BatchLoader() { state_->pipeline->Stop(); }

Result<std::optional<Batch>> BatchLoader::Next() {
  // The ring has no free slot in which the pipeline could notice its end, or go on.
  if (state_->batches_taken == state_->plan.batches) return std::optional<Batch>();
  if (state_->batches_held == state_->options.slots) {
    return InvalidArgumentError("all " + std::to_string(state_->options.slots) +
                                " batches of the loader are held by the caller; destroy one " +
                                "before asking for the next, or open the loader with more slots");
  }
  state_->consumer_clock.Enter(Stage::kConsumerWait);
  Result<std::optional<OrderedPipeline::Item>> taken = state_->pipeline->Take();
  if (taken.ok() && taken->has_value()) {
    const BatchSlot& slot = state_->slots[(*taken)->slot];
    state_->consumer_clock.SetBatch(slot.epoch, slot.step);
  }
  state_->consumer_clock.Enter(Stage::kConsumer);
  ASSIGN_OR_RETURN(const std::optional<OrderedPipeline::Item> item, std::move(taken));
  if (!item.has_value()) return std::optional<Batch>();
  ++state_->batches_taken;
  ++state_->batches_held;
  return std::optional<Batch>(Batch(state_, &state_->slots[item->slot]));
}

void ReleaseSlot(LoaderState* loader, BatchSlot* slot) {
  --loader->batches_held;
  loader->pipeline->Release(slot->number);
}

void BatchLoader::Cancel() { state_->pipeline->Cancel(); }

uint64_t BatchLoader::steps_per_epoch() const { return state_->plan.steps_per_epoch; }

uint64_t BatchLoader::memory_bytes() const { return state_->plan.MemoryBytes(state_->options); }

std::vector<BadRecord> BatchLoader::bad_records() const {
  return state_->filler->bad_records().List();
}

LoaderTimes BatchLoader::times() const {
  const OrderedPipeline::Times pipeline_times = state_->pipeline->times();
  LoaderTimes times;
  times.disk_ns = state_->filler->nanoseconds(Stage::kDisk);
  times.copy_ns = state_->filler->nanoseconds(Stage::kCopy);
  times.checksum_ns = state_->filler->nanoseconds(Stage::kChecksum);
  times.decode_ns = state_->filler->nanoseconds(Stage::kDecode);
  times.expand_ns = state_->filler->nanoseconds(Stage::kExpand);
  times.plan_ns = state_->plan_clock.nanoseconds(Stage::kPlan);
  times.wait_for_slot_ns = pipeline_times.workers_idle_ns;
  times.consumer_wait_ns = pipeline_times.take_wait_ns;
  times.batches = state_->batches_taken;
  times.records = state_->filler->records();
  return times;
}

Status BatchLoader::WriteTrace(const std::string& path) const {
  if (state_->options.trace_spans == 0) {
    return InvalidArgumentError("the loader was opened without trace_spans");
  }
  return WriteChromeTrace(path, trace_lanes());
}

std::vector<TraceLane> BatchLoader::trace_lanes() const {
  std::vector<TraceLane> lanes;
  for (int worker = 0; worker < state_->filler->workers(); ++worker) {
    lanes.push_back({"loader worker " + std::to_string(worker), &state_->filler->clock(worker)});
  }
  lanes.push_back({"consumer", &state_->consumer_clock});
  lanes.push_back({"plan", &state_->plan_clock});
  return lanes;
}

}  // namespace shardmill
