#include "reader/scaled_window.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace shardmill {
namespace {

constexpr int kWeightBits = 8;
constexpr uint32_t kWeightOne = 1u << kWeightBits;
// Of positions in the source, below 2^20 pixels.
constexpr int kPositionBits = 16;

// Where the centre of a pixel of the scaled side lies in the source side.
int64_t Center(int64_t position, int64_t scaled, int64_t side) {
  return (((2 * position + 1) * side) << (kPositionBits - 1)) / scaled;
}

// The row or column of the scaled image that stands at a place of the window.
int64_t ScaledPlace(int64_t at, int64_t begin, int64_t length, bool flipped) {
  return begin + (flipped ? length - 1 - at : at);
}

// The results count 2^8 times: those of u8 fit 16 bits.
template <typename Sample, typename Blended>
void Blend(const Sample* first, const Sample* second, uint32_t weight, uint64_t samples,
           Blended* out) {
  const auto own = static_cast<Blended>(kWeightOne - weight);
  const auto other = static_cast<Blended>(weight);
  for (uint64_t i = 0; i < samples; ++i) {
    out[i] = static_cast<Blended>(own * static_cast<Blended>(first[i]) +
                                  other * static_cast<Blended>(second[i]));
  }
}

// `sum` counts 2^16 times. Of u16 it stays below 2^32 with the half that rounds.
template <typename Sample, typename Sum>
Sample Rounded(Sum sum) {
  if constexpr (std::is_floating_point_v<Sample>) {
    return sum * 0x1p-16f;
  } else {
    return static_cast<Sample>((sum + (Sum{1} << (2 * kWeightBits - 1))) >> (2 * kWeightBits));
  }
}

}  // namespace

void ScaledWindowCopier::Reserve(int64_t window_width, int64_t image_width, int64_t samples) {
  columns_.reserve(static_cast<size_t>(window_width));
  blended_.reserve(static_cast<size_t>(image_width * samples) * sizeof(uint32_t));
}

ScaledWindowCopier::Neighbours ScaledWindowCopier::NeighboursOf(int64_t position, int64_t scaled,
                                                                int64_t side) {
  const int64_t from_center = Center(position, scaled, side) - (int64_t{1} << (kPositionBits - 1));
  const int64_t pixel = from_center >> kPositionBits;
  Neighbours neighbours;
  neighbours.first = static_cast<uint32_t>(std::clamp<int64_t>(pixel, 0, side - 1));
  neighbours.second = static_cast<uint32_t>(std::clamp<int64_t>(pixel + 1, 0, side - 1));
  neighbours.weight =
      static_cast<uint32_t>(from_center >> (kPositionBits - kWeightBits)) & (kWeightOne - 1);
  return neighbours;
}

template <uint64_t kBytes>
void ScaledWindowCopier::PickPixels(const uint8_t* from, uint64_t pixel_bytes, uint8_t* to) const {
  const uint64_t bytes = kBytes > 0 ? kBytes : pixel_bytes;
  for (const Neighbours& column : columns_) {
    std::memcpy(to, from + column.first * bytes, bytes);
    to += bytes;
  }
}

void ScaledWindowCopier::CopyNearest(const PixelImage& image, const PixelWindow& window,
                                     const std::vector<uint8_t>& pad_element, uint8_t* out) {
  const ShownPart shown = window.Shown(image.height, image.width);
  const uint64_t row_bytes = static_cast<uint64_t>(window.width) * image.pixel_bytes;
  columns_.resize(static_cast<size_t>(shown.width));
  for (int64_t i = 0; i < shown.width; ++i) {
    const int64_t x = ScaledPlace(shown.x + i, window.x, window.width, window.flip_horizontal);
    columns_[static_cast<size_t>(i)].first =
        static_cast<uint32_t>(Center(x, window.scaled_width, image.width) >> kPositionBits);
  }
  for (int64_t i = 0; i < window.height; ++i, out += row_bytes) {
    if (!shown.HasRow(i)) {
      FillElements(pad_element, row_bytes / pad_element.size(), out);
      continue;
    }
    PadRow(window, shown, image.pixel_bytes, pad_element, out);
    const int64_t y = ScaledPlace(i, window.y, window.height, window.flip_vertical);
    const int64_t row = Center(y, window.scaled_height, image.height) >> kPositionBits;
    const uint8_t* from =
        image.pixels + static_cast<uint64_t>(row * image.width) * image.pixel_bytes;
    uint8_t* to = out + static_cast<uint64_t>(shown.x) * image.pixel_bytes;
    if (image.pixel_bytes == 1) {
      PickPixels<1>(from, image.pixel_bytes, to);
    } else {
      PickPixels<0>(from, image.pixel_bytes, to);
    }
  }
}

template <uint64_t kSamples, typename Sum, typename Sample, typename Blended>
void ScaledWindowCopier::InterpolateRow(const Blended* blended, uint64_t samples,
                                        Sample* to) const {
  const uint64_t count = kSamples > 0 ? kSamples : samples;
  for (const Neighbours& column : columns_) {
    const auto own = static_cast<Sum>(kWeightOne - column.weight);
    const auto other = static_cast<Sum>(column.weight);
    const Blended* first = blended + column.first * count;
    const Blended* second = blended + column.second * count;
    for (uint64_t c = 0; c < count; ++c) {
      to[c] = Rounded<Sample, Sum>(own * first[c] + other * second[c]);
    }
    to += count;
  }
}

template <typename Sample, typename Blended, typename Sum>
void ScaledWindowCopier::CopyLinearTyped(const PixelImage& image, const PixelWindow& window,
                                         const std::vector<uint8_t>& pad_element, uint8_t* out) {
  const ShownPart shown = window.Shown(image.height, image.width);
  const uint64_t samples = image.pixel_bytes / sizeof(Sample);
  const uint64_t row_bytes = static_cast<uint64_t>(window.width) * image.pixel_bytes;
  columns_.resize(static_cast<size_t>(shown.width));
  for (int64_t i = 0; i < shown.width; ++i) {
    columns_[static_cast<size_t>(i)] =
        NeighboursOf(ScaledPlace(shown.x + i, window.x, window.width, window.flip_horizontal),
                     window.scaled_width, image.width);
  }
  const uint64_t image_samples = static_cast<uint64_t>(image.width) * samples;
  blended_.resize(image_samples * sizeof(Blended));
  auto* blended = reinterpret_cast<Blended*>(blended_.data());
  const auto* pixels = reinterpret_cast<const Sample*>(image.pixels);
  for (int64_t i = 0; i < window.height; ++i, out += row_bytes) {
    if (!shown.HasRow(i)) {
      FillElements(pad_element, row_bytes / pad_element.size(), out);
      continue;
    }
    PadRow(window, shown, image.pixel_bytes, pad_element, out);
    const Neighbours rows =
        NeighboursOf(ScaledPlace(i, window.y, window.height, window.flip_vertical),
                     window.scaled_height, image.height);
    Blend(pixels + rows.first * image_samples, pixels + rows.second * image_samples, rows.weight,
          image_samples, blended);
    auto* to = reinterpret_cast<Sample*>(out) + static_cast<uint64_t>(shown.x) * samples;
    if (samples == 3) {
      InterpolateRow<3, Sum>(blended, samples, to);
    } else {
      InterpolateRow<0, Sum>(blended, samples, to);
    }
  }
}

void ScaledWindowCopier::CopyLinear(const PixelImage& image, DType dtype, const PixelWindow& window,
                                    const std::vector<uint8_t>& pad_element, uint8_t* out) {
  if (dtype == DType::kU8) {
    CopyLinearTyped<uint8_t, uint16_t, uint32_t>(image, window, pad_element, out);
  } else if (dtype == DType::kU16) {
    CopyLinearTyped<uint16_t, uint32_t, uint32_t>(image, window, pad_element, out);
  } else {
    CopyLinearTyped<float, float, float>(image, window, pad_element, out);
  }
}

}  // namespace shardmill
