// How much memory a training step needs on a device.
#pragma once

#include <cstdint>
#include <string>

#include "reader/base/status.h"
#include "trainer/graph.h"
#include "trainer/optimizer.h"

namespace shardmill {

struct StepMemoryRequest {
  Shape images;             // what the network sees in training: `n` rows of this rank
  Shape evaluation;         // likewise of an evaluation; n = 0: there is none
  int64_t batch_bytes = 0;  // of one batch of this rank as it is copied to the device, with labels
  OptimizerOptions optimizer;
  bool average = false;  // there is a moving average of the weights
};

struct StepMemory {
  int64_t parameters = 0;  // values, gradients, statistics: there since the graph was made
  int64_t arena = 0;       // activations, their gradients, workspace
  int64_t optimizer = 0;   // moments and average
  int64_t input = 0;       // slots for batches on their way

  // What is not yet allocated when the graph has been made and has run nothing.
  int64_t ToAllocate() const { return arena + optimizer + input; }
  // "arena 5.2 GiB, optimizer 120 MiB, input 96 MiB; parameters 180 MiB"
  std::string Text() const;
};

// Allocates nothing that stays. Of a device it builds the plans of the convolutions of this shape.
// Grows with the rows of a batch, so the largest batch that fits can be searched for by halving.
Result<StepMemory> MeasureStep(Graph* graph, const StepMemoryRequest& request);

// OK when `free_bytes` are enough; else Unavailable with the numbers and what to lower.
Status CheckFits(const StepMemory& memory, int64_t batch, int64_t free_bytes);

}  // namespace shardmill
