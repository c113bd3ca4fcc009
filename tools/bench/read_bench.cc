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
// Short, so that the turns that are compared lie close together.
constexpr double kTurnSeconds = 0.03;
constexpr uint64_t kLeastTurnBatches = 12;
constexpr uint64_t kMostTurnBatches = 4096;
// First epochs take as long as the set is large, so they are measured in fewer rounds.
constexpr int kRoundsPerFirstEpoch = 3;

uint64_t WorkNs(const LoaderTimes& times) {
  return times.disk_ns + times.copy_ns + times.checksum_ns + times.decode_ns + times.expand_ns;
}

// Of one turn. Between two turns the workers wait too, so that they waited is what is left of the
// time of the turn.
void AddTimes(const LoaderTimes& before, const LoaderTimes& after, double thread_seconds,
              LoaderTimes* sum) {
  const auto turn_ns = static_cast<uint64_t>(thread_seconds * 1e9);
  const uint64_t work_ns = WorkNs(after) - WorkNs(before);
  sum->wait_for_slot_ns += turn_ns - std::min(turn_ns, work_ns);
  sum->disk_ns += after.disk_ns - before.disk_ns;
  sum->copy_ns += after.copy_ns - before.copy_ns;
  sum->checksum_ns += after.checksum_ns - before.checksum_ns;
  sum->decode_ns += after.decode_ns - before.decode_ns;
  sum->expand_ns += after.expand_ns - before.expand_ns;
  sum->plan_ns += after.plan_ns - before.plan_ns;
  sum->consumer_wait_ns += after.consumer_wait_ns - before.consumer_wait_ns;
  sum->batches += after.batches - before.batches;
  sum->records += after.records - before.records;
}

// Measures one set with one number of threads.
class Comparison {
 public:
  Comparison(const ReadBenchOptions& options, const BenchTarget& target)
      : options_(options), target_(target) {}

  Result<ReadFigures> Run() {
    RETURN_IF_ERROR(Open());
    for (int round = 0; round < options_.rounds; ++round) {
      RETURN_IF_ERROR(TakeTurns(static_cast<uint64_t>(round) + 1));
      if (round % kRoundsPerFirstEpoch == 0) RETURN_IF_ERROR(TakeFirstEpochs());
    }
    return Figures();
  }

 private:
  // What was measured of one loader, or of the bare loop.
  struct Turns {
    std::vector<Rate> first;
    std::vector<Rate> later;
    std::vector<double> of_loop;
    std::vector<double> first_of_later;
    std::vector<double> first_of_later_written;
    LoaderTimes first_times;
    LoaderTimes later_times;

    void AddFirst(const Rate& first_rate, const Rate& later_rate) {
      first.push_back(first_rate);
      first_of_later.push_back(first_rate.per_second() / later_rate.per_second());
    }
  };

  Status Open() {
    ASSIGN_OR_RETURN(const auto dataset,
                     Dataset::Open(target_.path, target_.split, ChecksumPolicy::kOff));
    ASSIGN_OR_RETURN(places_, RecordPlaces::Open(*dataset, target_.split, target_.fields));
    loop_ = std::make_unique<BareLoop>(places_.get(), target_.batch, options_.threads);
    ASSIGN_OR_RETURN(off_, LoaderTurns::Open(target_, ChecksumPolicy::kOff, options_.threads));
    ASSIGN_OR_RETURN(touch_,
                     LoaderTurns::Open(target_, ChecksumPolicy::kFirstTouch, options_.threads));
    steps_ = off_->steps_per_epoch();
    for (LoaderTurns* loader : {off_.get(), touch_.get()}) {
      RETURN_IF_ERROR(loader->Take(steps_).status());
    }
    first_order_ = ShuffledBatches(target_, steps_, 0);
    RETURN_IF_ERROR(TakeBare(BareLoopKind::kGather, first_order_).status());
    ASSIGN_OR_RETURN(const Rate warm, TakeBare(BareLoopKind::kGather, first_order_));
    const double batches = kTurnSeconds * warm.per_second() / static_cast<double>(target_.batch);
    // Every thread of the bare loop gets as many batches.
    const auto threads = static_cast<uint64_t>(options_.threads);
    turn_batches_ = std::clamp(static_cast<uint64_t>(batches), kLeastTurnBatches, kMostTurnBatches);
    turn_batches_ = (turn_batches_ + threads - 1) / threads * threads;
    return OkStatus();
  }

  double ThreadSeconds(const Rate& turn) const { return turn.seconds * options_.threads; }

  Result<Rate> TakeBare(BareLoopKind kind, const std::vector<uint64_t>& order) {
    RETURN_IF_ERROR(CheckInterrupt());
    return loop_->Run(kind, order);
  }

  // The loaders, and the bare loop itself, each between two turns of the bare loop.
  Status TakeTurns(uint64_t seed) {
    const auto order = ShuffledBatches(target_, turn_batches_, seed);
    ASSIGN_OR_RETURN(Rate before, TakeBare(BareLoopKind::kGather, order));
    const Rate first_bare = before;
    Rate middle_bare;
    for (const auto& [loader, turns] :
         {std::pair(off_.get(), &unchecked_turns_), std::pair(touch_.get(), &first_touch_turns_)}) {
      const LoaderTimes times = loader->times();
      ASSIGN_OR_RETURN(const Rate rate, loader->Take(turn_batches_));
      AddTimes(times, loader->times(), ThreadSeconds(rate), &turns->later_times);
      ASSIGN_OR_RETURN(const Rate after, TakeBare(BareLoopKind::kGather, order));
      turns->later.push_back(rate);
      turns->of_loop.push_back(SpeedBeside(rate, before, after));
      gather_turns_.later.push_back(after);
      middle_bare = before;
      before = after;
    }
    gather_turns_.of_loop.push_back(SpeedBeside(middle_bare, first_bare, before));
    ASSIGN_OR_RETURN(const Rate pread, TakeBare(BareLoopKind::kPread, order));
    preads_.push_back(pread);
    return OkStatus();
  }

  // The set is opened, or mapped, anew, so that nothing of it is mapped or verified.
  Status TakeFirstEpochs() {
    for (const auto& [policy, turns] :
         {std::pair(ChecksumPolicy::kOff, &unchecked_turns_),
          std::pair(ChecksumPolicy::kFirstTouch, &first_touch_turns_)}) {
      ASSIGN_OR_RETURN(const auto loader, LoaderTurns::Open(target_, policy, options_.threads));
      ASSIGN_OR_RETURN(const Rate first, loader->Take(steps_));
      AddTimes({}, loader->times(), ThreadSeconds(first), &turns->first_times);
      ASSIGN_OR_RETURN(const Rate later, loader->Take(steps_));
      turns->AddFirst(first, later);
      ASSIGN_OR_RETURN(const auto other, LoaderTurns::Open(target_, policy, options_.threads,
                                                           LoaderTurns::Ring::kWritten));
      ASSIGN_OR_RETURN(const Rate other_first, other->Take(steps_));
      ASSIGN_OR_RETURN(const Rate other_later, other->Take(steps_));
      turns->first_of_later_written.push_back(other_first.per_second() / other_later.per_second());
    }
    for (const auto& [kind, turns] : {std::pair(BareLoopKind::kGather, &gather_turns_),
                                      std::pair(BareLoopKind::kChecked, &checked_turns_)}) {
      RETURN_IF_ERROR(places_->MapAnew());
      ASSIGN_OR_RETURN(const Rate first, TakeBare(kind, first_order_));
      ASSIGN_OR_RETURN(const Rate later, TakeBare(BareLoopKind::kGather, first_order_));
      turns->AddFirst(first, later);
    }
    return OkStatus();
  }

  static LoaderFigures FiguresOf(const Turns& turns) {
    LoaderFigures figures;
    figures.first_epoch = MedianRate(turns.first);
    figures.later_epoch = MedianRate(turns.later);
    figures.of_loop = SpreadOf(turns.of_loop);
    figures.first_of_later = SpreadOf(turns.first_of_later);
    figures.first_of_later_written = SpreadOf(turns.first_of_later_written);
    figures.first_times = turns.first_times;
    figures.times = turns.later_times;
    return figures;
  }

  ReadFigures Figures() const {
    ReadFigures figures;
    figures.set = target_.path;
    figures.fields = target_.description;
    figures.records = target_.records;
    figures.record_bytes = target_.record_bytes;
    figures.batch = target_.batch;
    figures.threads = options_.threads;
    figures.unchecked = FiguresOf(unchecked_turns_);
    figures.first_touch = FiguresOf(first_touch_turns_);
    figures.gather = MedianRate(gather_turns_.later);
    figures.gather_of_itself = SpreadOf(gather_turns_.of_loop);
    figures.gather_first = MedianRate(gather_turns_.first);
    figures.gather_first_of_later = SpreadOf(gather_turns_.first_of_later);
    figures.checked_first = MedianRate(checked_turns_.first);
    figures.checked_first_of_later = SpreadOf(checked_turns_.first_of_later);
    figures.pread = MedianRate(preads_);
    return figures;
  }

  const ReadBenchOptions& options_;
  const BenchTarget& target_;
  std::unique_ptr<RecordPlaces> places_;
  std::unique_ptr<BareLoop> loop_;
  std::unique_ptr<LoaderTurns> off_;
  std::unique_ptr<LoaderTurns> touch_;
  std::vector<uint64_t> first_order_;
  uint64_t steps_ = 0;
  uint64_t turn_batches_ = 0;
  Turns unchecked_turns_;
  Turns first_touch_turns_;
  Turns gather_turns_;
  Turns checked_turns_;
  std::vector<Rate> preads_;
};

}  // namespace

Result<ReadFigures> MeasureReading(const ReadBenchOptions& options) {
  ASSIGN_OR_RETURN(const BenchTarget target, MakeBenchTarget(options));
  return Comparison(options, target).Run();
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
