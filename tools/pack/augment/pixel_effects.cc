#include "tools/pack/augment/pixel_effects.h"

#include <algorithm>
#include <cstring>

#include "reader/color_change.h"
#include "tools/pack/records/pixel_sums.h"

namespace shardmill {
namespace {

// The mean of all samples in the runs, in 2^-16 levels.
int64_t MeanOfRuns(ImageSize size, const std::vector<PixelSpan>& shown, const uint8_t* rgb) {
  RgbSums sums;
  uint64_t pixels = 0;
  for (size_t y = 0; y < shown.size(); ++y) {
    const PixelSpan& span = shown[y];
    AddRgbSums(rgb + 3 * (y * size.width + span.begin), span.end - span.begin, &sums);
    pixels += span.end - span.begin;
  }
  return MeanLevel(sums.sum[0] + sums.sum[1] + sums.sum[2], 3 * pixels);
}

uint8_t Limit(int64_t level) { return static_cast<uint8_t>(std::clamp<int64_t>(level, 0, 255)); }

// The weights of the binomial filter; they add up to 4^radius.
std::vector<uint32_t> BinomialWeights(uint32_t radius) {
  std::vector<uint32_t> weights = {1};
  for (uint32_t i = 0; i < 2 * radius; ++i) {
    weights.push_back(1);
    for (size_t k = weights.size() - 2; k > 0; --k) weights[k] += weights[k - 1];
  }
  return weights;
}

// Filters `count` pixels that lie `step` bytes apart; beyond the ends these go on.
void BlurLine(const uint8_t* in, size_t count, size_t step, const std::vector<uint32_t>& weights,
              uint8_t* out) {
  const auto radius = static_cast<int64_t>(weights.size() / 2);
  const auto last = static_cast<int64_t>(count) - 1;
  const uint32_t shift = static_cast<uint32_t>(weights.size()) - 1;  // 4^radius = 2^(2 radius)
  for (int64_t i = 0; i <= last; ++i) {
    uint32_t sums[3] = {};
    for (int64_t k = -radius; k <= radius; ++k) {
      const uint8_t* pixel = in + static_cast<size_t>(std::clamp<int64_t>(i + k, 0, last)) * step;
      const uint32_t weight = weights[static_cast<size_t>(k + radius)];
      for (int c = 0; c < 3; ++c) sums[c] += weight * pixel[c];
    }
    for (int c = 0; c < 3; ++c) {
      out[static_cast<size_t>(i) * step + static_cast<size_t>(c)] =
          static_cast<uint8_t>((sums[c] + (1u << shift >> 1)) >> shift);
    }
  }
}

}  // namespace

void ChangeColors(const Augmentation& augmentation, ImageSize size,
                  const std::vector<PixelSpan>& shown, uint8_t* rgb) {
  ColorChange change;
  change.brightness_permille = augmentation.brightness_permille;
  change.contrast_permille = augmentation.contrast_permille;
  change.saturation_permille = augmentation.saturation_permille;
  change.hue_millidegrees = augmentation.hue_millidegrees;
  MapColors(MakeColorMap(change, MeanOfRuns(size, shown, rgb), 255), size.pixels(), rgb);
}

void Blur(uint32_t radius, ImageSize size, std::vector<uint8_t>* rgb) {
  if (radius == 0) return;
  const std::vector<uint32_t> weights = BinomialWeights(radius);
  std::vector<uint8_t> between(rgb->size());
  const size_t row_bytes = size_t{3} * size.width;
  for (size_t y = 0; y < size.height; ++y) {
    BlurLine(rgb->data() + y * row_bytes, size.width, 3, weights, between.data() + y * row_bytes);
  }
  for (size_t x = 0; x < size.width; ++x) {
    BlurLine(between.data() + 3 * x, size.height, row_bytes, weights, rgb->data() + 3 * x);
  }
}

void AddNoise(uint32_t deviation_permille, uint64_t seed, std::vector<uint8_t>* rgb) {
  if (deviation_permille == 0) return;
  // Four bytes add up to 510 on average, with a standard deviation of 147.80.
  constexpr int64_t kScale = 29059;  // 2^32 / (1000 * 147.80)
  RandomStream random(seed);
  for (size_t i = 0; i < rgb->size(); i += 2) {
    uint64_t bits = random.Next();
    for (size_t k = i; k < std::min(i + 2, rgb->size()); ++k, bits >>= 32) {
      const auto sum = static_cast<int64_t>((bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) +
                                            (bits >> 24 & 255));
      const int64_t noise = (sum - 510) * int64_t{deviation_permille} * kScale;
      (*rgb)[k] = Limit((*rgb)[k] + ((noise + (int64_t{1} << 31)) >> 32));
    }
  }
}

void FillRegion(const Region& region, uint8_t value, ImageSize size, uint8_t* rgb) {
  for (size_t y = region.y; y < size_t{region.y} + region.size.height; ++y) {
    std::memset(rgb + 3 * (y * size.width + region.x), value, size_t{3} * region.size.width);
  }
}

void FillOutside(const std::vector<PixelSpan>& shown, uint8_t value, ImageSize size, uint8_t* rgb) {
  for (size_t y = 0; y < shown.size(); ++y) {
    uint8_t* row = rgb + 3 * y * size.width;
    std::memset(row, value, size_t{3} * shown[y].begin);
    std::memset(row + size_t{3} * shown[y].end, value, size_t{3} * (size.width - shown[y].end));
  }
}

}  // namespace shardmill
