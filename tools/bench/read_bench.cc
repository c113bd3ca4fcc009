#include "tools/bench/read_bench.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/dataset.h"
#include "tools/bench/bench_target.h"
#include "tools/bench/record_places.h"

namespace shardmill {
namespace {

constexpr uint64_t kTraceSpans = 1 << 16;

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
Status TakeTurn(const BenchTarget& target, ChecksumPolicy policy, int threads,
                LoaderFigures* figures) {
  ASSIGN_OR_RETURN(const auto dataset, Dataset::Open(target.path, target.split, policy));
  const Stopwatch first;
  ASSIGN_OR_RETURN(const std::unique_ptr<BatchLoader> loader,
                   BatchLoader::Open(dataset, LoaderOptionsFor(target, threads)));
  const uint64_t steps = loader->steps_per_epoch();
  RETURN_IF_ERROR(TakeBatches(loader.get(), steps));
  figures->first_epoch = Faster(figures->first_epoch, first.Stop(steps * target.batch));
  const LoaderTimes before = loader->times();
  AddTimes({}, before, &figures->first_times);
  const uint64_t later_steps = steps * target.turn_epochs;
  const Stopwatch later;
  RETURN_IF_ERROR(TakeBatches(loader.get(), later_steps));
  figures->later_epoch = Faster(figures->later_epoch, later.Stop(later_steps * target.batch));
  AddTimes(before, loader->times(), &figures->times);
  return OkStatus();
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
  ASSIGN_OR_RETURN(const BenchTarget target, MakeBenchTarget(options));
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
  BenchTarget one_epoch = target;
  one_epoch.turn_epochs = 1;
  const std::vector<uint64_t> first_order = ShuffledEpochs(one_epoch, 0);
  Rate warm_up;
  RETURN_IF_ERROR(TakeBareTurn(BareLoopKind::kGather, first_order, &loop, &warm_up));
  for (int round = 0; round < options.rounds; ++round) {
    const auto order = ShuffledEpochs(target, static_cast<uint64_t>(round) + 1);
    RETURN_IF_ERROR(TakeTurn(target, ChecksumPolicy::kOff, options.threads, &figures.unchecked));
    RETURN_IF_ERROR(TakeBareTurn(BareLoopKind::kGather, order, &loop, &figures.gather));
    RETURN_IF_ERROR(
        TakeTurn(target, ChecksumPolicy::kFirstTouch, options.threads, &figures.first_touch));
    RETURN_IF_ERROR(TakeBareTurn(BareLoopKind::kPread, order, &loop, &figures.pread));
    RETURN_IF_ERROR(places->MapAnew());
    RETURN_IF_ERROR(TakeBareTurn(BareLoopKind::kGather, first_order, &loop, &figures.gather_first));
  }
  return figures;
}

Result<OneHotFigures> MeasureOneHot(const ReadBenchOptions& options) {
  constexpr int kSlots = 3;
  ASSIGN_OR_RETURN(BenchTarget target, MakeBenchTarget(options));
  FieldRequest request;
  request.name = "label";
  request.delivery = Delivery::kOneHotF32;
  target.requests = {request};
  ASSIGN_OR_RETURN(const auto dataset,
                   Dataset::Open(target.path, target.split, ChecksumPolicy::kOff));
  BatchLoaderOptions loader_options = LoaderOptionsFor(target, options.threads);
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
  ASSIGN_OR_RETURN(const BenchTarget target, MakeBenchTarget(options));
  ASSIGN_OR_RETURN(const auto dataset, Dataset::Open(target.path, target.split));
  BatchLoaderOptions loader_options = LoaderOptionsFor(target, options.threads);
  loader_options.trace_spans = kTraceSpans;
  ASSIGN_OR_RETURN(const std::unique_ptr<BatchLoader> loader,
                   BatchLoader::Open(dataset, loader_options));
  RETURN_IF_ERROR(TakeBatches(loader.get(), loader->steps_per_epoch()));
  return loader->WriteTrace(trace_path);
}

Status TakeFirstBatch(const ReadBenchOptions& options) {
  ASSIGN_OR_RETURN(const BenchTarget target, MakeBenchTarget(options));
  ASSIGN_OR_RETURN(const auto dataset, Dataset::Open(target.path, target.split));
  ASSIGN_OR_RETURN(const std::unique_ptr<BatchLoader> loader,
                   BatchLoader::Open(dataset, LoaderOptionsFor(target, options.threads)));
  return TakeBatches(loader.get(), 1);
}

}  // namespace shardmill
