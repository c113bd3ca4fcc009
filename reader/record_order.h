// Which records an epoch holds and in which order: every kind of order behind one interface.
//
// An order is a pure function of (seed, epoch, split, position) and of the data set, so that any
// number of ranks sees the same global sequence and a run enters it at any position. The orders
// of an OrderPlan are equal; each belongs to one thread. The plan itself is immutable and safe for
// concurrent use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/dataset.h"

namespace shardmill {

enum class Order {
  kShuffled,     // EpochOrder of (seed, epoch, split): an exact shuffle of the whole split
  kStored,       // 0, 1, 2, …
  kBlockWindow,  // blocks of records shuffled, then the records within windows of blocks
  kWeighted,     // drawn with replacement, see SampleWeights
};

// For Order::kBlockWindow, which reads sets larger than memory in long runs. Only the records of
// one window are mixed with each other.
struct BlockWindow {
  uint64_t block_records = 0;  // records that lie side by side; 0: as many as a block of the shard
  uint64_t window_blocks = 64;
};

// For Order::kWeighted; exactly one of the two lists is given. Weights are relative: finite, not
// negative, not all zero. A weight of 0 is never drawn.
struct SampleWeights {
  std::vector<double> of_record;  // one for each record of the split
  // One for each class: how often the class is drawn. Within a class all records are alike. Needs
  // a field with a class id per record, and reads it once for all records when the loader opens.
  std::vector<double> of_class;
  uint64_t epoch_records = 0;  // positions in an epoch; 0: as many as the split has records
};

// Whether an epoch has all variants of a source (those which packing made of one input; their
// keys differ in the #vN at the end) or one, drawn by (seed, epoch, source). Tiles and corners are
// sources of their own: an epoch has them all (see variant_index.h).
enum class Variants {
  kAll,
  kOne,
};

// Batches of records of similar length, so that less of a padded batch is padding. See
// bucket_order.h.
struct LengthBuckets {
  std::string field;  // whose varying dimensions, multiplied, are the length; empty: no buckets
  uint64_t window_batches = 64;  // global batches among which records are exchanged
};

struct OrderOptions {
  Order order = Order::kShuffled;
  BlockWindow block_window;
  SampleWeights weights;
  Variants variants = Variants::kAll;
  LengthBuckets buckets;
  uint64_t global_batch = 1;             // for buckets
  bool passes_over_bad_records = false;  // one without a readable length counts as empty
  uint64_t seed = 0;
};

class RecordOrder {
 public:
  virtual ~RecordOrder() = default;
  RecordOrder() = default;
  RecordOrder(const RecordOrder&) = delete;
  RecordOrder& operator=(const RecordOrder&) = delete;

  // Positions in an epoch, the same in all epochs.
  virtual uint64_t length() const = 0;
  // Must precede Fill(). After the first epochs it allocates nothing but the key.
  virtual void StartEpoch(uint64_t epoch) = 0;
  // Writes the records at positions first, first + 1, … `count` of them, to `out`. Requires that
  // the positions exist.
  virtual Status Fill(uint64_t first, uint64_t count, uint64_t* out) = 0;
};

class WeightTable;
class VariantIndex;

// The part of an order that all epochs share.
class OrderPlan {
 public:
  // InvalidArgument names the option. For class weights and Variants::kOne it reads something of
  // each record. `split` must outlive the plan and its orders.
  static Result<OrderPlan> Create(const Dataset& dataset, const Dataset::Split& split,
                                  OrderOptions options);

  uint64_t length() const { return length_; }
  std::unique_ptr<RecordOrder> NewOrder() const;

 private:
  OrderPlan() = default;
  Status ReadVariants(const Dataset::Split& split);
  Status SetUpBlocks(const Dataset::Split& split);
  Status SetUpWeights(const Dataset& dataset, const Dataset::Split& split);
  Status SetUpBuckets(const Dataset& dataset);
  std::unique_ptr<RecordOrder> NewPlainOrder() const;

  OrderOptions options_;
  const Dataset::Split* split_ = nullptr;
  int bucket_field_ = 0;
  std::string split_name_;
  uint64_t entries_ = 0;  // records, or sources with Variants::kOne
  uint64_t length_ = 0;
  std::shared_ptr<const WeightTable> weights_;
  std::shared_ptr<const VariantIndex> variants_;
};

}  // namespace shardmill
