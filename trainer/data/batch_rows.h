// The rows of a global batch that one rank, or one micro-shard, works on.
#pragma once

#include <cstdint>

#include "trainer/graph/tensor.h"

namespace shardmill {

struct BatchRows {
  ImageBatch images;
  LabelBatch labels;
  int64_t global_rows = 0;  // of all ranks together
  // Of images of several sizes: height and width of each row. Its pixels are dense and begin where
  // those of a row of images.shape would; its labels likewise. Null: all rows have that shape. A
  // graph takes such rows one by one, as SelectRows makes them.
  const uint32_t* row_sizes = nullptr;
};

// Rows [begin, end) of these rows. A single row of images of several sizes has its own size.
BatchRows SelectRows(const BatchRows& rows, int64_t begin, int64_t end);

}  // namespace shardmill
