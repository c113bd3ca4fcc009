#include "tools/pack/augment/warp.h"

#include <algorithm>

namespace shardmill {
namespace {

// Of the interpolation weights.
constexpr int kWeightBits = 10;
constexpr uint32_t kWeightOne = 1u << kWeightBits;

// Two neighbouring pixels along a side, the second one with `weight` of kWeightOne.
struct Neighbours {
  size_t first, second;
  uint32_t weight;
};

// `position` is a point of the source in 2^-32 pixels; pixel centres lie at +0.5.
Neighbours NeighboursOf(int64_t position, uint32_t side) {
  const int64_t from_center = position - AffineMap::kOne / 2;
  const int64_t first = from_center >> AffineMap::kBits;
  const auto fraction = static_cast<uint32_t>(from_center & (AffineMap::kOne - 1));
  const int64_t last = int64_t{side} - 1;
  return {static_cast<size_t>(std::clamp<int64_t>(first, 0, last)),
          static_cast<size_t>(std::clamp<int64_t>(first + 1, 0, last)),
          fraction >> (AffineMap::kBits - kWeightBits)};
}

void Interpolate(const RgbImage& source, const Neighbours& row, const Neighbours& column,
                 uint8_t* out) {
  const size_t width = source.size.width;
  const uint8_t* upper_left = source.pixels + 3 * (row.first * width + column.first);
  const uint8_t* upper_right = source.pixels + 3 * (row.first * width + column.second);
  const uint8_t* lower_left = source.pixels + 3 * (row.second * width + column.first);
  const uint8_t* lower_right = source.pixels + 3 * (row.second * width + column.second);
  for (int c = 0; c < 3; ++c) {
    const uint32_t upper =
        upper_left[c] * (kWeightOne - column.weight) + upper_right[c] * column.weight;
    const uint32_t lower =
        lower_left[c] * (kWeightOne - column.weight) + lower_right[c] * column.weight;
    const uint32_t sum = upper * (kWeightOne - row.weight) + lower * row.weight;
    out[c] = static_cast<uint8_t>((sum + (1u << (2 * kWeightBits - 1))) >> (2 * kWeightBits));
  }
}

template <typename Id>
void Nearest(const ClassIdMap& source, const AffineMap& map, uint32_t ignore, ClassIdMap* out) {
  const auto* from = reinterpret_cast<const Id*>(source.bytes.data());
  auto* to = reinterpret_cast<Id*>(out->bytes.data());
  for (uint32_t y = 0; y < out->size.height; ++y) {
    for (uint32_t x = 0; x < out->size.width; ++x) {
      Id id = static_cast<Id>(ignore);
      if (map.IsInside(y, x, source.size)) {
        const auto row = static_cast<size_t>(map.Y(y, x) >> AffineMap::kBits);
        id = from[row * source.size.width + static_cast<size_t>(map.X(y, x) >> AffineMap::kBits)];
      }
      *to++ = id;
    }
  }
}

}  // namespace

void WarpImage(const RgbImage& source, const AffineMap& map, ImageSize record,
               std::vector<uint8_t>* out) {
  out->resize(record.pixels() * 3);
  uint8_t* to = out->data();
  for (uint32_t y = 0; y < record.height; ++y) {
    for (uint32_t x = 0; x < record.width; ++x, to += 3) {
      Interpolate(source, NeighboursOf(map.Y(y, x), source.size.height),
                  NeighboursOf(map.X(y, x), source.size.width), to);
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
