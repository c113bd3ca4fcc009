#include "tools/pack/records/measure.h"

#include <algorithm>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/statistics.h"
#include "tools/pack/labels/id_runs.h"
#include "tools/pack/records/pixel_sums.h"

namespace shardmill {
namespace {

constexpr size_t kChannels = 3;

template <typename Id>
void CountRow(const Id* row, size_t width, std::vector<uint64_t>* counts) {
  for (size_t x = 0; x < width;) {
    const size_t end = RunEnd(row, x, width);
    (*counts)[row[x]] += end - x;
    x = end;
  }
}

template <typename Id>
std::vector<uint64_t> CountIds(const ClassIdMap& labels, const std::vector<PixelSpan>& rows) {
  std::vector<uint64_t> counts(size_t{1} << (8 * sizeof(Id)));
  const auto* ids = reinterpret_cast<const Id*>(labels.bytes.data());
  for (size_t y = 0; y < rows.size(); ++y) {
    CountRow(ids + y * labels.size.width + rows[y].begin, rows[y].end - rows[y].begin, &counts);
  }
  return counts;
}

std::vector<PixelSpan> RowsOf(const Region& region) {
  std::vector<PixelSpan> rows(size_t{region.y} + region.size.height);
  for (size_t y = region.y; y < rows.size(); ++y) {
    rows[y] = {region.x, region.x + region.size.width};
  }
  return rows;
}

uint64_t PixelsOf(const std::vector<PixelSpan>& rows) {
  uint64_t pixels = 0;
  for (const PixelSpan& row : rows) pixels += row.end - row.begin;
  return pixels;
}

}  // namespace

void MeasureImage(const RgbImage& image, const Region& region, proto::Statistics* statistics) {
  MeasureImage(image, RowsOf(region), statistics);
}

namespace {

// Squares of 16-bit samples may add up to more than 64 bits.
void MeasureWideImage(const RgbImage& image, const std::vector<PixelSpan>& rows,
                      proto::Statistics* statistics) {
  unsigned __int128 sum[kChannels] = {}, sum_sq[kChannels] = {};
  for (size_t y = 0; y < rows.size(); ++y) {
    const auto* in = reinterpret_cast<const uint16_t*>(image.pixels) +
                     kChannels * (y * image.size.width + rows[y].begin);
    for (uint32_t x = rows[y].begin; x < rows[y].end; ++x) {
      for (size_t c = 0; c < kChannels; ++c, ++in) {
        sum[c] += *in;
        sum_sq[c] += uint64_t{*in} * *in;
      }
    }
  }
  statistics->set_image_pixels(PixelsOf(rows));
  const auto add = [](unsigned __int128 value, proto::UInt128* out) {
    AddUInt128(static_cast<uint64_t>(value), static_cast<uint64_t>(value >> 64), out);
  };
  for (size_t c = 0; c < kChannels; ++c) {
    add(sum[c], statistics->add_channel_sum());
    add(sum_sq[c], statistics->add_channel_sum_sq());
  }
}

}  // namespace

void MeasureImage(const RgbImage& image, const std::vector<PixelSpan>& rows,
                  proto::Statistics* statistics) {
  if (image.sample_bytes == 2) return MeasureWideImage(image, rows, statistics);
  RgbSums sums;
  for (size_t y = 0; y < rows.size();) {
    // Whole rows follow on each other: a vector at the end of one goes on in the next.
    const size_t first = y * image.size.width + rows[y].begin;
    size_t pixels = rows[y].end - rows[y].begin;
    while (++y < rows.size() && first + pixels == y * image.size.width + rows[y].begin) {
      pixels += rows[y].end - rows[y].begin;
    }
    AddRgbSums(image.pixels + kChannels * first, pixels, &sums);
  }
  statistics->set_image_pixels(PixelsOf(rows));
  for (size_t c = 0; c < kChannels; ++c) {
    AddUInt128(sums.sum[c], 0, statistics->add_channel_sum());
    AddUInt128(sums.sum_sq[c], 0, statistics->add_channel_sum_sq());
  }
}

void MeasureLabels(const ClassIdMap& labels, const Region& region, uint32_t classes,
                   proto::Statistics* statistics) {
  MeasureLabels(labels, RowsOf(region), classes, statistics);
}

void MeasureLabels(const ClassIdMap& labels, const std::vector<PixelSpan>& rows, uint32_t classes,
                   proto::Statistics* statistics) {
  const std::vector<uint64_t> counts = labels.dtype == DType::kU8
                                           ? CountIds<uint8_t>(labels, rows)
                                           : CountIds<uint16_t>(labels, rows);
  uint64_t labelled = 0;
  for (uint32_t id = 0; id < classes; ++id) labelled += counts[id];
  for (uint32_t id = 0; id < classes; ++id) {
    const bool occurs = counts[id] > 0;
    statistics->add_class_pixels(counts[id]);
    statistics->add_class_images(occurs ? 1 : 0);
    statistics->add_class_image_pixels(occurs ? labelled : 0);
  }
  statistics->set_ignore_pixels(PixelsOf(rows) - labelled);
}

void MeasureClassId(uint32_t class_id, uint32_t classes, proto::Statistics* statistics) {
  for (uint32_t id = 0; id < classes; ++id) {
    const uint64_t count = id == class_id ? 1 : 0;
    statistics->add_class_pixels(count);
    statistics->add_class_images(count);
    statistics->add_class_image_pixels(count);
  }
}

}  // namespace shardmill
