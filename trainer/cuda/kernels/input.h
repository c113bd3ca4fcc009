// A batch as the loader stores it becomes the input of a network: cropped, turned, its colours
// changed, normalised, its channels padded, its labels moved alike; all in one kernel. Colours are
// changed in whole numbers, by the arithmetic of the loader.
#pragma once

#include <cstdint>

#include "trainer/cuda/kernels/atomic_add.h"
#include "trainer/cuda/kernels/elementwise.h"
#include "trainer/cuda/kernels/place.h"

namespace shardmill {

// A linear map of red, green and blue: factors and offset in 2^-16, the half that rounds included.
struct InputColors {
  int32_t factor[3][3] = {{1 << 16, 0, 0}, {0, 1 << 16, 0}, {0, 0, 1 << 16}};
  int64_t offset = 1 << 15;
  int32_t contrast_permille = 1000;  // already in the factors; what it adds depends on the image
};

// What is done to one row of the batch.
struct InputRow {
  int32_t top = 0,
          left = 0;  // of the window in the image; it may reach over the edges
  bool flip_vertical = false, flip_horizontal = false;
  bool changes_colors = false;  // images of three channels of u8 or u16 only
  InputColors colors;
};

struct SourcePixel {
  int64_t y, x;
  bool inside;
};

// Where the pixel (y, x) of the output comes from; `row` null: from the same place.
SHARDMILL_HD SourcePixel SourceOf(const InputRow* row, const Shape& source, const Shape& output,
                                  int64_t y, int64_t x) {
  if (row != nullptr) {
    y = row->top + (row->flip_vertical ? output.h - 1 - y : y);
    x = row->left + (row->flip_horizontal ? output.w - 1 - x : x);
  }
  return {y, x, y >= 0 && y < source.h && x >= 0 && x < source.w};
}

SHARDMILL_HD Interval ShownLines(int64_t first, int64_t count, int64_t size) {
  return {Larger(first, 0), Smaller(first + count, size)};
}

SHARDMILL_HD uint32_t WholeValue(ImageType type, const void* images, int64_t at) {
  if (type == ImageType::kU8) return static_cast<const uint8_t*>(images)[at];
  return static_cast<const uint16_t*>(images)[at];
}

// The sums of the samples that the windows show, for the contrast; one index: one line of an image.
// `sums` were 0.
struct WindowSumsKernel {
  Shape source, output;
  ImageType type;
  const void* images;
  const InputRow* rows;
  uint64_t* sums;

  SHARDMILL_HD void operator()(int64_t index) const {
    const int64_t n = index / source.h, y = index % source.h;
    const InputRow& row = rows[n];
    if (!row.changes_colors || row.colors.contrast_permille == 1000) return;
    const Interval lines = ShownLines(row.top, output.h, source.h);
    const Interval columns = ShownLines(row.left, output.w, source.w);
    if (y < lines.begin || y >= lines.end || columns.begin >= columns.end) return;
    uint64_t sum = 0;
    const int64_t end = PixelAt(source, n, y, columns.end);
    for (int64_t at = PixelAt(source, n, y, columns.begin); at < end; ++at) {
      sum += WholeValue(type, images, at);
    }
    AddWholeNumber(sum, sums + n);
  }
};

// Labels, which may be absent.
struct InputLabels {
  // Shares per class (kOneHotF32) are moved into `one_hot`; over the edges they are 0.
  LabelType type = LabelType::kIndexU8;
  const void* labels = nullptr;  // [n, source.h, source.w] (, classes); null: none
  int64_t outside = 0;           // the label of what lies over the edges
  int64_t classes = 0;
  void* moved = nullptr;     // [n, output.h, output.w] of `type`, or null
  float* one_hot = nullptr;  // [n, output.h, output.w, classes], or null; 0 for labels of no class
};

// One index: one group of channels of one output pixel.
template <typename T>
struct InputKernel {
  Shape source;
  Places<T> places;  // of the output, which may have more channels: those behind are 0
  ImageType type;
  const void* images;
  const InputRow* rows;  // null: nothing is moved or changed
  const uint64_t* sums;
  float outside;  // the pixels over the edges, before they are normalised
  const float* mean;
  const float* inverse_deviation;
  InputLabels labels;
  T* y;

  SHARDMILL_HD void operator()(int64_t index) const {
    const Place<T> place = places.At(index);
    const Shape& output = places.shape();
    const InputRow* row = rows != nullptr ? rows + place.n : nullptr;
    const bool changes_colors = row != nullptr && row->changes_colors;
    const SourcePixel from = SourceOf(row, source, output, place.y, place.x);
    const int64_t at = from.inside ? PixelAt(source, place.n, from.y, from.x) : 0;
    const int64_t offset = changes_colors ? OffsetOf(*row, place.n) : 0;
    Group<T> group = {};
    ForEachIn<T>(place.channels.count, [&](int i) {
      const int64_t c = place.channels.first + i;
      if (c >= source.c) return;
      float value = outside;
      if (from.inside && changes_colors) {
        value = ChangedValue(row->colors, offset, at, static_cast<int>(c));
      } else if (from.inside) {
        value = ImageValue(type, images, at + c);
      }
      group[i] = (value - mean[c]) * inverse_deviation[c];
    });
    StoreGroup(group, place.channels.count, y + place.offset);
    if (place.channels.first == 0 && labels.labels != nullptr) MoveLabel(place, from);
  }

  // Contrast turns around the mean of what the window shows.
  SHARDMILL_HD int64_t OffsetOf(const InputRow& row, int64_t n) const {
    const InputColors& colors = row.colors;
    if (colors.contrast_permille == 1000) return colors.offset;
    const Interval lines = ShownLines(row.top, places.shape().h, source.h);
    const Interval columns = ShownLines(row.left, places.shape().w, source.w);
    const int64_t samples = (lines.end - lines.begin) * (columns.end - columns.begin) * source.c;
    const auto mean_level =
        static_cast<int64_t>((sums[n] << 16) / static_cast<uint64_t>(Larger(samples, 1)));
    return colors.offset + mean_level - mean_level * colors.contrast_permille / 1000;
  }

  SHARDMILL_HD float ChangedValue(const InputColors& colors, int64_t offset, int64_t at,
                                  int c) const {
    int64_t level = offset;
    for (int i = 0; i < 3; ++i) {
      level += static_cast<int64_t>(colors.factor[c][i]) * WholeValue(type, images, at + i);
    }
    const int64_t full = type == ImageType::kU8 ? 255 : 65535;
    return static_cast<float>(Smaller(Larger(level >> 16, 0), full));
  }

  SHARDMILL_HD void MoveLabel(const Place<T>& place, const SourcePixel& from) const {
    const int64_t to = (place.n * places.shape().h + place.y) * places.shape().w + place.x;
    const int64_t at = (place.n * source.h + from.y) * source.w + from.x;
    const bool is_narrow = labels.type == LabelType::kIndexU8;
    if (labels.type == LabelType::kOneHotF32) return MoveShares(at, to, from.inside);
    int64_t label = labels.outside;
    if (from.inside) {
      label = is_narrow ? static_cast<const uint8_t*>(labels.labels)[at]
                        : static_cast<const uint16_t*>(labels.labels)[at];
    }
    if (labels.moved != nullptr && is_narrow) {
      static_cast<uint8_t*>(labels.moved)[to] = static_cast<uint8_t>(label);
    } else if (labels.moved != nullptr) {
      static_cast<uint16_t*>(labels.moved)[to] = static_cast<uint16_t>(label);
    }
    for (int64_t k = 0; k < labels.classes && labels.one_hot != nullptr; ++k) {
      labels.one_hot[to * labels.classes + k] = k == label ? 1.0f : 0.0f;
    }
  }

  SHARDMILL_HD void MoveShares(int64_t at, int64_t to, bool inside) const {
    const float* shares = static_cast<const float*>(labels.labels);
    for (int64_t k = 0; k < labels.classes; ++k) {
      labels.one_hot[to * labels.classes + k] = inside ? shares[at * labels.classes + k] : 0.0f;
    }
  }
};

}  // namespace shardmill
