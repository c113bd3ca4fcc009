#include "reader/image_normalize.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "reader/image_kernels.h"

namespace shardmill {
namespace {

// Values in a pattern: enough whole vectors that the loop around it costs nothing, few enough to
// stay in the first cache level.
constexpr uint64_t kPatternValues = 512;
constexpr uint64_t kPlanePatternValues = 64;
// Values that are split into planes at once, in a buffer on the stack.
constexpr uint64_t kChunkValues = 4096;

Status CheckImage(const FieldSpec& stored) {
  const std::string name = "field '" + stored.name + "'";
  if (stored.role != Role::kImage || stored.shape.size() != 3) {
    return InvalidArgumentError(name + " is not an image; only images can be normalised");
  }
  if (stored.dtype != DType::kU8 && stored.dtype != DType::kU16 && stored.dtype != DType::kF32) {
    return InvalidArgumentError(name + " is an image of " + std::string(DTypeName(stored.dtype)) +
                                "; those of u8, u16 and f32 can be normalised");
  }
  if (stored.shape[2] == kVariableDim || stored.shape[2] > static_cast<int64_t>(kChunkValues)) {
    return InvalidArgumentError(name + " has a varying number of channels, or more than " +
                                std::to_string(kChunkValues) + "; it cannot be normalised");
  }
  return OkStatus();
}

}  // namespace

Result<ImageNormalizer> ImageNormalizer::Create(const FieldSpec& stored,
                                                const std::vector<double>& mean,
                                                const std::vector<double>& deviation,
                                                Delivery delivery) {
  RETURN_IF_ERROR(CheckImage(stored));
  const auto channels = static_cast<uint64_t>(stored.shape[2]);
  if (mean.size() != channels || deviation.size() != channels) {
    return InvalidArgumentError("field '" + stored.name + "' has " + std::to_string(channels) +
                                " channels, but there are " + std::to_string(mean.size()) +
                                " means and " + std::to_string(deviation.size()) + " deviations");
  }
  for (uint64_t c = 0; c < channels; ++c) {
    if (!std::isfinite(mean[c]) || !std::isfinite(deviation[c]) || deviation[c] < 0) {
      return InvalidArgumentError("the mean or deviation of channel " + std::to_string(c) +
                                  " of field '" + stored.name + "' is not a finite number");
    }
  }
  ImageNormalizer normalizer;
  normalizer.dtype_ = stored.dtype;
  normalizer.channels_ = channels;
  normalizer.is_planar_ = delivery == Delivery::kNormalizedNchw;
  normalizer.MakePatterns(mean, deviation);
  normalizer.delivered_ = stored;
  normalizer.delivered_.dtype = DType::kF32;
  normalizer.delivered_.codec = Codec::kRaw;
  normalizer.delivered_.dictionary = nullptr;
  if (normalizer.is_planar_) {
    normalizer.delivered_.shape = {stored.shape[2], stored.shape[0], stored.shape[1]};
  }
  return normalizer;
}

void ImageNormalizer::Normalize(const uint8_t* stored, uint64_t pixels, float* out) const {
  if (!is_planar_ || channels_ == 1) {
    NormalizeValues(dtype_, stored, pixels * channels_, period_, mean_.data(), factor_.data(), out);
    return;
  }
  const uint64_t value_bytes = DTypeBytes(dtype_);
  const uint64_t chunk = kChunkValues / channels_;
  alignas(64) uint8_t planes[kChunkValues * sizeof(float)];
  for (uint64_t first = 0; first < pixels; first += chunk) {
    const uint64_t count = std::min(chunk, pixels - first);
    SplitChannels(dtype_, stored + first * channels_ * value_bytes, count, channels_, chunk,
                  planes);
    for (uint64_t c = 0; c < channels_; ++c) {
      NormalizeValues(dtype_, planes + c * chunk * value_bytes, count, period_,
                      mean_.data() + c * period_, factor_.data() + c * period_,
                      out + c * pixels + first);
    }
  }
}

// Interleaved pixels have one pattern, in which the channels take turns; planes one for each
// channel.
void ImageNormalizer::MakePatterns(const std::vector<double>& mean,
                                   const std::vector<double>& deviation) {
  const bool is_interleaved = !is_planar_ || channels_ == 1;
  period_ = is_interleaved ? std::max<uint64_t>(1, kPatternValues / channels_) * channels_
                           : kPlanePatternValues;
  const uint64_t values = is_interleaved ? period_ : period_ * channels_;
  for (uint64_t i = 0; i < values; ++i) {
    const uint64_t channel = is_interleaved ? i % channels_ : i / period_;
    mean_.push_back(static_cast<float>(mean[channel]));
    factor_.push_back(static_cast<float>(1 / (deviation[channel] > 0 ? deviation[channel] : 1)));
  }
}

}  // namespace shardmill
