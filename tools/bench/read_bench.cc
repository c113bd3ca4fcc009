#include "tools/bench/read_bench.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/dataset.h"
#include "tools/bench/record_places.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

constexpr uint64_t kBatchBytes = uint64_t{4} << 20;
constexpr uint64_t kLeastBatch = 4;
constexpr uint64_t kMostBatch = 4096;
// An epoch of a small set is repeated up to so much data, or so many batches, per turn.
constexpr uint64_t kTurnBytes = uint64_t{128} << 20;
constexpr uint64_t kTurnBatches = 2000;
constexpr uint64_t kTraceSpans = 1 << 16;

// A set and how it is going to be read.
struct Target {
  std::string path;
  std::string split;
  std::vector<int> fields;  // those of fixed shape
  std::vector<FieldRequest> requests;
  std::string description;
  uint64_t records = 0;
  uint64_t record_bytes = 0;
  uint64_t batch = 0;
  uint64_t turn_epochs = 1;
};

void AddFields(const RecordSchema& schema, Target* target) {
  for (size_t field = 0; field < schema.fields.size(); ++field) {
    const FieldSpec& spec = schema.fields[field];
    if (!spec.IsFixedShape()) continue;
    target->fields.push_back(static_cast<int>(field));
    FieldRequest request;
    request.name = spec.name;
    target->requests.push_back(request);
    if (!target->description.empty()) target->description += ", ";
    target->description += spec.name + " " + std::string(CodecName(spec.codec));
    target->record_bytes += spec.TensorBytes();
  }
}

Result<Target> MakeTarget(const ReadBenchOptions& options) {
  ASSIGN_OR_RETURN(const auto dataset, Dataset::Open(options.path, options.split));
  Target target;
  target.path = options.path;
  target.split = options.split.empty() ? dataset->split_names().front() : options.split;
  ASSIGN_OR_RETURN(const Dataset::Split* split, dataset->split(target.split));
  target.records = split->records();
  AddFields(dataset->schema(), &target);
  if (target.fields.empty()) {
    return InvalidArgumentError(options.path +
                                " has no field of fixed shape, which is what is measured here");
  }
  if (target.records == 0) {
    return InvalidArgumentError(options.path + ": split " + target.split + " has no records");
  }
  target.batch = options.batch > 0
                     ? options.batch
                     : std::clamp(kBatchBytes / std::max<uint64_t>(1, target.record_bytes),
                                  kLeastBatch, kMostBatch);
  target.batch = std::min(target.batch, target.records);
  const uint64_t epoch_bytes = std::max<uint64_t>(1, target.records * target.record_bytes);
  const uint64_t epoch_batches = target.records / target.batch;
  target.turn_epochs =
      std::max<uint64_t>(1, std::min(kTurnBytes / epoch_bytes, kTurnBatches / epoch_batches));
  return target;
}

BatchLoaderOptions LoaderOptions(const Target& target, int threads) {
  BatchLoaderOptions options;
  options.split = target.split;
  options.fields = target.requests;
  options.global_batch = target.batch;
  options.threads = threads;
  options.epochs = ~uint64_t{0};
  return options;
}

// Takes batches and drops them.
Status TakeBatches(BatchLoader* loader, uint64_t batches) {
  for (uint64_t batch = 0; batch < batches; ++batch) {
    RETURN_IF_ERROR(CheckInterrupt());
    ASSIGN_OR_RETURN(const std::optional<Batch> taken, loader->Next());
    SHARDMILL_CHECK(taken.has_value());
  }
  return OkStatus();
}

void AddTimes(const LoaderTimes& before, const LoaderTimes& after, LoaderTimes* sum) {
  sum->disk_ns += after.disk_ns - before.disk_ns;
  sum->copy_ns += after.copy_ns - before.copy_ns;
  sum->checksum_ns += after.checksum_ns - before.checksum_ns;
  sum->decode_ns += after.decode_ns - before.decode_ns;
  sum->expand_ns += after.expand_ns - before.expand_ns;
  sum->wait_for_slot_ns += after.wait_for_slot_ns - before.wait_for_slot_ns;
  sum->plan_ns += after.plan_ns - before.plan_ns;
  sum->consumer_wait_ns += after.consumer_wait_ns - before.consumer_wait_ns;
  sum->batches += after.batches - before.batches;
  sum->records += after.records - before.records;
}

// One turn of a loader: the set is opened anew, so that nothing of it is mapped or verified. The
// ring of a loader whose batches are dropped at once is as full after an epoch as before it.
Status TakeTurn(const Target& target, ChecksumPolicy policy, int threads, LoaderFigures* figures) {
  ASSIGN_OR_RETURN(const auto dataset, Dataset::Open(target.path, target.split, policy));
  const Stopwatch first;
  ASSIGN_OR_RETURN(const std::unique_ptr<BatchLoader> loader,
                   BatchLoader::Open(dataset, LoaderOptions(target, threads)));
  const uint64_t steps = loader->steps_per_epoch();
  RETURN_IF_ERROR(TakeBatches(loader.get(), steps));
  figures->first_epoch = Faster(figures->first_epoch, first.Stop(steps * target.batch));
  const LoaderTimes before = loader->times();
  const uint64_t later_steps = steps * target.turn_epochs;
  const Stopwatch later;
  RETURN_IF_ERROR(TakeBatches(loader.get(), later_steps));
  figures->later_epoch = Faster(figures->later_epoch, later.Stop(later_steps * target.batch));
  AddTimes(before, loader->times(), &figures->times);
  return OkStatus();
}

std::vector<uint64_t> ShuffledEpochs(const Target& target, uint64_t seed) {
  std::vector<uint64_t> order;
  order.reserve(target.records * target.turn_epochs);
  RandomStream random(seed);
  for (uint64_t epoch = 0; epoch < target.turn_epochs; ++epoch) {
    const auto begin = static_cast<int64_t>(order.size());
    order.resize(order.size() + target.records);
    std::iota(order.begin() + begin, order.end(), uint64_t{0});
    uint64_t* records = order.data() + begin;
    for (uint64_t i = target.records; i > 1; --i) {
      std::swap(records[i - 1], records[random.Below(i)]);
    }
    order.resize(order.size() - target.records % target.batch);
  }
  return order;
}

Status TakeBareTurn(BareLoopKind kind, const std::vector<uint64_t>& order, BareLoop* loop,
                    Rate* best) {
  RETURN_IF_ERROR(CheckInterrupt());
  ASSIGN_OR_RETURN(const Rate rate, loop->Run(kind, order));
  *best = Faster(*best, rate);
  return OkStatus();
}

}  // namespace

Result<ReadFigures> MeasureReading(const ReadBenchOptions& options) {
  ASSIGN_OR_RETURN(const Target target, MakeTarget(options));
  ASSIGN_OR_RETURN(const auto dataset,
                   Dataset::Open(target.path, target.split, ChecksumPolicy::kOff));
  ASSIGN_OR_RETURN(const std::unique_ptr<RecordPlaces> places,
                   RecordPlaces::Open(*dataset, target.split, target.fields));
  ReadFigures figures;
  figures.set = target.path;
  figures.fields = target.description;
  figures.records = target.records;
  figures.record_bytes = target.record_bytes;
  figures.batch = target.batch;
  figures.threads = options.threads;
  BareLoop loop(places.get(), target.batch, options.threads);
  Rate warm_up;
  RETURN_IF_ERROR(TakeBareTurn(BareLoopKind::kGather, ShuffledEpochs(target, 0), &loop, &warm_up));
  for (int round = 0; round < options.rounds; ++round) {
    const auto order = ShuffledEpochs(target, static_cast<uint64_t>(round) + 1);
    RETURN_IF_ERROR(TakeTurn(target, ChecksumPolicy::kOff, options.threads, &figures.unchecked));
    RETURN_IF_ERROR(TakeBareTurn(BareLoopKind::kGather, order, &loop, &figures.gather));
    RETURN_IF_ERROR(
        TakeTurn(target, ChecksumPolicy::kFirstTouch, options.threads, &figures.first_touch));
    RETURN_IF_ERROR(TakeBareTurn(BareLoopKind::kPread, order, &loop, &figures.pread));
  }
  return figures;
}

Result<OneHotFigures> MeasureOneHot(const ReadBenchOptions& options) {
  constexpr int kSlots = 3;
  ASSIGN_OR_RETURN(Target target, MakeTarget(options));
  FieldRequest request;
  request.name = "label";
  request.delivery = Delivery::kOneHotF32;
  target.requests = {request};
  ASSIGN_OR_RETURN(const auto dataset,
                   Dataset::Open(target.path, target.split, ChecksumPolicy::kOff));
  BatchLoaderOptions loader_options = LoaderOptions(target, options.threads);
  loader_options.slots = kSlots;
  ASSIGN_OR_RETURN(const std::unique_ptr<BatchLoader> loader,
                   BatchLoader::Open(dataset, loader_options));
  OneHotFigures figures;
  figures.threads = options.threads;
  figures.label = target.description;
  {
    ASSIGN_OR_RETURN(const std::optional<Batch> batch, loader->Next());
    const FieldView& view = batch->field(0);
    figures.output_bytes = DTypeBytes(view.dtype);
    for (size_t axis = 1; axis < view.shape.size(); ++axis) {
      figures.output_bytes *= static_cast<uint64_t>(view.shape[axis]);
    }
  }
  const uint64_t batches = std::min<uint64_t>(loader->steps_per_epoch(), 16);
  RETURN_IF_ERROR(TakeBatches(loader.get(), kSlots));  // the memory of every slot is there
  for (int round = 0; round < options.rounds; ++round) {
    const Stopwatch stopwatch;
    RETURN_IF_ERROR(TakeBatches(loader.get(), batches));
    const Rate rate = stopwatch.Stop(batches * target.batch);
    figures.bytes_per_second = std::max(
        figures.bytes_per_second, rate.per_second() * static_cast<double>(figures.output_bytes));
    figures.memset_bytes_per_second =
        std::max(figures.memset_bytes_per_second,
                 MeasureMemset(figures.output_bytes * target.batch, kSlots, options.threads));
  }
  return figures;
}

Status WriteReadTrace(const ReadBenchOptions& options, const std::string& trace_path) {
  ASSIGN_OR_RETURN(const Target target, MakeTarget(options));
  ASSIGN_OR_RETURN(const auto dataset, Dataset::Open(target.path, target.split));
  BatchLoaderOptions loader_options = LoaderOptions(target, options.threads);
  loader_options.trace_spans = kTraceSpans;
  ASSIGN_OR_RETURN(const std::unique_ptr<BatchLoader> loader,
                   BatchLoader::Open(dataset, loader_options));
  RETURN_IF_ERROR(TakeBatches(loader.get(), loader->steps_per_epoch()));
  return loader->WriteTrace(trace_path);
}

Status TakeFirstBatch(const ReadBenchOptions& options) {
  ASSIGN_OR_RETURN(const Target target, MakeTarget(options));
  ASSIGN_OR_RETURN(const auto dataset, Dataset::Open(target.path, target.split));
  ASSIGN_OR_RETURN(const std::unique_ptr<BatchLoader> loader,
                   BatchLoader::Open(dataset, LoaderOptions(target, options.threads)));
  return TakeBatches(loader.get(), 1);
}

}  // namespace shardmill
