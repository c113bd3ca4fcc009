// Collects the logits of overlapping windows of one picture and averages them.
//
// Not for concurrent use.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

class LogitCanvas {
 public:
  // REQUIRES: positive sizes. Pixels that no window covers have logits of 0.
  LogitCanvas(int64_t height, int64_t width, int64_t classes);

  int64_t height() const { return height_; }
  int64_t width() const { return width_; }
  void Clear();
  // Adds dense logits [window_height, window_width, classes] whose corner lies at (y, x), which may
  // be negative; what sticks out is left away.
  void Add(int64_t y, int64_t x, int64_t window_height, int64_t window_width, const float* logits);
  // Divides by how many windows cover each pixel; call it once, after all windows.
  void Average();
  const float* logits() const { return sums_.data(); }
  // The class of the largest logit (the first of equals) of each pixel; `uncovered` where no window
  // was.
  std::vector<uint16_t> Classes(uint16_t uncovered = 0) const;
  uint64_t UncoveredPixels() const;

 private:
  int64_t height_, width_, classes_;
  std::vector<float> sums_;
  std::vector<uint32_t> counts_;  // a stride of 1 puts a window on a pixel for each of its own
};

// Where windows of `window` pixels start to cover `size` pixels in steps of `stride`; the last one
// ends at the edge. REQUIRES: 1 <= window <= size, stride >= 1.
std::vector<int64_t> WindowStarts(int64_t size, int64_t window, int64_t stride);

}  // namespace shardmill
