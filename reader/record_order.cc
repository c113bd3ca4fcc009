#include "reader/record_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "reader/block_window_order.h"
#include "reader/bucket_order.h"
#include "reader/class_weights.h"
#include "reader/keyed_permutation.h"
#include "reader/shard_reader.h"
#include "reader/variant_index.h"
#include "reader/weighted_order.h"

namespace shardmill {
namespace {

class StoredOrder : public RecordOrder {
 public:
  explicit StoredOrder(uint64_t records) : records_(records) {}
  uint64_t length() const override { return records_; }
  void StartEpoch(uint64_t) override {}
  Status Fill(uint64_t first, uint64_t count, uint64_t* out) override {
    std::iota(out, out + count, first);
    return OkStatus();
  }

 private:
  const uint64_t records_;
};

// EpochOrder, with its memory kept from epoch to epoch.
class ShuffledOrder : public RecordOrder {
 public:
  ShuffledOrder(uint64_t records, uint64_t seed, std::string split)
      : records_(records), seed_(seed), split_(std::move(split)) {}
  uint64_t length() const override { return records_; }
  void StartEpoch(uint64_t epoch) override {
    permutation_.Reset(records_, MakeOrderKey(seed_, epoch, split_));
  }
  Status Fill(uint64_t first, uint64_t count, uint64_t* out) override {
    permutation_.Fill(first, count, out);
    return OkStatus();
  }

 private:
  const uint64_t records_;
  const uint64_t seed_;
  const std::string split_;
  KeyedPermutation permutation_;
};

// An order of sources, and one variant of each.
class OneVariantOrder : public RecordOrder {
 public:
  OneVariantOrder(std::unique_ptr<RecordOrder> sources,
                  std::shared_ptr<const VariantIndex> variants, uint64_t seed, std::string split)
      : sources_(std::move(sources)),
        variants_(std::move(variants)),
        seed_(seed),
        split_(std::move(split)) {}
  uint64_t length() const override { return sources_->length(); }
  void StartEpoch(uint64_t epoch) override {
    sources_->StartEpoch(epoch);
    key_ = MakeOrderKey(seed_, epoch, split_, "variant");
  }
  Status Fill(uint64_t first, uint64_t count, uint64_t* out) override {
    RETURN_IF_ERROR(sources_->Fill(first, count, out));
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t source = out[i];
      const uint64_t choice = BoundedHash(KeyedHash(key_, source), variants_->CountOf(source));
      out[i] = variants_->FirstOf(source) + choice;
    }
    return OkStatus();
  }

 private:
  const std::unique_ptr<RecordOrder> sources_;
  const std::shared_ptr<const VariantIndex> variants_;
  const uint64_t seed_;
  const std::string split_;
  OrderKey key_;
};

constexpr uint64_t kMaxBucketWindow = 0xFFFFFFFF;

// The product of the varying dimensions of a record.
struct VariableLength {
  const Dataset::Split* split = nullptr;
  int field = 0;
  bool passes_over_bad_records = false;
  std::vector<uint32_t> dims;

  Status operator()(uint64_t record, uint64_t* length) {
    const auto [shard, in_shard] = split->Locate(record);
    const Status status = shard->VariableDims(in_shard, field, &dims);
    *length = 0;
    if (!status.ok()) return passes_over_bad_records ? OkStatus() : status;
    *length = 1;
    for (uint32_t dimension : dims) *length *= dimension;
    return OkStatus();
  }
};

}  // namespace

Status OrderPlan::ReadVariants(const Dataset::Split& split) {
  if (options_.variants == Variants::kAll) return OkStatus();
  if (options_.order == Order::kWeighted) {
    return InvalidArgumentError(
        "variants is one and order is weighted: weights belong to records, so they choose among "
        "the variants already; use variants all");
  }
  ASSIGN_OR_RETURN(VariantIndex index, VariantIndex::Read(split));
  variants_ = std::make_shared<const VariantIndex>(std::move(index));
  entries_ = variants_->sources();
  return OkStatus();
}

Status OrderPlan::SetUpBlocks(const Dataset::Split& split) {
  BlockWindow& window = options_.block_window;
  if (window.window_blocks == 0) {
    return InvalidArgumentError("block_window.window_blocks is 0; it must be at least 1");
  }
  if (window.block_records == 0) {
    window.block_records = 1;
    for (int shard = 0; shard < split.shard_count(); ++shard) {
      if (split.shard(shard).block_count() == 0) continue;
      window.block_records =
          std::max<uint64_t>(window.block_records, split.shard(shard).block(0).records);
    }
    // With one variant of each source, a block is as many sources as it has on average.
    window.block_records = std::max<uint64_t>(
        1, window.block_records * entries_ / std::max<uint64_t>(1, split.records()));
  }
  return OkStatus();
}

Status OrderPlan::SetUpWeights(const Dataset& dataset, const Dataset::Split& split) {
  SampleWeights& weights = options_.weights;
  const bool is_weighted = options_.order == Order::kWeighted;
  if (weights.of_record.empty() && weights.of_class.empty()) {
    if (!is_weighted) return OkStatus();
    return InvalidArgumentError(
        "order is weighted, but neither weights.of_record nor weights.of_class is given");
  }
  if (!is_weighted) return InvalidArgumentError("weights are given, but order is not weighted");
  if (!weights.of_record.empty() && !weights.of_class.empty()) {
    return InvalidArgumentError("weights.of_record and weights.of_class exclude each other");
  }
  if (!weights.of_class.empty()) {
    ASSIGN_OR_RETURN(weights.of_record, RecordWeightsOfClasses(dataset, split, weights.of_class));
  }
  if (weights.of_record.size() != split.records()) {
    return InvalidArgumentError("weights.of_record has " +
                                std::to_string(weights.of_record.size()) + " weights, but split '" +
                                split.name() + "' has " + std::to_string(split.records()) +
                                " records; give one for each");
  }
  ASSIGN_OR_RETURN(WeightTable table, WeightTable::Create(weights.of_record));
  weights_ = std::make_shared<const WeightTable>(std::move(table));
  if (weights.epoch_records != 0) length_ = weights.epoch_records;
  weights.of_record = {};
  return OkStatus();
}

Status OrderPlan::SetUpBuckets(const Dataset& dataset) {
  const LengthBuckets& buckets = options_.buckets;
  if (buckets.field.empty()) return OkStatus();
  const std::optional<int> field = dataset.schema().FindField(buckets.field);
  if (!field.has_value() || dataset.schema().fields[static_cast<size_t>(*field)].IsFixedShape()) {
    return InvalidArgumentError("buckets.field is '" + buckets.field +
                                "', which is no field whose shape varies between records");
  }
  if (buckets.window_batches == 0 ||
      buckets.window_batches > kMaxBucketWindow / options_.global_batch) {
    return InvalidArgumentError("buckets.window_batches is " +
                                std::to_string(buckets.window_batches) +
                                "; it must be at least 1, and a window below 2^32 records");
  }
  bucket_field_ = *field;
  return OkStatus();
}

Result<OrderPlan> OrderPlan::Create(const Dataset& dataset, const Dataset::Split& split,
                                    OrderOptions options) {
  OrderPlan plan;
  plan.options_ = std::move(options);
  plan.split_ = &split;
  plan.split_name_ = split.name();
  plan.entries_ = split.records();
  RETURN_IF_ERROR(plan.ReadVariants(split));
  plan.length_ = plan.entries_;
  if (plan.options_.order == Order::kBlockWindow) RETURN_IF_ERROR(plan.SetUpBlocks(split));
  RETURN_IF_ERROR(plan.SetUpWeights(dataset, split));
  RETURN_IF_ERROR(plan.SetUpBuckets(dataset));
  return plan;
}

std::unique_ptr<RecordOrder> OrderPlan::NewOrder() const {
  std::unique_ptr<RecordOrder> order = NewPlainOrder();
  if (options_.buckets.field.empty()) return order;
  const BucketOrder::Options options = {options_.global_batch, options_.buckets.window_batches,
                                        options_.seed, split_name_};
  return std::make_unique<BucketOrder>(
      std::move(order), VariableLength{split_, bucket_field_, options_.passes_over_bad_records, {}},
      options);
}

std::unique_ptr<RecordOrder> OrderPlan::NewPlainOrder() const {
  const uint64_t seed = options_.seed;
  std::unique_ptr<RecordOrder> order;
  switch (options_.order) {
    case Order::kStored:
      order = std::make_unique<StoredOrder>(entries_);
      break;
    case Order::kShuffled:
      order = std::make_unique<ShuffledOrder>(entries_, seed, split_name_);
      break;
    case Order::kBlockWindow:
      order =
          std::make_unique<BlockWindowOrder>(entries_, options_.block_window, seed, split_name_);
      break;
    case Order::kWeighted:
      order = std::make_unique<WeightedOrder>(weights_, length_, seed, split_name_);
      break;
  }
  if (variants_ == nullptr) return order;
  return std::make_unique<OneVariantOrder>(std::move(order), variants_, seed, split_name_);
}

}  // namespace shardmill
