// The confusion matrix of a batch, from labels and predictions as they lie on the device.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/atomic_add.h"
#include "trainer/cuda/kernels/group.h"

namespace shardmill {

// What is counted: classes × classes numbers, labels in rows, and after them these two.
struct ConfusionCounts {
  static constexpr int64_t kExtra = 2;
  static int64_t Elements(int64_t classes) { return classes * classes + kExtra; }

  SHARDMILL_HD uint64_t* Pair(int64_t label, int64_t predicted) const {
    return numbers + label * classes + predicted;
  }
  SHARDMILL_HD uint64_t* Ignored() const { return numbers + classes * classes; }
  // 2^64 - 1 minus the first pixel whose label is neither a class nor the one to ignore; 0: none.
  SHARDMILL_HD uint64_t* Wrong() const { return numbers + classes * classes + 1; }

  int64_t classes;
  uint64_t* numbers;
};

// One index: a run of kRun pixels. Neighbours often agree, and are then counted at once.
template <typename ClassId>
struct ConfusionKernel {
  static constexpr int64_t kRun = 32;
  int64_t pixels;
  int64_t first_pixel;  // what comes before this batch
  int64_t ignore;       // -1: none
  const ClassId* labels;
  const ClassId* predicted;
  ConfusionCounts counts;

  SHARDMILL_HD void operator()(int64_t index) const {
    const int64_t end = Smaller((index + 1) * kRun, pixels);
    uint64_t* last = nullptr;
    uint64_t times = 0;
    for (int64_t p = index * kRun; p < end; ++p) {
      uint64_t* cell = CellOf(p);
      if (cell != last) {
        if (times > 0) AddWholeNumber(times, last);
        times = 0;
        last = cell;
      }
      times += cell != nullptr ? 1 : 0;
    }
    if (times > 0) AddWholeNumber(times, last);
  }

  // What the pixel counts in; null where its label is wrong.
  SHARDMILL_HD uint64_t* CellOf(int64_t pixel) const {
    const int64_t label = labels[pixel];
    if (label == ignore) return counts.Ignored();
    if (label < counts.classes) return counts.Pair(label, predicted[pixel]);
    KeepLarger(~static_cast<uint64_t>(first_pixel + pixel), counts.Wrong());
    return nullptr;
  }
};

}  // namespace shardmill
