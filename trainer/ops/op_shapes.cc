#include "trainer/ops/op_shapes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace shardmill {
namespace {

// Keeps every product of sizes far below 2^63.
constexpr int64_t kMaxSize = int64_t{1} << 20;
constexpr int64_t kMaxElements = int64_t{1} << 40;

int64_t WindowsThatFit(int64_t size, int64_t pad, int64_t kernel, int64_t stride,
                       int64_t dilation) {
  const int64_t room = size + pad - (dilation * (kernel - 1) + 1);
  return room < 0 ? 0 : room / stride + 1;
}

int64_t TransposedSize(int64_t size, int64_t pad, int64_t kernel, int64_t stride,
                       int64_t dilation) {
  return (size - 1) * stride + dilation * (kernel - 1) + 1 - pad;
}

bool InRange(int64_t value, int64_t low) { return value >= low && value <= kMaxSize; }

Status CheckShape(const Shape& shape, const char* what) {
  const bool sizes = InRange(shape.n, 1) && InRange(shape.h, 1) && InRange(shape.w, 1) &&
                     InRange(shape.c, 1) && shape.n * shape.h <= kMaxElements / shape.w &&
                     shape.Pixels() <= kMaxElements / shape.c;
  if (sizes) return OkStatus();
  return InvalidArgumentError(std::string(what) + " is empty or too large: " + ShapeText(shape));
}

Status CheckWindow(const Window& window) {
  const bool sizes = InRange(window.kernel_h, 1) && InRange(window.kernel_w, 1) &&
                     InRange(window.stride_h, 1) && InRange(window.stride_w, 1) &&
                     InRange(window.dilation_h, 1) && InRange(window.dilation_w, 1);
  const bool pads = InRange(window.pad_top, 0) && InRange(window.pad_left, 0) &&
                    InRange(window.pad_bottom, 0) && InRange(window.pad_right, 0);
  if (sizes && pads) return OkStatus();
  return InvalidArgumentError(
      "the window's kernel, stride and dilation must be at least 1, its padding at least 0");
}

Status CheckOutput(const Shape& input, const Shape& output) {
  if (output.h < 1 || output.w < 1) {
    return InvalidArgumentError("an input of " + ShapeText(input) +
                                " is smaller than the window; use larger images");
  }
  return CheckShape(output, "the output");
}

}  // namespace

Window SquareWindow(int64_t kernel, int64_t stride, int64_t pad, int64_t dilation) {
  return {kernel, kernel, stride, stride, pad, pad, pad, pad, dilation, dilation};
}

Shape ConvolutionShape::Output() const {
  const auto size = transposed ? TransposedSize : WindowsThatFit;
  return {input.n,
          size(input.h, window.pad_top + window.pad_bottom, window.kernel_h, window.stride_h,
               window.dilation_h),
          size(input.w, window.pad_left + window.pad_right, window.kernel_w, window.stride_w,
               window.dilation_w),
          out_channels};
}

int64_t ConvolutionShape::WeightElements() const {
  return out_channels * window.kernel_h * window.kernel_w * (WeightChannels() / groups);
}

Status ConvolutionShape::Check() const {
  RETURN_IF_ERROR(CheckShape(input, "the input"));
  RETURN_IF_ERROR(CheckWindow(window));
  if (!InRange(out_channels, 1) || !InRange(groups, 1) || input.c % groups != 0 ||
      out_channels % groups != 0) {
    return InvalidArgumentError("the number of groups (" + std::to_string(groups) +
                                ") must divide the input channels (" + std::to_string(input.c) +
                                ") and the output channels (" + std::to_string(out_channels) + ")");
  }
  if (zero_channels < 0 || zero_channels >= input.c ||
      (zero_channels > 0 && (groups > 1 || transposed))) {
    return InvalidArgumentError("of " + std::to_string(input.c) + " input channels " +
                                std::to_string(zero_channels) +
                                " cannot be padding, nor any in groups or where it is transposed");
  }
  return CheckOutput(input, Output());
}

Shape PoolShape::Output() const {
  return {input.n,
          WindowsThatFit(input.h, window.pad_top + window.pad_bottom, window.kernel_h,
                         window.stride_h, window.dilation_h),
          WindowsThatFit(input.w, window.pad_left + window.pad_right, window.kernel_w,
                         window.stride_w, window.dilation_w),
          input.c};
}

Status PoolShape::Check() const {
  RETURN_IF_ERROR(CheckShape(input, "the input"));
  RETURN_IF_ERROR(CheckWindow(window));
  if (window.kernel_h * window.kernel_w > 255) {
    return InvalidArgumentError("a pooling window may have 255 elements at most");
  }
  if (window.dilation_h != 1 || window.dilation_w != 1) {
    return InvalidArgumentError("a pooling window may not be dilated");
  }
  if (window.pad_top >= window.kernel_h || window.pad_bottom >= window.kernel_h ||
      window.pad_left >= window.kernel_w || window.pad_right >= window.kernel_w) {
    return InvalidArgumentError("the padding of a pooling window must be smaller than its kernel");
  }
  return CheckOutput(input, Output());
}

double ActivationCeiling(Activation activation) {
  return activation == Activation::kRelu6 ? 6 : std::numeric_limits<double>::infinity();
}

Shape UpsampleShape::Output() const {
  return {input.n, input.h * factor_h, input.w * factor_w, input.c};
}

Status UpsampleShape::Check() const {
  RETURN_IF_ERROR(CheckShape(input, "the input"));
  if (!InRange(factor_h, 1) || !InRange(factor_w, 1)) {
    return InvalidArgumentError("the factors of upsampling must be at least 1");
  }
  return CheckShape(Output(), "the output");
}

UpsampleTap TapOf(UpsampleMode mode, int64_t output, int64_t factor, int64_t input_size) {
  if (mode == UpsampleMode::kNearest) return {output / factor, output / factor, 0};
  const double position = (static_cast<double>(output) + 0.5) / static_cast<double>(factor) - 0.5;
  const auto below = static_cast<int64_t>(std::floor(position));
  return {std::max<int64_t>(below, 0), std::min(below + 1, input_size - 1),
          position - static_cast<double>(below)};
}

}  // namespace shardmill
