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
  double WaitingShare() const { return TotalMs() > 0 ? wait_ms / TotalMs() : 0; }
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

// Pictures of what the network predicts, as PNG files.
struct PictureEvent {
  struct Picture {
    std::string name;
    int64_t height = 0;
    int64_t width = 0;
    std::string png;
  };
  std::string split;
  uint64_t step = 0;
  std::vector<Picture> pictures;
};

// A step whose loss stands out from those before it.
struct OutlierEvent {
  uint64_t step = 0;
  uint64_t epoch = 0;
  double loss = 0;
  double mean = 0;                   // of the steps before, the newer ones counting more
  double deviations = 0;             // by how many standard deviations the loss is above it
  std::vector<std::string> records;  // "17 (train/0017.png)": number in the split and key
  std::string dump;                  // file that keeps the batch; empty: none
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
