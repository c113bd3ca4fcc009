// A batch of decoded records: a move-only lease on one slot of the loader's ring.
//
// Destroying (or moving over) a Batch gives its slot back; views into it are then invalid. A Batch
// that outlives its BatchLoader keeps the memory of all slots. One Batch is not for concurrent use;
// several may be held at once, up to the number of slots.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "reader/schema.h"

namespace shardmill {

// One field of all rows of a batch: dense, row-major, rows first.
struct FieldView {
  std::string_view name;
  DType dtype = DType::kU8;
  std::vector<int64_t> shape;  // [rows, …]
  const uint8_t* data = nullptr;
  // Of padded fields, row by row: the lengths of the varying dimensions before padding, after a
  // cut. The row has as many numbers as the field has such dimensions.
  std::vector<uint32_t> lengths = {};

  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(data);
  }
};

class BatchLoader;
struct BatchSlot;
struct LoaderState;

class Batch {
 public:
  Batch() = default;
  ~Batch();
  Batch(Batch&& other) noexcept;
  Batch& operator=(Batch&& other) noexcept;

  uint64_t epoch() const;
  uint64_t step() const;        // within the epoch
  int64_t rows() const;         // of this rank; fewer than usual only in a partial last batch
  int64_t global_rows() const;  // of all ranks together, padding not counted, bad ones too
  // Per row: the record of the split, and how much the row counts. The weight is 1, or 0 for rows
  // that only pad (TailPolicy::kPad; they repeat a record) or were skipped
  // (BadRecordPolicy::kSkip).
  const std::vector<uint64_t>& records() const;
  const std::vector<float>& weights() const;

  int field_count() const;
  const FieldView& field(int index) const;
  const FieldView& field(std::string_view name) const;  // CHECKs that it was asked for

 private:
  friend class BatchLoader;
  Batch(std::shared_ptr<LoaderState> loader, BatchSlot* slot);
  void Release();

  std::shared_ptr<LoaderState> loader_;
  BatchSlot* slot_ = nullptr;
};

}  // namespace shardmill
