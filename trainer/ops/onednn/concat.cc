// A row at a time, all parts of it: so each line of the cache is written once and whole.
#include <algorithm>

#include "trainer/ops/onednn/channel_kernels.h"
#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/parallel.h"

namespace shardmill {
namespace {

int64_t RowOffset(const Shape& shape, int64_t n, int64_t y) {
  return (n * shape.h + y) * shape.w * shape.c;
}

// Zeroes `channels` numbers of each of `pixels` pixels.
void ClearChannels(float* first, int64_t pixels, int64_t channels, int64_t stride) {
  for (int64_t p = 0; p < pixels; ++p) std::fill_n(first + p * stride, channels, 0.0f);
}

// One row of the whole; `to` is its first element in the channels of the part.
void WriteRow(const ConcatPart& part, const Shape& whole, int64_t n, int64_t y, float* to) {
  const Shape& shape = part.shape;
  const int64_t copied = y < shape.h ? std::min(shape.w, whole.w) : 0;
  if (copied > 0) {
    CopyChannels({copied, shape.c, shape.c, whole.c},
                 static_cast<const float*>(part.x) + RowOffset(shape, n, y), to);
  }
  ClearChannels(to + copied * whole.c, whole.w - copied, shape.c, whole.c);
}

// One row of the part (of which the whole may have none: then `from` is not read).
void ReadRow(const ConcatPart& part, const Shape& whole, int64_t n, int64_t y, const float* from) {
  const Shape& shape = part.shape;
  if (y >= shape.h) return;
  const int64_t copied = y < whole.h ? std::min(shape.w, whole.w) : 0;
  const PixelRun run = {copied, shape.c, whole.c, shape.c};
  float* to = static_cast<float*>(part.dx) + RowOffset(shape, n, y);
  if (part.mode == GradientMode::kAdd) {
    if (copied > 0) AddChannels(run, from, to);
    return;
  }
  if (copied > 0) CopyChannels(run, from, to);
  ClearChannels(to + copied * shape.c, shape.w - copied, shape.c, shape.c);
}

}  // namespace

Status OnednnOps::ConcatForward(Stream&, const Shape& whole, const ConcatPart* parts, int count,
                                void* y) {
  ParallelFor(whole.n * whole.h, [&](int64_t row, int64_t) {
    const int64_t n = row / whole.h, line = row % whole.h;
    float* to = static_cast<float*>(y) + RowOffset(whole, n, line);
    for (int i = 0; i < count; ++i) {
      WriteRow(parts[i], whole, n, line, to);
      to += parts[i].shape.c;
    }
  });
  return OkStatus();
}

Status OnednnOps::ConcatBackward(Stream&, const Shape& whole, const ConcatPart* parts, int count,
                                 const void* dy) {
  int64_t lines = whole.h;
  for (int i = 0; i < count; ++i) lines = std::max(lines, parts[i].shape.h);
  ParallelFor(whole.n * lines, [&](int64_t row, int64_t) {
    const int64_t n = row / lines, line = row % lines;
    // No row of the whole belongs to lines below it.
    int64_t offset = RowOffset(whole, n, std::min(line, whole.h - 1));
    for (int i = 0; i < count; ++i) {
      if (parts[i].dx != nullptr) {
        ReadRow(parts[i], whole, n, line, static_cast<const float*>(dy) + offset);
      }
      offset += parts[i].shape.c;
    }
  });
  return OkStatus();
}

}  // namespace shardmill
