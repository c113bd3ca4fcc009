// Order::kWeighted: each position of an epoch draws a record with replacement, by its weight.
//
// The draw is a function of (seed, epoch, split, position): one keyed hash, then a binary search
// in the running sums of the weights. 8 bytes per record, O(log records) per draw; a table serves
// all epochs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/keyed_permutation.h"
#include "reader/record_order.h"

namespace shardmill {

// Immutable; safe for concurrent use.
class WeightTable {
 public:
  // InvalidArgument for a weight that is negative or not finite, or when all are zero.
  static Result<WeightTable> Create(const std::vector<double>& weights);

  // The entry of a uniform 64-bit number: entry i with probability weight[i] / sum, up to 2^-53 of
  // the sum. Never one of weight 0.
  uint64_t Draw(uint64_t hash) const;

 private:
  std::vector<double> running_sums_;
  uint64_t last_ = 0;  // the last entry with a weight
};

// One object belongs to one thread.
class WeightedOrder : public RecordOrder {
 public:
  WeightedOrder(std::shared_ptr<const WeightTable> table, uint64_t length, uint64_t seed,
                std::string split)
      : table_(std::move(table)), length_(length), seed_(seed), split_(std::move(split)) {}

  uint64_t length() const override { return length_; }
  void StartEpoch(uint64_t epoch) override {
    key_ = MakeOrderKey(seed_, epoch, split_, "weighted");
  }
  Status Fill(uint64_t first, uint64_t count, uint64_t* out) override;

 private:
  const std::shared_ptr<const WeightTable> table_;
  const uint64_t length_;
  const uint64_t seed_;
  const std::string split_;
  OrderKey key_;
};

}  // namespace shardmill
