// The batch of a run that leaves it to the program (--batch auto): the largest that fits into the
// memory of every rank's GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/cuda/step/step_memory.h"
#include "trainer/training/train_setup.h"

namespace shardmill {

// The largest count in [1, most] that fits; 0 when not even one does. What fits must also fit with
// fewer. Asks about twice the binary logarithm of the answer, and never far beyond it.
Result<int64_t> LargestThatFits(int64_t most, const std::function<Result<bool>(int64_t)>& fits);

// Whether the memory of a step fits into what is free, and its reserve too. No, where the device
// has no plan for a convolution of tensors of that size.
Result<bool> FitsBesideReserve(const Result<StepMemory>& memory, int64_t free_bytes);

// The smallest of the counts that ranks have sent.
Result<int64_t> SmallestOf(const std::vector<std::string>& counts);

// The batches that a run may have are the multiples of this: one image for each part of it.
int64_t SmallestBatch(const TrainSetup& setup);

// How many times the smallest batch fits into what is free on the GPU of this rank, or is in the
// data set. InvalidArgument on the CPU, whose memory is not this program's to fill; Unavailable,
// with the numbers, when not even the smallest fits.
Result<int64_t> LargestOfThisRank(const TrainSetup& setup);

struct BatchChoice {
  int64_t batch = 0;  // of all ranks together: the same on all of them
  std::string text;   // how it was found, with the numbers
};

// Prepares the run with the smallest batch, looks for the largest, and leaves nothing behind. All
// ranks call it and get the same status.
Result<BatchChoice> ChooseBatch(const TrainRequest& request);

}  // namespace shardmill
