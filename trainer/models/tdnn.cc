#include "trainer/models/tdnn.h"

#include <string>

#include "trainer/models/model_builder.h"

namespace shardmill {
namespace {

// `kernel` frames, `dilation` apart, around each.
Window FrameWindow(int64_t kernel, int64_t dilation) {
  const int64_t pad = kernel / 2 * dilation;
  return {1, kernel, 1, 1, 0, pad, 0, pad, 1, dilation};
}

}  // namespace

ModelSpec TdnnSpec(int64_t features, int64_t classes, int64_t width) {
  ModelBuilder model("tdnn", features);
  std::string value = model.NormalizedConvolution("frames1", "images", width, FrameWindow(5, 1));
  value = model.NormalizedConvolution("frames2", value, width, FrameWindow(3, 2));
  value = model.NormalizedConvolution("frames3", value, width, FrameWindow(3, 3));
  value = model.NormalizedConvolution("frames4", value, width, FrameWindow(1, 1));
  const int64_t pooled = (1500 * width + 511) / 512;
  value = model.NormalizedConvolution("frames5", value, pooled, FrameWindow(1, 1));
  value = model.Plain("statistics", LayerKind::kStatisticsPool, value);
  value = model.NormalizedConvolution("segment1", value, width, SquareWindow(1, 1, 0));
  value = model.NormalizedConvolution("segment2", value, width, SquareWindow(1, 1, 0));
  model.Convolution("head", value, classes, SquareWindow(1, 1, 0), /*bias=*/true);
  return model.Take();
}

}  // namespace shardmill
