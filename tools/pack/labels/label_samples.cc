#include "tools/pack/labels/label_samples.h"

#include <algorithm>
#include <optional>

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
    if (pixel[0] != pixel[bytes]) return false;  // soon, of nearly all files in colours
    if (std::memcmp(pixel, pixel + bytes, 2 * bytes) != 0) return false;
  }
  return true;
}

namespace {

bool HasVaryingAlphaChannel(const SourceImage& image) {
  const auto bytes = static_cast<size_t>(image.sample_bytes);
  for (size_t i = 3 * bytes; i < image.samples.size(); i += 4 * bytes) {
    if (std::memcmp(&image.samples[3 * bytes], &image.samples[i], bytes) != 0) return true;
  }
  return false;
}

// Of the colours that pixels use: what the others are does not matter.
bool HasVaryingPaletteAlpha(const SourceImage& image) {
  const std::vector<uint8_t>& alpha = image.palette_alpha;
  if (std::all_of(alpha.begin(), alpha.end(), [](uint8_t each) { return each == 255; })) {
    return false;
  }
  std::optional<uint8_t> first;
  for (const uint32_t index : ValuesOf(image)) {
    const uint8_t own = index < alpha.size() ? alpha[index] : 255;
    if (own != first.value_or(own)) return true;
    first = own;
  }
  return false;
}

bool IsTransparent(const SourceImage& image, const uint8_t* pixel) {
  const int channels = ChannelsOf(image.layout);
  for (int c = 0; c < channels; ++c) {
    const uint32_t sample = SampleAt(pixel + c * image.sample_bytes, image.sample_bytes);
    if (sample != (*image.transparent_value)[static_cast<size_t>(c)]) return false;
  }
  return true;
}

bool HasTransparentValue(const SourceImage& image) {
  const auto step = static_cast<size_t>(ChannelsOf(image.layout) * image.sample_bytes);
  if (image.samples.empty()) return false;
  const bool first = IsTransparent(image, image.samples.data());
  for (size_t i = step; i < image.samples.size(); i += step) {
    if (IsTransparent(image, &image.samples[i]) != first) return true;
  }
  return false;
}

bool HasVaryingAlpha(const SourceImage& image) {
  switch (image.layout) {
    case PixelLayout::kRgba:
      return HasVaryingAlphaChannel(image);
    case PixelLayout::kPalette:
      return HasVaryingPaletteAlpha(image);
    case PixelLayout::kGray:
    case PixelLayout::kRgb:
      return image.transparent_value.has_value() && HasTransparentValue(image);
    case PixelLayout::kGrayAlpha:
      break;  // refused as it is
  }
  return false;
}

}  // namespace

Status CheckTransparency(const SourceImage& image) {
  if (!HasVaryingAlpha(image)) return OkStatus();
  return InvalidArgumentError(
      "a label of which some pixels are transparent: whether they mean a class or none is not "
      "certain; save it without transparency");
}

}  // namespace shardmill
