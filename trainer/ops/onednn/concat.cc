#include <algorithm>

#include "trainer/ops/onednn/channel_kernels.h"
#include "trainer/ops/onednn/onednn_ops.h"
#include "trainer/ops/onednn/parallel.h"

namespace shardmill {
namespace {

const float* Row(const void* tensor, const Shape& shape, int64_t n, int64_t y) {
  return static_cast<const float*>(tensor) + (n * shape.h + y) * shape.w * shape.c;
}

float* Row(void* tensor, const Shape& shape, int64_t n, int64_t y) {
  return static_cast<float*>(tensor) + (n * shape.h + y) * shape.w * shape.c;
}

// Zeroes `channels` numbers of each of `pixels` pixels.
void ClearChannels(float* first, int64_t pixels, int64_t channels, int64_t stride) {
  for (int64_t p = 0; p < pixels; ++p) std::fill_n(first + p * stride, channels, 0.0f);
}

}  // namespace

Status OnednnOps::ConcatForward(Stream&, const Shape& part, const Shape& whole, int64_t channel,
                                const void* x, void* y) {
  const int64_t columns = std::min(part.w, whole.w);
  ParallelFor(whole.n * whole.h, [&](int64_t row, int64_t) {
    const int64_t n = row / whole.h, line = row % whole.h;
    float* to = Row(y, whole, n, line) + channel;
    const int64_t copied = line < part.h ? columns : 0;
    if (copied > 0) CopyChannels({copied, part.c, part.c, whole.c}, Row(x, part, n, line), to);
    ClearChannels(to + copied * whole.c, whole.w - copied, part.c, whole.c);
  });
  return OkStatus();
}

Status OnednnOps::ConcatBackward(Stream&, const Shape& part, const Shape& whole, int64_t channel,
                                 const void* dy, GradientMode mode, void* dx) {
  const int64_t columns = std::min(part.w, whole.w);
  ParallelFor(part.n * part.h, [&](int64_t row, int64_t) {
    const int64_t n = row / part.h, line = row % part.h;
    float* to = Row(dx, part, n, line);
    const int64_t copied = line < whole.h ? columns : 0;
    const PixelRun run = {copied, part.c, whole.c, part.c};
    if (mode == GradientMode::kAdd) {
      if (copied > 0) AddChannels(run, Row(dy, whole, n, line) + channel, to);
      return;
    }
    if (copied > 0) CopyChannels(run, Row(dy, whole, n, line) + channel, to);
    ClearChannels(to + copied * part.c, part.w - copied, part.c, part.c);
  });
  return OkStatus();
}

}  // namespace shardmill
