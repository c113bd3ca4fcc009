// How much memory a training step needs on a device.
#pragma once

#include <cstdint>
#include <string>

#include "reader/base/status.h"
#include "trainer/graph/graph.h"
#include "trainer/optimization/optimizer.h"

namespace shardmill {

struct StepMemoryRequest {
  Shape images;      // what the network sees of one row in training; n = 1
  int64_t rows = 0;  // of this rank in a batch
  int passes = 1;    // into which they are cut, at most as many as rows
  Shape evaluation;  // what it sees in an evaluation: `n` rows of this rank; n = 0: there is none
  // Of one row as it is copied to the device, with its labels.
  int64_t row_bytes = 0;
  int64_t label_bytes = 0;           // of these, its labels
  int64_t evaluation_row_bytes = 0;  // likewise of an evaluation, all of it
  OptimizerOptions optimizer;
  bool average = false;      // there is a moving average of the weights
  bool hard_pixels = false;  // the loss chooses them
  int ranks = 1;             // of the whole job

  // Rows of the largest pass.
  int64_t PassRows() const { return (rows + passes - 1) / passes; }
  int64_t BatchBytes() const { return rows * row_bytes; }
};

struct StepMemory {
  int64_t parameters = 0;  // values, gradients, statistics: there since the graph was made
  int64_t arena = 0;       // activations, their gradients, workspace
  int64_t optimizer = 0;   // moments, average, gradients of earlier passes
  // Slots for batches on their way, labels that were moved, the probabilities of hard pixels.
  int64_t input = 0;
  int64_t evaluation = 0;  // images, labels and predictions of a batch that is scored
  // What others take and nobody can plan: see the constants below. An estimate.
  int64_t reserve = 0;

  // What is not yet allocated when the graph has been made and has run nothing.
  int64_t ToAllocate() const { return arena + optimizer + input + evaluation; }
  // "arena 5.2 GiB, optimizer 120 MiB, input 96 MiB, evaluation 48 MiB; parameters 180 MiB"
  std::string Text() const;
};

// Code of kernels and of cuDNN, which is loaded when it first runs, and captured graphs.
constexpr int64_t kCodeReserve = int64_t{256} << 20;
// Channels and buffers of NCCL, where a job has several ranks.
constexpr int64_t kRanksReserve = int64_t{1} << 30;

// Allocates nothing that stays. Of a device it builds the plans of the convolutions of this shape.
// Grows with the rows of a batch, so the largest batch that fits can be searched for by halving.
// What is smaller than a MiB at any batch is left out.
Result<StepMemory> MeasureStep(Graph* graph, const StepMemoryRequest& request);

// OK when `free_bytes` are enough, of which the reserve may be a part; else Unavailable with the
// numbers and what to lower.
Status CheckFits(const StepMemory& memory, int64_t batch, int64_t free_bytes);

}  // namespace shardmill
