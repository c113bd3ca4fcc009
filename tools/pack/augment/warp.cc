#include "tools/pack/augment/warp.h"

#include <algorithm>

namespace shardmill {
namespace {

// Of the weights along one side; those of the four pixels have twice as many.
constexpr int kWeightBits = 8;
constexpr uint32_t kWeightOne = 1u << kWeightBits;

// The upper left one of the four pixels around a point, and how far the others count.
struct Corner {
  int64_t pixel;
  uint32_t weight;  // of the second pixel, in kWeightOne
};

// `position` is in 2^-32 pixels; pixel centres lie at +0.5.
Corner CornerOf(int64_t position) {
  const int64_t from_center = position - AffineMap::kOne / 2;
  return {
      from_center >> AffineMap::kBits,
      static_cast<uint32_t>(from_center >> (AffineMap::kBits - kWeightBits)) & (kWeightOne - 1)};
}

// Where the four pixels lie, as offsets in the source; beyond its border they are those on it.
struct Four {
  size_t upper_left, upper_right, lower_left, lower_right;
};

Four FourOf(const Corner& row, const Corner& column, ImageSize size) {
  const int64_t last_row = int64_t{size.height} - 1, last_column = int64_t{size.width} - 1;
  auto offset = [&](int64_t y, int64_t x) {
    return 3 * static_cast<size_t>(std::clamp<int64_t>(y, 0, last_row) * size.width +
                                   std::clamp<int64_t>(x, 0, last_column));
  };
  const int64_t y = row.pixel, x = column.pixel;
  // Nearly all points have all four pixels: no limits are needed.
  if (y >= 0 && x >= 0 && y < last_row && x < last_column) {
    const size_t first = 3 * static_cast<size_t>(y * size.width + x);
    const size_t below = first + size_t{3} * size.width;
    return {first, first + 3, below, below + 3};
  }
  return {offset(y, x), offset(y, x + 1), offset(y + 1, x), offset(y + 1, x + 1)};
}

void Interpolate(const uint8_t* pixels, const Four& at, uint32_t down, uint32_t right,
                 uint8_t* out) {
  const uint32_t upper_left = (kWeightOne - down) * (kWeightOne - right);
  const uint32_t upper_right = (kWeightOne - down) * right;
  const uint32_t lower_left = down * (kWeightOne - right);
  const uint32_t lower_right = down * right;
  for (size_t c = 0; c < 3; ++c) {
    const uint32_t sum =
        upper_left * pixels[at.upper_left + c] + upper_right * pixels[at.upper_right + c] +
        lower_left * pixels[at.lower_left + c] + lower_right * pixels[at.lower_right + c];
    out[c] = static_cast<uint8_t>((sum + (1u << (2 * kWeightBits - 1))) >> (2 * kWeightBits));
  }
}

template <typename Id>
void Nearest(const ClassIdMap& source, const AffineMap& map, uint32_t ignore, ClassIdMap* out) {
  const auto* from = reinterpret_cast<const Id*>(source.bytes.data());
  auto* to = reinterpret_cast<Id*>(out->bytes.data());
  const size_t width = out->size.width;
  std::fill(to, to + out->size.pixels(), static_cast<Id>(ignore));
  const std::vector<PixelSpan> shown = InsideSpans(map, out->size, source.size);
  for (uint32_t y = 0; y < out->size.height; ++y, to += width) {
    int64_t source_y = map.Y(y, shown[y].begin), source_x = map.X(y, shown[y].begin);
    for (uint32_t x = shown[y].begin; x < shown[y].end; ++x) {
      to[x] = from[static_cast<size_t>((source_y >> AffineMap::kBits) * source.size.width +
                                       (source_x >> AffineMap::kBits))];
      source_y += map.y_from_x;
      source_x += map.x_from_x;
    }
  }
}

}  // namespace

void WarpImage(const RgbImage& source, const AffineMap& map, ImageSize record,
               std::vector<uint8_t>* out) {
  out->resize(record.pixels() * 3);
  uint8_t* to = out->data();
  for (uint32_t y = 0; y < record.height; ++y) {
    int64_t source_y = map.Y(y, 0), source_x = map.X(y, 0);
    for (uint32_t x = 0; x < record.width; ++x, to += 3) {
      const Corner row = CornerOf(source_y), column = CornerOf(source_x);
      Interpolate(source.pixels, FourOf(row, column, source.size), row.weight, column.weight, to);
      source_y += map.y_from_x;
      source_x += map.x_from_x;
    }
  }
}

void WarpLabels(const ClassIdMap& source, const AffineMap& map, ImageSize record, uint32_t ignore,
                ClassIdMap* out) {
  out->size = record;
  out->dtype = source.dtype;
  out->bytes.resize(record.pixels() * DTypeBytes(source.dtype));
  if (source.dtype == DType::kU8) {
    Nearest<uint8_t>(source, map, ignore, out);
  } else {
    Nearest<uint16_t>(source, map, ignore, out);
  }
}

}  // namespace shardmill
