#include "tools/pack/label_samples.h"

namespace shardmill {

uint32_t ColorOfLevel(uint32_t level, int stored_bits) {
  if (stored_bits == 16) return level % 257 == 0 ? GrayColor(level / 257) | kLabelColorFlag : level;
  return GrayColor(level * 255 / ((1u << stored_bits) - 1)) | kLabelColorFlag;
}

std::vector<uint32_t> ValuesOf(const SourceImage& image) {
  const auto step = static_cast<size_t>(image.sample_bytes);
  std::vector<uint8_t> occurs(step == 1 ? 256 : kSampleValues);
  for (size_t i = 0; i < image.samples.size(); i += step) {
    occurs[SampleAt(&image.samples[i], image.sample_bytes)] = 1;
  }
  std::vector<uint32_t> values;
  for (uint32_t value = 0; value < occurs.size(); ++value) {
    if (occurs[value] != 0) values.push_back(value);
  }
  return values;
}

bool AllChannelsAreEqual(const SourceImage& image) {
  const auto step =
      static_cast<size_t>(ChannelsOf(image.layout)) * static_cast<size_t>(image.sample_bytes);
  const auto bytes = static_cast<size_t>(image.sample_bytes);
  for (size_t i = 0; i < image.samples.size(); i += step) {
    const uint8_t* pixel = &image.samples[i];
    if (std::memcmp(pixel, pixel + bytes, 2 * bytes) != 0) return false;
  }
  return true;
}

bool HasVaryingAlpha(const SourceImage& image) {
  if (image.layout != PixelLayout::kRgba) return false;
  const auto bytes = static_cast<size_t>(image.sample_bytes);
  for (size_t i = 3 * bytes; i < image.samples.size(); i += 4 * bytes) {
    if (std::memcmp(&image.samples[3 * bytes], &image.samples[i], bytes) != 0) return true;
  }
  return false;
}

}  // namespace shardmill
