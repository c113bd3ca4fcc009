// One reusable buffer of the loader's ring with the batch that lies in it. Internal to the batch
// loader; guarded by the ordered pipeline: only its producer, then the workers, then the holder
// of the Batch touch a slot.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/batch.h"
#include "reader/keyed_permutation.h"

namespace shardmill {

// What the batch decides of a padded field.
struct SlotField {
  uint64_t row_bytes = 0;             // delivered
  std::vector<int64_t> padded_shape;  // of one row, as it is stored; empty when nothing is padded
};

struct BatchSlot {
  int number = 0;  // in the ring
  uint8_t* buffer = nullptr;
  uint64_t epoch = 0;
  uint64_t step = 0;
  uint64_t first_position = 0;  // of row 0, in the order of the epoch
  uint64_t rows = 0;
  uint64_t global_rows = 0;
  std::vector<uint64_t> records;    // as planned; workers read those of all rows
  std::vector<uint64_t> delivered;  // the same, with substitutes for bad records
  std::vector<float> weights;
  std::vector<FieldView> fields;
  std::vector<SlotField> shapes;  // of each field
  OrderKey augment_key;           // of the epoch
  // Records of a later step, for read-ahead.
  std::vector<uint64_t> records_ahead;
};

// Of the loader: gives the slot of a batch back. From any thread.
void ReleaseSlot(LoaderState* loader, BatchSlot* slot);

}  // namespace shardmill
