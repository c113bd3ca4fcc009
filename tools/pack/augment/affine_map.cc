#include "tools/pack/augment/affine_map.h"

#include "reader/fixed_angle.h"

namespace shardmill {

bool AffineMap::IsSound() const {
  // Slopes below 256 and offsets below 2^28 pixels.
  constexpr int64_t kMaxSlope = kOne << 8, kMaxOffset = kOne << 28;
  for (int64_t slope : {x_from_x, x_from_y, y_from_x, y_from_y}) {
    if (slope < -kMaxSlope || slope > kMaxSlope) return false;
  }
  for (int64_t offset : {x_offset, y_offset}) {
    if (offset < -kMaxOffset || offset > kMaxOffset) return false;
  }
  return true;
}

AffineMap MakeAffineMap(const MapParameters& parameters) {
  const SineCosine turn = SineCosineOf(parameters.rotation_millidegrees);
  // A step of one pixel in the record, seen in the source.
  auto step = [&](int64_t unit) {
    return unit * (AffineMap::kOne >> kAngleBits) * 1000 / parameters.scale_permille;
  };
  const int64_t right = parameters.flip_horizontal ? -1 : 1;
  const int64_t down = parameters.flip_vertical ? -1 : 1;
  AffineMap map;
  map.x_from_x = right * step(turn.cosine);
  map.y_from_x = right * step(-turn.sine);
  map.x_from_y = down * step(turn.sine);
  map.y_from_y = down * step(turn.cosine);
  // From the centre of the window to the centre of its first pixel, in half pixels.
  const int64_t rows = 1 - int64_t{parameters.window.height};
  const int64_t columns = 1 - int64_t{parameters.window.width};
  constexpr int64_t kHalf = AffineMap::kOne / 2;
  map.x_offset =
      parameters.center_x_halves * kHalf + (map.x_from_x / 2) * columns + (map.x_from_y / 2) * rows;
  map.y_offset =
      parameters.center_y_halves * kHalf + (map.y_from_x / 2) * columns + (map.y_from_y / 2) * rows;
  return map;
}

std::vector<PixelSpan> InsideSpans(const AffineMap& map, ImageSize record, ImageSize source) {
  std::vector<PixelSpan> spans(record.height);
  for (uint32_t y = 0; y < record.height; ++y) {
    uint32_t begin = 0, end = record.width;
    while (begin < end && !map.IsInside(y, begin, source)) ++begin;
    while (end > begin && !map.IsInside(y, end - 1, source)) --end;
    spans[y] = {begin, end};
  }
  return spans;
}

}  // namespace shardmill
