// What happens in a run, as the logs report it. Plain data. Epochs and steps count from 1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/evaluation/metrics.h"

namespace shardmill {

// Up to where the logs of a run that goes on are kept: the step behind which it goes on, and the
// evaluation behind that step unless it is still to be done.
struct LogPlace {
  uint64_t step = 0;
  bool is_behind_evaluation = true;
};

// Where the time of steps went, on one rank. Together the parts are all of it.
struct StepTimes {
  double wait_ms = 0;  // for data
  // To bring the batch to the input of the network: on the host images become normalised numbers;
  // what goes to a GPU is copied while that computes, so this is what the host spends on it.
  double copy_ms = 0;
  double communication_ms = 0;  // waiting for other ranks
  double compute_ms = 0;        // all the rest

  double TotalMs() const { return wait_ms + copy_ms + communication_ms + compute_ms; }
  // Of one of the parts.
  double Share(double ms) const { return TotalMs() > 0 ? ms / TotalMs() : 0; }
  double ImagesPerSecond(int64_t images) const {
    return TotalMs() > 0 ? 1e3 * static_cast<double>(images) / TotalMs() : 0;
  }
  void Add(const StepTimes& other) {
    wait_ms += other.wait_ms;
    copy_ms += other.copy_ms;
    communication_ms += other.communication_ms;
    compute_ms += other.compute_ms;
  }
};

struct StepEvent : StepTimes {
  uint64_t step = 0;  // of the whole run
  uint64_t epoch = 0;
  double loss = 0;  // mean over the labelled pixels of the batch
  double learning_rate = 0;
  double gradient_norm = 0;
  int64_t images = 0;
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
struct EpochEvent : StepTimes {
  uint64_t epoch = 0;
  uint64_t step = 0;
  double loss = 0;  // over the labelled pixels of the epoch
  double learning_rate = 0;
  int64_t images = 0;
  const EvaluationEvent* evaluation = nullptr;  // null: there was none
};

}  // namespace shardmill
