#include "tools/pack/augment/pixel_effects.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "tools/pack/augment/fixed_angle.h"
#include "tools/pack/pixel_sums.h"

namespace shardmill {
namespace {

constexpr int kBits = 16;  // of factors
constexpr int64_t kOne = int64_t{1} << kBits;
// Of red, green and blue in the luma of a pixel (ITU-R BT.601).
constexpr int64_t kLuma[3] = {19595, 38470, 7471};
static_assert(kLuma[0] + kLuma[1] + kLuma[2] == kOne);

using Matrix = std::array<std::array<int64_t, 3>, 3>;

Matrix Multiply(const Matrix& a, const Matrix& b) {
  Matrix product = {};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      int64_t sum = 0;
      for (size_t k = 0; k < 3; ++k) sum += a[i][k] * b[k][j];
      product[i][j] = (sum + kOne / 2) >> kBits;
    }
  }
  return product;
}

// Moves every colour from or to its luma.
Matrix Saturation(int64_t permille) {
  Matrix matrix = {};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      const int64_t one = i == j ? kOne : 0;
      matrix[i][j] = kLuma[j] + (one - kLuma[j]) * permille / 1000;
    }
  }
  return matrix;
}

// Turns colours around the axis of the grays.
Matrix HueTurn(int32_t millidegrees) {
  const SineCosine turn = SineCosineOf(millidegrees);
  constexpr int64_t kInverseRootOf3 = 619925131;  // in 2^-30
  const int64_t cosine = turn.cosine >> (kAngleBits - kBits);
  const int64_t side = ((turn.sine * kInverseRootOf3) >> kAngleBits) >> (kAngleBits - kBits);
  const int64_t third = (kOne - cosine) / 3;
  const int64_t diagonal = kOne - 2 * third;
  return {{{diagonal, third - side, third + side},
           {third + side, diagonal, third - side},
           {third - side, third + side, diagonal}}};
}

// The mean of all samples in the runs, in 2^-16 levels.
int64_t MeanLevel(ImageSize size, const std::vector<PixelSpan>& shown, const uint8_t* rgb) {
  RgbSums sums;
  uint64_t pixels = 0;
  for (size_t y = 0; y < shown.size(); ++y) {
    const PixelSpan& span = shown[y];
    AddRgbSums(rgb + 3 * (y * size.width + span.begin), span.end - span.begin, &sums);
    pixels += span.end - span.begin;
  }
  if (pixels == 0) return 0;
  const uint64_t sum = sums.sum[0] + sums.sum[1] + sums.sum[2];
  return static_cast<int64_t>((static_cast<unsigned __int128>(sum) << kBits) / (3 * pixels));
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
  Matrix matrix = Multiply(HueTurn(augmentation.hue_millidegrees),
                           Saturation(augmentation.saturation_permille));
  const int64_t contrast = augmentation.contrast_permille;
  for (auto& row : matrix) {
    for (int64_t& factor : row) factor = factor * contrast / 1000;
  }
  const int64_t mean = MeanLevel(size, shown, rgb);
  const int64_t offset = mean - mean * contrast / 1000 +
                         255 * kOne * augmentation.brightness_permille / 1000 + kOne / 2;
  for (size_t i = 0, pixels = size.pixels(); i < pixels; ++i, rgb += 3) {
    const int64_t in[3] = {rgb[0], rgb[1], rgb[2]};
    for (size_t c = 0; c < 3; ++c) {
      const int64_t level =
          matrix[c][0] * in[0] + matrix[c][1] * in[1] + matrix[c][2] * in[2] + offset;
      rgb[c] = Limit(level >> kBits);
    }
  }
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
