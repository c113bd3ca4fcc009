// What happens in a run, as the logs report it. Plain data. Epochs and steps count from 1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/metrics.h"

namespace shardmill {

struct StepEvent {
  uint64_t step = 0;  // of the whole run
  uint64_t epoch = 0;
  double loss = 0;  // mean over the labelled pixels of the batch
  double learning_rate = 0;
  double gradient_norm = 0;
  int64_t images = 0;
  // Where the time of the step went: waiting for data, for other ranks, and all the rest.
  double wait_ms = 0;
  double communication_ms = 0;
  double compute_ms = 0;

  double TotalMs() const { return wait_ms + communication_ms + compute_ms; }
};

struct EvaluationEvent {
  std::string split;
  uint64_t step = 0;
  uint64_t epoch = 0;
  double loss = 0;
  Scores scores;
  double seconds = 0;
  uint64_t records = 0;
  bool best = false;  // the best of the run so far
};

// Sums over the steps of an epoch that this process ran.
struct EpochEvent {
  uint64_t epoch = 0;
  uint64_t step = 0;
  double loss = 0;  // over the labelled pixels of the epoch
  double learning_rate = 0;
  int64_t images = 0;
  double wait_ms = 0;
  double communication_ms = 0;
  double compute_ms = 0;
  const EvaluationEvent* evaluation = nullptr;  // null: there was none

  double ImagesPerSecond() const {
    const double ms = wait_ms + communication_ms + compute_ms;
    return ms > 0 ? 1e3 * static_cast<double>(images) / ms : 0;
  }
  double WaitingShare() const {
    const double ms = wait_ms + communication_ms + compute_ms;
    return ms > 0 ? wait_ms / ms : 0;
  }
};

}  // namespace shardmill
