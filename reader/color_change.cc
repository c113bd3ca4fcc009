#include "reader/color_change.h"

#include <algorithm>
#include <limits>

#include "reader/fixed_angle.h"
#include "reader/image_kernels.h"

namespace shardmill {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int64_t kOne = int64_t{1} << ColorMap::kBits;
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
      product[i][j] = (sum + kOne / 2) >> ColorMap::kBits;
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
  constexpr int kExtraBits = kAngleBits - ColorMap::kBits;
  const int64_t cosine = turn.cosine >> kExtraBits;
  const int64_t side = ((turn.sine * kInverseRootOf3) >> kAngleBits) >> kExtraBits;
  const int64_t third = (kOne - cosine) / 3;
  const int64_t diagonal = kOne - 2 * third;
  return {{{diagonal, third - side, third + side},
           {third + side, diagonal, third - side},
           {third - side, third + side, diagonal}}};
}

template <typename Sample>
Sample Limit(int64_t level) {
  return static_cast<Sample>(std::clamp<int64_t>(level, 0, std::numeric_limits<Sample>::max()));
}

template <typename Sample>
void MapTyped(const ColorMap& map, uint64_t pixels, Sample* rgb) {
  for (uint64_t i = 0; i < pixels; ++i, rgb += 3) {
    const int64_t in[3] = {rgb[0], rgb[1], rgb[2]};
    for (size_t c = 0; c < 3; ++c) {
      const auto& factor = map.factor[c];
      const int64_t level = factor[0] * in[0] + factor[1] * in[1] + factor[2] * in[2] + map.offset;
      rgb[c] = Limit<Sample>(level >> ColorMap::kBits);
    }
  }
}

// The rows of the matrix add up to the contrast: a gray stays gray.
template <typename Sample>
void MapGraysTyped(const ColorMap& map, uint64_t pixels, Sample* gray) {
  const auto& row = map.factor[0];
  const int64_t factor = int64_t{row[0]} + row[1] + row[2];
  for (uint64_t i = 0; i < pixels; ++i) {
    gray[i] = Limit<Sample>((factor * gray[i] + map.offset) >> ColorMap::kBits);
  }
}

}  // namespace

ColorMap MakeColorMap(const ColorChange& change, int64_t mean, int64_t full) {
  const Matrix matrix =
      Multiply(HueTurn(change.hue_millidegrees), Saturation(change.saturation_permille));
  const int64_t contrast = change.contrast_permille;
  ColorMap map;
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      map.factor[i][j] = static_cast<int32_t>(matrix[i][j] * contrast / 1000);
    }
  }
  map.offset =
      mean - mean * contrast / 1000 + full * kOne * change.brightness_permille / 1000 + kOne / 2;
  return map;
}

void MapColors(const ColorMap& map, uint64_t pixels, uint8_t* rgb) {
  const uint64_t done = MapColorVectors(map, pixels, rgb);
  MapColorsPlainly(map, pixels - done, rgb + 3 * done);
}

void MapColors(const ColorMap& map, uint64_t pixels, uint16_t* rgb) { MapTyped(map, pixels, rgb); }

void MapColorsPlainly(const ColorMap& map, uint64_t pixels, uint8_t* rgb) {
  MapTyped(map, pixels, rgb);
}

void MapGrays(const ColorMap& map, uint64_t pixels, uint8_t* gray) {
  MapGraysTyped(map, pixels, gray);
}

void MapGrays(const ColorMap& map, uint64_t pixels, uint16_t* gray) {
  MapGraysTyped(map, pixels, gray);
}

int64_t MeanLevel(uint64_t sum, uint64_t samples) {
  if (samples == 0) return 0;
  return static_cast<int64_t>((static_cast<Wide>(sum) << ColorMap::kBits) / samples);
}

}  // namespace shardmill
