// How sums over the pixels of a tensor are cut, and the memory they need on the way.
//
// The cut depends on the shape alone and partial sums are added in the order of the pieces, so
// sums have the same bits on any number of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trainer/graph/tensor.h"
#include "trainer/ops/onednn/parallel.h"
#include "trainer/ops/onednn/period.h"

namespace shardmill {

// How a tensor is cut into pieces of whole pixels: by its shape alone.
struct Pieces {
  explicit Pieces(const Shape& shape) : channels(shape.c), pixels(shape.Pixels()) {
    constexpr int64_t kMostPieces = 1024;
    constexpr int64_t kElements = 8192;  // what the first-level cache holds
    const int64_t by_cache = (kElements + channels - 1) / channels;
    pixels_per_piece = std::max(by_cache, (pixels + kMostPieces - 1) / kMostPieces);
    // A piece starts where the period starts.
    const int64_t period_pixels = PeriodOf(channels) / channels;
    pixels_per_piece = (pixels_per_piece + period_pixels - 1) / period_pixels * period_pixels;
    count = (pixels + pixels_per_piece - 1) / pixels_per_piece;
  }

  int64_t Offset(int64_t piece) const { return piece * pixels_per_piece * channels; }
  int64_t Pixels(int64_t piece) const {
    return std::min(pixels_per_piece, pixels - piece * pixels_per_piece);
  }
  int64_t Elements(int64_t piece) const { return Pixels(piece) * channels; }

  int64_t channels, pixels, pixels_per_piece, count;
};

// The workspace: two numbers per piece and channel, periodic vectors, scratch per thread.
class PieceWorkspace {
 public:
  static constexpr int64_t kPeriodicVectors = 5;
  static constexpr int64_t kPeriodicScratch = 2;  // per thread

  static int64_t Bytes(const Shape& shape) {
    const int64_t vectors = kPeriodicVectors + kPeriodicScratch * MaxThreads();
    return Pieces(shape).count * 2 * shape.c * static_cast<int64_t>(sizeof(double)) +
           vectors * PeriodOf(shape.c) * static_cast<int64_t>(sizeof(float));
  }

  PieceWorkspace(const Shape& shape, void* memory)
      : channels_(shape.c),
        period_(PeriodOf(shape.c)),
        partials_(static_cast<double*>(memory)),
        vectors_(reinterpret_cast<float*>(partials_ + Pieces(shape).count * 2 * channels_)) {}

  // Two vectors of `channels` numbers for a piece.
  double* Partials(int64_t piece) { return partials_ + piece * 2 * channels_; }
  float* Vector(int64_t index) { return vectors_ + index * period_; }
  // A zeroed periodic vector of this thread.
  float* Scratch(int64_t thread, int64_t index) {
    float* scratch = Vector(kPeriodicVectors + thread * kPeriodicScratch + index);
    std::fill_n(scratch, period_, 0.0f);
    return scratch;
  }

 private:
  int64_t channels_, period_;
  double* partials_;
  float* vectors_;
};

}  // namespace shardmill
