#include "reader/batch_plan.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "reader/base/thread_budget.h"
#include "reader/epoch_order.h"
#include "reader/run_reader.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxGlobalBatch = std::numeric_limits<uint32_t>::max();
constexpr int kMaxSlots = 1024;
constexpr uint64_t kMaxTraceSpans = uint64_t{1} << 24;  // of each thread: 640 MiB
constexpr uint64_t kMaxSlotBytes = uint64_t{1} << 46;
// Each field starts on a page: it can be the target of direct I/O and of one DMA.
constexpr uint64_t kFieldAlignment = 4096;
// A part is what one worker claims at once: large enough that claiming costs nothing beside it,
// small enough to stay in the second cache level and to share one batch among the workers.
constexpr uint64_t kPartBytes = 256 * 1024;

std::string Number(uint64_t value) { return std::to_string(value); }

Status CheckRanks(const BatchLoaderOptions& options) {
  if (options.ranks == 0 || options.rank >= options.ranks) {
    return InvalidArgumentError("rank is " + Number(options.rank) + " and ranks is " +
                                Number(options.ranks) + "; rank must be below ranks");
  }
  if (options.global_batch < options.ranks || options.global_batch > kMaxGlobalBatch) {
    return InvalidArgumentError("global_batch is " + Number(options.global_batch) +
                                "; it must be at least the number of ranks, " +
                                Number(options.ranks) + ", and below 2^32");
  }
  return OkStatus();
}

Status CheckResources(const BatchLoaderOptions& options) {
  // Before anything is allocated for each of them.
  if (options.threads < 1 || options.threads > kMaxThreads) {
    return InvalidArgumentError("threads is " + std::to_string(options.threads) +
                                "; it must be 1 to " + std::to_string(kMaxThreads));
  }
  if (options.slots < 1 || options.slots > kMaxSlots) {
    return InvalidArgumentError("slots is " + std::to_string(options.slots) + "; it must be 1 to " +
                                std::to_string(kMaxSlots));
  }
  if (options.trace_spans > kMaxTraceSpans) {
    return InvalidArgumentError("trace_spans is " + Number(options.trace_spans) +
                                "; it must be at most " + Number(kMaxTraceSpans));
  }
  if (static_cast<bool>(options.allocate) != static_cast<bool>(options.release)) {
    return InvalidArgumentError("allocate and release must be given together");
  }
  return OkStatus();
}

// Fills in steps_per_epoch and batches.
Status PlanSteps(const BatchLoaderOptions& options, BatchPlan* plan) {
  const uint64_t records = plan->order->length();
  const uint64_t batch = options.global_batch;
  const bool drop = options.tail == TailPolicy::kDrop;
  plan->steps_per_epoch = records / batch + (!drop && records % batch != 0 ? 1 : 0);
  if (plan->steps_per_epoch == 0) {
    return InvalidArgumentError(
        "an epoch of split '" + options.split + "' has " + Number(records) +
        " records, fewer than one global_batch of " + Number(batch) +
        ", and the tail policy is drop; use a smaller batch, or the policy pad or partial");
  }
  if (options.epochs == 0) return InvalidArgumentError("epochs is 0; it must be at least 1");
  if (options.first_step > plan->steps_per_epoch) {
    return InvalidArgumentError("first_step is " + Number(options.first_step) +
                                ", but an epoch has " + Number(plan->steps_per_epoch) + " steps");
  }
  if (options.epochs > std::numeric_limits<uint64_t>::max() / plan->steps_per_epoch) {
    plan->batches = std::numeric_limits<uint64_t>::max();  // for ever
  } else {
    plan->batches = options.epochs * plan->steps_per_epoch - options.first_step;
  }
  return OkStatus();
}

Status PlanOrder(const Dataset& dataset, const BatchLoaderOptions& options, BatchPlan* plan) {
  if (plan->split->records() == 0) {
    return InvalidArgumentError("split '" + options.split + "' has no records");
  }
  OrderOptions order_options;
  order_options.order = options.order;
  order_options.block_window = options.block_window;
  order_options.weights = options.weights;
  order_options.variants = options.variants;
  order_options.seed = options.seed;
  order_options.buckets = options.buckets;
  order_options.global_batch = options.global_batch;
  order_options.passes_over_bad_records = options.bad_records != BadRecordPolicy::kFail;
  ASSIGN_OR_RETURN(plan->order, OrderPlan::Create(dataset, *plan->split, std::move(order_options)));
  return OkStatus();
}

Status PlanFields(const Dataset& dataset, const BatchLoaderOptions& options, BatchPlan* plan) {
  std::vector<FieldRequest> requests = options.fields;
  if (requests.empty()) {
    for (const FieldSpec& field : dataset.schema().fields) requests.push_back({field.name});
  }
  RETURN_IF_ERROR(CheckAugment(options.augment));
  plan->augment = options.augment;
  const FieldPlanner planner{dataset, *plan->split, plan->augment};
  std::set<std::string> names;
  for (const FieldRequest& request : requests) {
    if (!names.insert(request.name).second) {
      return InvalidArgumentError("field '" + request.name + "' is asked for twice");
    }
    ASSIGN_OR_RETURN(FieldPlan field, planner.Plan(request));
    plan->fields.push_back(std::move(field));
  }
  if (plan->augment.IsOn()) return CheckSpatialFields(plan->fields);
  return OkStatus();
}

// What coding adds to a tensor that it cannot make smaller: less than a 256th and a few headers.
uint64_t MostCodedBytes(uint64_t tensor_bytes) { return tensor_bytes + tensor_bytes / 256 + 1024; }

uint64_t DivideUp(uint64_t value, uint64_t by) { return (value + by - 1) / by; }

// So many that each thread has as many parts, and the parts are alike. Rows that are only copied
// need not stay in a cache for a second step: then two parts for each thread are enough to share a
// batch, and the fewer there are the less the threads meet.
uint64_t RowsPerPart(const BatchPlan& plan, int threads) {
  constexpr uint64_t kPartsPerThread = 2;
  const bool only_copies =
      std::all_of(plan.fields.begin(), plan.fields.end(), [](const FieldPlan& field) {
        return field.IsPlain() && !field.IsCoded() && !field.Converts() && !field.Delivers();
      });
  const uint64_t share = DivideUp(plan.capacity_rows, static_cast<uint64_t>(threads));
  const uint64_t rows =
      std::clamp<uint64_t>(kPartBytes / std::max<uint64_t>(1, plan.record_bytes), 1, share);
  uint64_t parts = DivideUp(share, rows);
  if (only_copies) parts = std::min(parts, kPartsPerThread);
  return DivideUp(share, parts);
}

// Lays the fields out in a slot and sizes the parts.
Status PlanSlot(int threads, BatchPlan* plan) {
  for (FieldPlan& field : plan->fields) {
    field.slot_offset = plan->slot_bytes;
    plan->record_bytes += std::max(field.stored_bytes, field.delivered_bytes);
    const uint64_t room = (kMaxSlotBytes - plan->slot_bytes) / plan->capacity_rows;
    if (field.delivered_bytes > room) {
      return InvalidArgumentError("a batch of " + Number(plan->capacity_rows) +
                                  " records takes more than 64 TiB; use a smaller global_batch");
    }
    const uint64_t bytes = field.delivered_bytes * plan->capacity_rows;
    plan->slot_bytes += (bytes + kFieldAlignment - 1) / kFieldAlignment * kFieldAlignment;
  }
  plan->slot_bytes = std::max(plan->slot_bytes, kFieldAlignment);
  plan->rows_per_part = RowsPerPart(*plan, threads);
  for (const FieldPlan& field : plan->fields) {
    if (field.IsCoded()) {
      const uint64_t bytes = MostCodedBytes(field.stored_bytes);
      plan->coded_bytes =
          std::max(plan->coded_bytes,
                   field.IsPlain() ? RunReader::ScratchBytes(bytes, plan->rows_per_part) : bytes);
    }
    if (!field.IsPlain()) {
      const uint64_t stages = (field.has_window ? 1 : 0) + (field.padding.has_value() ? 1 : 0);
      plan->shaping_bytes =
          std::max(plan->shaping_bytes, field.stored_bytes + stages * field.shaped_bytes);
      continue;
    }
    if (!field.Converts()) continue;
    plan->staging_bytes = std::max(plan->staging_bytes, field.stored_bytes * plan->rows_per_part);
  }
  return OkStatus();
}

Status CheckMemory(const BatchLoaderOptions& options, const BatchPlan& plan) {
  const uint64_t bytes = plan.MemoryBytes(options);
  if (options.max_bytes == 0 || bytes <= options.max_bytes) return OkStatus();
  return InvalidArgumentError("the loader needs " + Number(bytes) +
                              " bytes: " + Number(static_cast<uint64_t>(options.slots)) +
                              " slots of " + Number(plan.slot_bytes) + " and the memory of " +
                              Number(static_cast<uint64_t>(options.threads)) +
                              " threads; max_bytes is " + Number(options.max_bytes) +
                              ". Use a smaller global_batch, or fewer slots or threads");
}

}  // namespace

uint64_t BatchPlan::MemoryBytes(const BatchLoaderOptions& options) const {
  // The numbers of its records, as planned, as delivered and ahead, its weights and its lengths.
  uint64_t row_bytes = 3 * sizeof(uint64_t) + sizeof(float);
  for (const FieldPlan& field : fields) row_bytes += field.longest.size() * sizeof(uint32_t);
  return static_cast<uint64_t>(options.slots) * (slot_bytes + capacity_rows * row_bytes) +
         static_cast<uint64_t>(options.threads) * (staging_bytes + shaping_bytes + coded_bytes);
}

Result<BatchPlan> PlanBatches(const Dataset& dataset, const BatchLoaderOptions& options) {
  RETURN_IF_ERROR(CheckRanks(options));
  RETURN_IF_ERROR(CheckResources(options));
  BatchPlan plan;
  ASSIGN_OR_RETURN(plan.split, dataset.split(options.split));
  RETURN_IF_ERROR(PlanOrder(dataset, options, &plan));
  RETURN_IF_ERROR(PlanSteps(options, &plan));
  RETURN_IF_ERROR(PlanFields(dataset, options, &plan));
  plan.capacity_rows = (options.global_batch + options.ranks - 1) / options.ranks;
  RETURN_IF_ERROR(PlanSlot(options.threads, &plan));
  RETURN_IF_ERROR(CheckMemory(options, plan));
  return plan;
}

StepRows BatchPlan::GlobalRowsOfStep(const BatchLoaderOptions& options, uint64_t step) const {
  StepRows global;
  global.first_position = step * options.global_batch;
  global.global_rows = std::min(options.global_batch, order->length() - global.first_position);
  global.rows = options.tail == TailPolicy::kPartial ? global.global_rows : options.global_batch;
  return global;
}

StepRows BatchPlan::RowsOfStep(const BatchLoaderOptions& options, uint64_t step) const {
  StepRows rows = GlobalRowsOfStep(options, step);
  const RankSlice slice = SliceForRank(rows.rows, options.rank, options.ranks);
  rows.first_position += slice.begin;
  rows.rows = slice.end - slice.begin;
  return rows;
}

bool BatchPlan::HasPadding() const {
  return std::any_of(fields.begin(), fields.end(),
                     [](const FieldPlan& field) { return field.padding.has_value(); });
}

uint32_t BatchPlan::PartsOf(uint64_t rows) const {
  return static_cast<uint32_t>(std::max<uint64_t>(1, (rows + rows_per_part - 1) / rows_per_part));
}

Status FillRecords(const StepRows& rows, RecordOrder* order, std::vector<uint64_t>* records,
                   std::vector<float>* weights) {
  const uint64_t length = order->length();
  const uint64_t first = std::min(rows.first_position, length);
  const uint64_t sound = std::min(rows.rows, length - first);
  records->resize(rows.rows);
  weights->assign(rows.rows, 0.0f);
  std::fill_n(weights->begin(), sound, 1.0f);
  RETURN_IF_ERROR(order->Fill(first, sound, records->data()));
  // Padding goes through the epoch once more, from its start.
  for (uint64_t row = sound; row < rows.rows; ++row) {
    const uint64_t position = (rows.first_position + row) % length;
    RETURN_IF_ERROR(order->Fill(position, 1, &(*records)[row]));
  }
  return OkStatus();
}

}  // namespace shardmill
