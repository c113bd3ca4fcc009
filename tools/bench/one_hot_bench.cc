#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "reader/dataset.h"
#include "tools/bench/bare_loop.h"
#include "tools/bench/bench_target.h"
#include "tools/bench/read_bench.h"

namespace shardmill {
namespace {

// Bytes of a row of a batch.
uint64_t RowBytes(const FieldView& view) {
  uint64_t bytes = DTypeBytes(view.dtype);
  for (size_t axis = 1; axis < view.shape.size(); ++axis) {
    bytes *= static_cast<uint64_t>(view.shape[axis]);
  }
  return bytes;
}

}  // namespace

Result<OneHotFigures> MeasureOneHot(const ReadBenchOptions& options) {
  constexpr uint64_t kTurnBatches = 8;
  ASSIGN_OR_RETURN(BenchTarget target, MakeBenchTarget(options));
  FieldRequest request;
  request.name = "label";
  request.delivery = Delivery::kOneHotF32;
  target.requests = {request};
  OneHotFigures figures;
  figures.threads = options.threads;
  figures.label = target.description;
  ASSIGN_OR_RETURN(const auto loader,
                   LoaderTurns::Open(target, ChecksumPolicy::kOff, options.threads));
  RETURN_IF_ERROR(loader->Take(kTurnBatches).status());  // the memory of every slot is there
  figures.output_bytes = RowBytes(loader->held().front().field(0));
  const int slots = static_cast<int>(loader->held().size());
  const uint64_t batch_bytes = figures.output_bytes * target.batch;
  ASSIGN_OR_RETURN(const auto memory, MemsetTurns::Create(batch_bytes, slots, options.threads));
  std::vector<double> loaded;
  std::vector<double> set = {memory->Take(kTurnBatches)};
  std::vector<double> ratios;
  for (int round = 0; round < options.rounds; ++round) {
    ASSIGN_OR_RETURN(const Rate rate, loader->Take(kTurnBatches));
    loaded.push_back(rate.per_second() * static_cast<double>(figures.output_bytes));
    set.push_back(memory->Take(kTurnBatches));
    ratios.push_back(2 * loaded.back() / (set[set.size() - 2] + set.back()));
  }
  figures.bytes_per_second = SpreadOf(loaded).median;
  figures.memset_bytes_per_second = SpreadOf(set).median;
  figures.of_memset = SpreadOf(ratios);
  return figures;
}

}  // namespace shardmill
