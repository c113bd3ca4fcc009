#include "trainer/prediction/logit_canvas.h"

#include <algorithm>

namespace shardmill {

LogitCanvas::LogitCanvas(int64_t height, int64_t width, int64_t classes)
    : height_(height),
      width_(width),
      classes_(classes),
      sums_(height * width * classes, 0.0f),
      counts_(height * width, 0) {}

void LogitCanvas::Clear() {
  std::fill(sums_.begin(), sums_.end(), 0.0f);
  std::fill(counts_.begin(), counts_.end(), uint32_t{0});
}

void LogitCanvas::Add(int64_t y, int64_t x, int64_t window_height, int64_t window_width,
                      const float* logits) {
  const int64_t left = std::max<int64_t>(x, 0), right = std::min(width_, x + window_width);
  for (int64_t row = std::max<int64_t>(y, 0); row < std::min(height_, y + window_height); ++row) {
    const float* from = logits + ((row - y) * window_width + left - x) * classes_;
    float* to = sums_.data() + (row * width_ + left) * classes_;
    for (int64_t i = 0; i < (right - left) * classes_; ++i) to[i] += from[i];
    for (int64_t column = left; column < right; ++column) ++counts_[row * width_ + column];
  }
}

void LogitCanvas::Average() {
  for (int64_t p = 0; p < height_ * width_; ++p) {
    if (counts_[p] < 2) continue;
    const float share = 1.0f / static_cast<float>(counts_[p]);
    for (int64_t k = 0; k < classes_; ++k) sums_[p * classes_ + k] *= share;
  }
}

std::vector<uint16_t> LogitCanvas::Classes(uint16_t uncovered) const {
  std::vector<uint16_t> classes(height_ * width_);
  for (int64_t p = 0; p < height_ * width_; ++p) {
    if (counts_[p] == 0) {
      classes[p] = uncovered;
      continue;
    }
    const float* first = sums_.data() + p * classes_;
    classes[p] = static_cast<uint16_t>(std::max_element(first, first + classes_) - first);
  }
  return classes;
}

uint64_t LogitCanvas::UncoveredPixels() const {
  return static_cast<uint64_t>(std::count(counts_.begin(), counts_.end(), uint32_t{0}));
}

std::vector<int64_t> WindowStarts(int64_t size, int64_t window, int64_t stride) {
  SHARDMILL_CHECK(window >= 1 && window <= size && stride >= 1);
  std::vector<int64_t> starts;
  for (int64_t start = 0; start + window < size; start += stride) starts.push_back(start);
  starts.push_back(size - window);
  return starts;
}

}  // namespace shardmill
