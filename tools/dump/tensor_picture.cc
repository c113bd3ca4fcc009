#include "tools/dump/tensor_picture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace shardmill {
namespace {

constexpr int64_t kMostSide = 1 << 24;
constexpr int kCheckerPixels = 8;
constexpr uint8_t kCheckerLight = 220;
constexpr uint8_t kCheckerDark = 180;

float HalfToFloat(uint16_t half) {
  const int exponent = half >> 10 & 0x1f;
  const int mantissa = half & 0x3ff;
  float value = 0;
  if (exponent == 31) {
    value = mantissa == 0 ? std::numeric_limits<float>::infinity()
                          : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(mantissa), -24);
  } else {
    value = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  }
  return (half & 0x8000) != 0 ? -value : value;
}

template <typename T>
void AppendAsDouble(const std::vector<uint8_t>& bytes, std::vector<double>* values) {
  for (size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values->push_back(static_cast<double>(value));
  }
}

std::vector<double> AsDoubles(DType dtype, const std::vector<uint8_t>& bytes) {
  std::vector<double> values;
  values.reserve(bytes.size() / DTypeBytes(dtype));
  switch (dtype) {
    case DType::kU8:
      AppendAsDouble<uint8_t>(bytes, &values);
      break;
    case DType::kU16:
      AppendAsDouble<uint16_t>(bytes, &values);
      break;
    case DType::kI32:
      AppendAsDouble<int32_t>(bytes, &values);
      break;
    case DType::kI64:
      AppendAsDouble<int64_t>(bytes, &values);
      break;
    case DType::kF32:
      AppendAsDouble<float>(bytes, &values);
      break;
    case DType::kF16:
      AppendAsDouble<uint16_t>(bytes, &values);
      for (double& value : values) value = HalfToFloat(static_cast<uint16_t>(value));
      break;
  }
  return values;
}

// The record's values stretched over 0 … 255; what is not finite becomes 0.
std::vector<uint8_t> StretchToBytes(DType dtype, const std::vector<uint8_t>& bytes) {
  const std::vector<double> values = AsDoubles(dtype, bytes);
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -lowest;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  const double range = highest > lowest ? highest - lowest : 1;
  std::vector<uint8_t> stretched(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = std::isfinite(values[i]) ? (values[i] - lowest) / range : 0;
    stretched[i] = static_cast<uint8_t>(std::lround(value * 255));
  }
  return stretched;
}

uint8_t OverChecker(uint8_t value, uint8_t alpha, int y, int x) {
  const bool light = (y / kCheckerPixels + x / kCheckerPixels) % 2 == 0;
  const int under = light ? kCheckerLight : kCheckerDark;
  return static_cast<uint8_t>((value * alpha + under * (255 - alpha) + 127) / 255);
}

Rgb PixelFromChannels(const uint8_t* values, int64_t channels, int y, int x) {
  if (channels < 3) return {values[0], values[0], values[0]};
  const Rgb color = {values[0], values[1], values[2]};
  if (channels != 4) return color;
  return {OverChecker(color.red, values[3], y, x), OverChecker(color.green, values[3], y, x),
          OverChecker(color.blue, values[3], y, x)};
}

}  // namespace

Result<Picture> PictureFromTensor(const FieldSpec& spec, const Tensor& tensor) {
  const size_t rank = tensor.shape.size();
  const bool has_sides = rank == 2 || rank == 3;
  const int64_t channels = rank == 3 ? tensor.shape[2] : 1;
  if (!has_sides || channels < 1 || tensor.shape[0] < 1 || tensor.shape[0] > kMostSide ||
      tensor.shape[1] < 1 || tensor.shape[1] > kMostSide) {
    return InvalidArgumentError("field " + spec.name + " is no picture of at least one pixel");
  }
  std::vector<uint8_t> stretched;
  if (spec.dtype != DType::kU8) stretched = StretchToBytes(spec.dtype, tensor.bytes);
  const uint8_t* values = spec.dtype == DType::kU8 ? tensor.bytes.data() : stretched.data();
  Picture picture(static_cast<int>(tensor.shape[0]), static_cast<int>(tensor.shape[1]), {});
  if (channels == 3) {
    std::memcpy(picture.pixels.data(), values, picture.pixels.size() * sizeof(Rgb));
    return picture;
  }
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x, values += channels) {
      picture.at(y, x) = PixelFromChannels(values, channels, y, x);
    }
  }
  return picture;
}

}  // namespace shardmill
