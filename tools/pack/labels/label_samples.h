// The samples of label images as numbers and as colours, before they mean anything.
//
// Free functions without state.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/decode/source_image.h"
#include "tools/pack/labels/label_rules.h"

namespace shardmill {

// Samples have at most 16 bits.
constexpr uint32_t kSampleValues = 65536;

constexpr uint32_t GrayColor(uint32_t level) { return level << 16 | level << 8 | level; }
constexpr bool IsGray(uint32_t color) { return color == GrayColor(color & 255); }

inline uint32_t SampleAt(const uint8_t* pixel, int sample_bytes) {
  if (sample_bytes == 1) return *pixel;
  uint16_t value;
  std::memcpy(&value, pixel, sizeof value);
  return value;
}

// The colour of a gray level, scaled to 8 bits, with kLabelColorFlag; the level itself when it lies
// between two colours.
uint32_t ColorOfLevel(uint32_t level, int stored_bits);

// The values that occur in an image of one channel, in rising order.
std::vector<uint32_t> ValuesOf(const SourceImage& image);

// For images of three or four channels: red, green and blue are the same in every pixel.
bool AllChannelsAreEqual(const SourceImage& image);

// InvalidArgument when some pixels of a label are more transparent than others, by an alpha channel
// or by colours that are transparent.
Status CheckTransparency(const SourceImage& image);

}  // namespace shardmill
