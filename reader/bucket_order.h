// Batches of records of similar length: a bucketed form of any other order.
//
// The order is cut into windows of `window_batches` global batches. Within a window the records
// are sorted by length, cut into batches, and the batches permuted; within a batch the records
// keep their order. So each window holds the records that it held before, and padding shrinks. The
// records behind the last whole batch of an epoch stay where they are: which records a dropped or
// partial tail has does not depend on their length.
//
// A pure function of the order, the lengths and the global batch: it is the same for any number of
// ranks. Lengths are read when a window is first entered; two windows are kept.
// One object belongs to one thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "reader/keyed_permutation.h"
#include "reader/record_order.h"

namespace shardmill {

class BucketOrder : public RecordOrder {
 public:
  using LengthOf = std::function<Status(uint64_t record, uint64_t* length)>;
  struct Options {
    uint64_t global_batch = 1;
    uint64_t window_batches = 1;
    uint64_t seed = 0;
    std::string split;
  };
  // Requires a window of less than 2^32 records.
  BucketOrder(std::unique_ptr<RecordOrder> order, LengthOf length_of, Options options);

  uint64_t length() const override { return order_->length(); }
  void StartEpoch(uint64_t epoch) override;
  Status Fill(uint64_t first, uint64_t count, uint64_t* out) override;

 private:
  struct Entry {
    uint64_t length = 0;
    uint64_t place = 0;  // in the window, before sorting
  };
  struct Window {
    uint64_t number = std::numeric_limits<uint64_t>::max();
    std::vector<uint64_t> records;  // in their new order
  };

  Status Load(uint64_t number, Window* window);
  Status SortByLength(uint64_t count);

  const std::unique_ptr<RecordOrder> order_;
  const LengthOf length_of_;
  const Options options_;
  const uint64_t whole_;  // positions in whole batches
  OrderKey key_;
  KeyedPermutation batches_;
  std::vector<uint64_t> plain_;  // records of a window before sorting
  std::vector<Entry> entries_;
  std::array<Window, 2> windows_;  // by parity: read-ahead is often one window ahead
};

}  // namespace shardmill
