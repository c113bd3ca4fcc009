#include "tools/bench/bench_target.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "reader/base/interrupt.h"
#include "reader/dataset.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

constexpr uint64_t kBatchBytes = uint64_t{4} << 20;
constexpr uint64_t kLeastBatch = 4;
constexpr uint64_t kMostBatch = 4096;
// An epoch of a small set is repeated up to so much data, or so many batches, per turn.
constexpr uint64_t kTurnBytes = uint64_t{128} << 20;
constexpr uint64_t kTurnBatches = 500;

void AddFields(const RecordSchema& schema, BenchTarget* target) {
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

}  // namespace

Result<BenchTarget> MakeBenchTarget(const ReadBenchOptions& options) {
  ASSIGN_OR_RETURN(const auto dataset, Dataset::Open(options.path, options.split));
  BenchTarget target;
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

BatchLoaderOptions LoaderOptionsFor(const BenchTarget& target, int threads) {
  BatchLoaderOptions options;
  options.split = target.split;
  options.fields = target.requests;
  options.global_batch = target.batch;
  options.threads = threads;
  options.epochs = ~uint64_t{0};
  return options;
}

Status TakeBatches(BatchLoader* loader, uint64_t batches) {
  for (uint64_t batch = 0; batch < batches; ++batch) {
    RETURN_IF_ERROR(CheckInterrupt());
    ASSIGN_OR_RETURN(const std::optional<Batch> taken, loader->Next());
    SHARDMILL_CHECK(taken.has_value());
  }
  return OkStatus();
}

std::vector<uint64_t> ShuffledEpochs(const BenchTarget& target, uint64_t seed) {
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

}  // namespace shardmill
