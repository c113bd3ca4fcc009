// The memory of the device in which batches arrive.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/input.h"
#include "trainer/cuda/runtime/input_path.h"

namespace shardmill {

constexpr int kInputSlots = 2;
// Pieces of a batch: images, labels, weights of the rows, what is done to each row.
constexpr int kInputPieces = 4;

// Room for one batch of `batch_bytes`, its pieces aligned, and for what its rows ask for.
constexpr int64_t InputSlotBytes(int64_t batch_bytes, int64_t rows) {
  return batch_bytes + rows * static_cast<int64_t>(sizeof(InputRow)) +
         kInputPieces * InputPath::kPieceAlignment;
}

}  // namespace shardmill
