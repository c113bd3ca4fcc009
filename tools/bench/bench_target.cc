#include "tools/bench/bench_target.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "reader/base/interrupt.h"
#include "reader/dataset.h"
#include "tools/bench/aligned_buffer.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

constexpr uint64_t kBatchBytes = uint64_t{4} << 20;
constexpr uint64_t kLeastBatch = 4;
constexpr uint64_t kMostBatch = 4096;
constexpr uint64_t kPageBytes = 4096;

void AddFields(const RecordSchema& schema, BenchTarget* target) {
  std::string left_out;
  for (size_t field = 0; field < schema.fields.size(); ++field) {
    const FieldSpec& spec = schema.fields[field];
    if (!spec.IsFixedShape()) {
      left_out += (left_out.empty() ? "" : ", ") + spec.name;
      continue;
    }
    target->fields.push_back(static_cast<int>(field));
    FieldRequest request;
    request.name = spec.name;
    target->requests.push_back(request);
    if (!target->description.empty()) target->description += ", ";
    target->description += spec.name + " " + std::string(CodecName(spec.codec));
    target->record_bytes += spec.TensorBytes();
  }
  if (!left_out.empty()) target->description += " (of varying shape, left out: " + left_out + ")";
}

void UseWrittenMemory(const BenchTarget& target, BatchLoaderOptions* options) {
  // Each field begins on a page.
  const uint64_t bytes = target.batch * target.record_bytes + target.fields.size() * kPageBytes;
  const auto buffers = std::make_shared<std::vector<AlignedBuffer>>();
  for (int slot = 0; slot < options->slots; ++slot) buffers->push_back(MakeAlignedBuffer(bytes));
  options->allocate = [buffers, bytes, next = size_t{0}](uint64_t wanted) mutable -> void* {
    SHARDMILL_CHECK(wanted <= bytes && next < buffers->size());
    return (*buffers)[next++].get();
  };
  options->release = [buffers](void*, uint64_t) {};
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

std::vector<uint64_t> ShuffledBatches(const BenchTarget& target, uint64_t batches, uint64_t seed) {
  const uint64_t count = batches * target.batch;
  std::vector<uint64_t> order;
  order.reserve(count + target.records);
  RandomStream random(seed);
  while (order.size() < count) {
    const size_t begin = order.size();
    order.resize(begin + target.records);
    uint64_t* records = order.data() + begin;
    std::iota(records, records + target.records, uint64_t{0});
    for (uint64_t i = target.records; i > 1; --i) {
      std::swap(records[i - 1], records[random.Below(i)]);
    }
    order.resize(order.size() - target.records % target.batch);
  }
  order.resize(count);
  return order;
}

Result<std::unique_ptr<LoaderTurns>> LoaderTurns::Open(const BenchTarget& target,
                                                       ChecksumPolicy policy, int threads,
                                                       Ring ring) {
  ASSIGN_OR_RETURN(const auto dataset, Dataset::Open(target.path, target.split, policy));
  BatchLoaderOptions options = LoaderOptionsFor(target, threads);
  if (ring == Ring::kWritten) UseWrittenMemory(target, &options);
  std::unique_ptr<LoaderTurns> turns(new LoaderTurns);
  turns->batch_ = target.batch;
  turns->slots_ = static_cast<size_t>(options.slots);
  turns->held_.reserve(turns->slots_);
  turns->opening_.emplace();
  ASSIGN_OR_RETURN(turns->loader_, BatchLoader::Open(dataset, options));
  return turns;
}

Result<Rate> LoaderTurns::Take(uint64_t batches) {
  const Stopwatch stopwatch = opening_.has_value() ? *opening_ : Stopwatch();
  opening_.reset();
  held_.clear();
  for (uint64_t left = batches; left > 0; --left) {
    RETURN_IF_ERROR(CheckInterrupt());
    ASSIGN_OR_RETURN(std::optional<Batch> taken, loader_->Next());
    SHARDMILL_CHECK(taken.has_value());
    if (left <= slots_) held_.push_back(std::move(*taken));
  }
  return stopwatch.Stop(batches * batch_);
}

}  // namespace shardmill
