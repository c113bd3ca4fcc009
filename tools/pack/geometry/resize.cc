// Exact separable resampling with integer weights.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "tools/pack/geometry/geometry.h"

namespace shardmill {
namespace {

// What each new position of a side takes from the old ones: weights of consecutive positions
// from `first` on. The weights of every position add up to `total`.
struct SideFilter {
  struct Position {
    uint32_t first;
    uint32_t weight_begin, weight_count;
  };
  std::vector<Position> positions;
  std::vector<uint32_t> weights;
  uint64_t total = 1;
};

// New pixel d covers [d * from, (d + 1) * from) in units of 1 / to of an old pixel.
void AddAreaPosition(uint32_t d, uint32_t from, uint32_t to, SideFilter* filter) {
  uint64_t begin = uint64_t{d} * from, end = begin + from;
  auto first = static_cast<uint32_t>(begin / to);
  auto weight_begin = static_cast<uint32_t>(filter->weights.size());
  for (uint64_t old = first; old * to < end; ++old) {
    uint64_t overlap = std::min(end, (old + 1) * to) - std::max(begin, old * to);
    filter->weights.push_back(static_cast<uint32_t>(overlap));
  }
  auto count = static_cast<uint32_t>(filter->weights.size()) - weight_begin;
  filter->positions.push_back({first, weight_begin, count});
}

// The centre of new pixel d lies at ((2d + 1) * from - to) / (2 * to) old pixel centres.
void AddLinearPosition(uint32_t d, uint32_t from, uint32_t to, SideFilter* filter) {
  int64_t scale = 2 * int64_t{to};
  int64_t center = (2 * int64_t{d} + 1) * from - to;
  center = std::clamp<int64_t>(center, 0, (int64_t{from} - 1) * scale);
  auto first = static_cast<uint32_t>(center / scale);
  auto share = static_cast<uint32_t>(center % scale);  // of the second pixel
  auto weight_begin = static_cast<uint32_t>(filter->weights.size());
  filter->weights.push_back(static_cast<uint32_t>(scale) - share);
  if (share > 0) filter->weights.push_back(share);
  filter->positions.push_back({first, weight_begin, share > 0 ? 2u : 1u});
}

SideFilter MakeFilter(uint32_t from, uint32_t to) {
  SideFilter filter;
  const bool shrinks = to < from;
  filter.total = shrinks ? from : 2 * uint64_t{to};
  for (uint32_t d = 0; d < to; ++d) {
    if (shrinks) {
      AddAreaPosition(d, from, to, &filter);
    } else {
      AddLinearPosition(d, from, to, &filter);
    }
  }
  return filter;
}

// One row of RGB, filtered along it; sums of at most the largest sample * total.
template <typename Sample, typename Sum>
void FilterRow(const Sample* row, const SideFilter& filter, Sum* out) {
  for (const SideFilter::Position& position : filter.positions) {
    Sum sum[3] = {};
    const Sample* in = row + size_t{3} * position.first;
    for (uint32_t i = 0; i < position.weight_count; ++i, in += 3) {
      const Sum weight = filter.weights[position.weight_begin + i];
      sum[0] += weight * in[0];
      sum[1] += weight * in[1];
      sum[2] += weight * in[2];
    }
    *out++ = sum[0];
    *out++ = sum[1];
    *out++ = sum[2];
  }
}

// `Sum` holds the largest sample * total; a side has at most 2^20 pixels.
template <typename Sample, typename Sum>
void ResizeAs(const RgbImage& image, ImageSize size, Sample* out) {
  const auto* pixels = reinterpret_cast<const Sample*>(image.pixels);
  const SideFilter rows = MakeFilter(image.size.height, size.height);
  const SideFilter columns = MakeFilter(image.size.width, size.width);
  const size_t in_row = size_t{3} * image.size.width, out_row = size_t{3} * size.width;
  const uint64_t total = rows.total * columns.total;
  // The last two filtered rows are kept: neighbouring new rows share them.
  std::vector<Sum> filtered[2] = {std::vector<Sum>(out_row), std::vector<Sum>(out_row)};
  int64_t filtered_row[2] = {-1, -1};
  std::vector<uint64_t> sums(out_row);
  for (uint32_t y = 0; y < size.height; ++y) {
    const SideFilter::Position& position = rows.positions[y];
    std::fill(sums.begin(), sums.end(), 0);
    for (uint32_t i = 0; i < position.weight_count; ++i) {
      const uint32_t old = position.first + i;
      std::vector<Sum>& row = filtered[old % 2];
      if (filtered_row[old % 2] != old) {
        FilterRow(pixels + old * in_row, columns, row.data());
        filtered_row[old % 2] = old;
      }
      const uint64_t weight = rows.weights[position.weight_begin + i];
      for (size_t k = 0; k < out_row; ++k) sums[k] += weight * row[k];
    }
    Sample* to = out + y * out_row;
    for (size_t k = 0; k < out_row; ++k) to[k] = static_cast<Sample>((sums[k] + total / 2) / total);
  }
}

}  // namespace

void ResizeImage(const RgbImage& image, ImageSize size, std::vector<uint8_t>* out) {
  out->resize(size.pixels() * image.pixel_bytes());
  if (image.sample_bytes == 1) {
    ResizeAs<uint8_t, uint32_t>(image, size, out->data());
  } else {
    ResizeAs<uint16_t, uint64_t>(image, size, reinterpret_cast<uint16_t*>(out->data()));
  }
}

}  // namespace shardmill
