// The rows of a global batch that one rank, or one micro-shard, works on.
#pragma once

#include <cstdint>

#include "trainer/tensor.h"

namespace shardmill {

struct BatchRows {
  ImageBatch images;
  LabelBatch labels;
  int64_t global_rows = 0;  // of all ranks together
};

// Rows [begin, end) of these rows. A single row of images of several sizes has its own size.
BatchRows SelectRows(const BatchRows& rows, int64_t begin, int64_t end);

}  // namespace shardmill
