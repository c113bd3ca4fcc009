#include "tools/pack/annotations/drawn_shapes.h"

#include <algorithm>
#include <cmath>

namespace shardmill {
namespace {

Status CheckPoint(const Point& point) {
  const bool sound = std::isfinite(point.x) && std::isfinite(point.y) &&
                     std::abs(point.x) <= kMaxCoordinate && std::abs(point.y) <= kMaxCoordinate;
  return sound ? OkStatus() : InvalidArgumentError("a coordinate is no number or out of bounds");
}

// The first pixel whose centre is not left of `x`, within the image.
uint32_t FirstPixel(double x, uint32_t side) {
  return static_cast<uint32_t>(std::clamp(std::ceil(x - 0.5), 0.0, static_cast<double>(side)));
}

// Where the line at height `y` crosses the edges of the rings.
void FindCrossings(const std::vector<std::vector<Point>>& rings, double y,
                   std::vector<double>* crossings) {
  crossings->clear();
  for (const std::vector<Point>& ring : rings) {
    for (size_t i = 0; i < ring.size(); ++i) {
      const Point& a = ring[i];
      const Point& b = ring[(i + 1) % ring.size()];
      if ((a.y <= y) == (b.y <= y)) continue;
      crossings->push_back(a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x));
    }
  }
  std::sort(crossings->begin(), crossings->end());
}

template <typename Id>
void Draw(const std::vector<DrawnShape>& shapes, uint32_t background, ClassIdMap* map) {
  auto* ids = reinterpret_cast<Id*>(map->bytes.data());
  std::fill_n(ids, map->size.pixels(), static_cast<Id>(background));
  for (const DrawnShape& shape : shapes) {
    for (const PixelRun& run : shape.runs) {
      std::fill_n(ids + uint64_t{run.row} * map->size.width + run.begin, run.end - run.begin,
                  static_cast<Id>(shape.id));
    }
  }
}

}  // namespace

uint64_t DrawnShape::Area() const {
  uint64_t area = 0;
  for (const PixelRun& run : runs) area += run.end - run.begin;
  return area;
}

Result<std::vector<PixelRun>> FillRings(const std::vector<std::vector<Point>>& rings,
                                        ImageSize size) {
  double top = kMaxCoordinate, bottom = -kMaxCoordinate;
  for (const std::vector<Point>& ring : rings) {
    for (const Point& point : ring) {
      RETURN_IF_ERROR(CheckPoint(point));
      top = std::min(top, point.y);
      bottom = std::max(bottom, point.y);
    }
  }
  std::vector<PixelRun> runs;
  std::vector<double> crossings;
  const uint32_t end = FirstPixel(bottom, size.height);
  for (uint32_t row = FirstPixel(top, size.height); row < end; ++row) {
    FindCrossings(rings, row + 0.5, &crossings);
    for (size_t i = 0; i + 1 < crossings.size(); i += 2) {
      const uint32_t left = FirstPixel(crossings[i], size.width);
      const uint32_t right = FirstPixel(crossings[i + 1], size.width);
      if (left < right) runs.push_back({row, left, right});
    }
  }
  return runs;
}

Result<std::vector<PixelRun>> FillCircle(Point center, double radius, ImageSize size) {
  RETURN_IF_ERROR(CheckPoint(center));
  RETURN_IF_ERROR(CheckPoint({radius, radius}));
  std::vector<PixelRun> runs;
  const uint32_t end = FirstPixel(center.y + radius, size.height);
  for (uint32_t row = FirstPixel(center.y - radius, size.height); row < end; ++row) {
    const double dy = row + 0.5 - center.y;
    const double half = std::sqrt(std::max(0.0, radius * radius - dy * dy));
    const uint32_t left = FirstPixel(center.x - half, size.width);
    const uint32_t right = FirstPixel(center.x + half, size.width);
    if (left < right) runs.push_back({row, left, right});
  }
  return runs;
}

std::vector<PixelRun> RunsOfMask(const std::vector<uint8_t>& mask, ImageSize mask_size, int64_t top,
                                 int64_t left, ImageSize size) {
  std::vector<PixelRun> runs;
  for (uint32_t y = 0; y < mask_size.height; ++y) {
    const int64_t row = top + y;
    if (row < 0 || row >= int64_t{size.height}) continue;
    const uint8_t* pixels = &mask[size_t{y} * mask_size.width];
    for (uint32_t x = 0; x < mask_size.width; ++x) {
      if (pixels[x] == 0) continue;
      const uint32_t first = x;
      while (x < mask_size.width && pixels[x] != 0) ++x;
      const int64_t begin = std::clamp<int64_t>(left + first, 0, size.width);
      const int64_t end = std::clamp<int64_t>(left + x, 0, size.width);
      if (begin < end) {
        runs.push_back(
            {static_cast<uint32_t>(row), static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
      }
    }
  }
  return runs;
}

// Each number stands in characters of six bits from '0' on: five bits of value, the lowest first,
// and one that says that more follow; the last one's highest value bit is the sign. From the
// fourth number on they are differences to the number two places before.
Result<std::vector<uint64_t>> ParseCocoCounts(std::string_view text) {
  const Status bad = InvalidArgumentError("the run lengths of a mask are damaged");
  std::vector<uint64_t> counts;
  for (size_t i = 0; i < text.size();) {
    uint64_t bits = 0;
    int shift = 0;
    bool more = true;
    while (more) {
      if (i >= text.size() || shift > 50) return bad;
      const int character = text[i++] - '0';
      if (character < 0 || character > 63) return bad;
      bits |= static_cast<uint64_t>(character & 31) << shift;
      more = (character & 32) != 0;
      shift += 5;
      if (!more && (character & 16) != 0) bits |= ~uint64_t{0} << shift;
    }
    if (counts.size() > 2) bits += counts[counts.size() - 2];
    if (bits > kMaxImageSide * uint64_t{kMaxImageSide}) return bad;
    counts.push_back(bits);
  }
  return counts;
}

Result<std::vector<uint8_t>> MaskOfCounts(const std::vector<uint64_t>& counts, ImageSize size,
                                          RunOrder order) {
  std::vector<uint8_t> mask(size.pixels());
  uint64_t at = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > mask.size() - at) {
      return InvalidArgumentError("the run lengths of a mask cover more than its " +
                                  DescribeImageSize(size));
    }
    for (uint64_t k = at; i % 2 == 1 && k < at + counts[i]; ++k) {
      const uint64_t place =
          order == RunOrder::kRows ? k : k % size.height * size.width + k / size.height;
      mask[place] = 1;
    }
    at += counts[i];
  }
  if (at == mask.size()) return mask;
  return InvalidArgumentError("the run lengths of a mask cover " + std::to_string(at) + " of its " +
                              std::to_string(mask.size()) + " pixels");
}

void DrawShapes(std::vector<DrawnShape> shapes, uint32_t background, ImageSize size,
                ClassIdMap* map) {
  std::stable_sort(shapes.begin(), shapes.end(),
                   [](const DrawnShape& a, const DrawnShape& b) { return a.layer < b.layer; });
  map->size = size;
  map->bytes.resize(size.pixels() * DTypeBytes(map->dtype));
  if (map->dtype == DType::kU8) {
    Draw<uint8_t>(shapes, background, map);
  } else {
    Draw<uint16_t>(shapes, background, map);
  }
}

}  // namespace shardmill
