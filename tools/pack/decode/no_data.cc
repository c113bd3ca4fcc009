#include "tools/pack/decode/no_data.h"

#include <algorithm>
#include <cstring>

namespace shardmill {
namespace {

constexpr double kSampleValues = 65536;  // a sample has at most 16 bits

template <typename Sample>
bool HasPixelOf(const SourceImage& image, Sample wanted) {
  const auto channels = static_cast<size_t>(ChannelsOf(image.layout));
  const bool has_alpha =
      image.layout == PixelLayout::kGrayAlpha || image.layout == PixelLayout::kRgba;
  const size_t compared = has_alpha ? channels - 1 : channels;
  for (size_t i = 0; i < image.samples.size(); i += channels * sizeof(Sample)) {
    size_t equal = 0;
    for (; equal < compared; ++equal) {
      Sample sample;
      std::memcpy(&sample, &image.samples[i + equal * sizeof sample], sizeof sample);
      if (sample != wanted) break;
    }
    if (equal == compared) return true;
  }
  return false;
}

}  // namespace

std::optional<uint32_t> NoDataSample(const SourceImage& image) {
  const double wanted = image.no_data.value_or(-1);
  if (!(wanted >= 0 && wanted < kSampleValues)) return std::nullopt;
  const auto sample = static_cast<uint32_t>(wanted);
  if (static_cast<double>(sample) != wanted) return std::nullopt;
  if (image.sample_bytes == 1 && sample > UINT8_MAX) return std::nullopt;
  const bool found = image.sample_bytes == 1 ? HasPixelOf(image, static_cast<uint8_t>(sample))
                                             : HasPixelOf(image, static_cast<uint16_t>(sample));
  return found ? std::optional(sample) : std::nullopt;
}

}  // namespace shardmill
