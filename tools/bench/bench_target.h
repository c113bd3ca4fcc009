// A packed set and how a benchmark is going to read it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/batch_loader.h"
#include "tools/bench/read_bench.h"

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
  uint64_t turn_epochs = 1;  // so that a turn over a small set can be measured
};

// InvalidArgument when no field has a fixed shape, or there are no records.
Result<BenchTarget> MakeBenchTarget(const ReadBenchOptions& options);

// For ever, in random order.
BatchLoaderOptions LoaderOptionsFor(const BenchTarget& target, int threads);

// Takes batches and drops them.
Status TakeBatches(BatchLoader* loader, uint64_t batches);

// The numbers of the records in random order, as often as a turn has epochs, without those that do
// not fill a batch.
std::vector<uint64_t> ShuffledEpochs(const BenchTarget& target, uint64_t seed);

}  // namespace shardmill
