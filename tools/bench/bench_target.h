// A packed set and how a benchmark is going to read it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/batch_loader.h"
#include "tools/bench/read_bench.h"
#include "tools/bench/stopwatch.h"

namespace shardmill {

struct BenchTarget {
  std::string path;
  std::string split;
  std::vector<int> fields;  // those of fixed shape
  std::vector<FieldRequest> requests;
  std::string description;  // "image raw, label zstd"
  uint64_t records = 0;
  uint64_t record_bytes = 0;  // decoded
  uint64_t batch = 0;
};

// InvalidArgument when no field has a fixed shape, or there are no records.
Result<BenchTarget> MakeBenchTarget(const ReadBenchOptions& options);

// For ever, in random order.
BatchLoaderOptions LoaderOptionsFor(const BenchTarget& target, int threads);

// Takes batches and drops them.
Status TakeBatches(BatchLoader* loader, uint64_t batches);

// The numbers of the records of so many batches, each epoch in a random order of its own, without
// those that do not fill a batch.
std::vector<uint64_t> ShuffledBatches(const BenchTarget& target, uint64_t batches, uint64_t seed);

// A loader whose turns can stand beside something else: every turn begins and ends with all slots
// in the hands of the caller, so that nothing is filled outside of a turn.
class LoaderTurns {
 public:
  // Where the slots of the loader lie: in new memory, which the system has to find and to clear
  // when it is written to first, or in memory that was written to before the loader is opened.
  enum class Ring { kNew, kWritten };
  // The time from opening the loader up to the first batch is part of the first turn.
  static Result<std::unique_ptr<LoaderTurns>> Open(const BenchTarget& target, ChecksumPolicy policy,
                                                   int threads, Ring ring = Ring::kNew);

  Result<Rate> Take(uint64_t batches);
  uint64_t steps_per_epoch() const { return loader_->steps_per_epoch(); }
  LoaderTimes times() const { return loader_->times(); }
  // The last batches of the last turn.
  const std::vector<Batch>& held() const { return held_; }

 private:
  LoaderTurns() = default;

  uint64_t batch_ = 0;
  size_t slots_ = 0;
  std::optional<Stopwatch> opening_;
  std::unique_ptr<BatchLoader> loader_;
  std::vector<Batch> held_;
};

}  // namespace shardmill
