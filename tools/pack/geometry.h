// Where a record's window lies in its source, and how pixels get there. One window serves image
// and label. Labels are taken from the nearest pixel, never mixed; pixel centres lie at +0.5.
//
// Everything is integer arithmetic, so the bytes are the same on every machine. Stateless.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/pack/label_decode.h"
#include "tools/pack/measure.h"
#include "tools/pack/rgb_convert.h"

namespace shardmill {

enum class CropMode { kCenter, kRandom };

struct GeometryOptions {
  std::optional<ImageSize> resize;
  std::optional<ImageSize> crop;
  CropMode crop_mode = CropMode::kCenter;
  uint64_t seed = 0;  // of random crops
};

// The window of one record. `y` and `x` are negative where the window begins outside the image;
// what lies outside is padding.
struct Placement {
  ImageSize source;
  ImageSize resized;  // equals source without --resize
  int32_t y = 0, x = 0;
  ImageSize window;
  uint64_t seed = 0;  // of this record's random choice; 0 when there was none

  // The part of the resized image that the window shows; its size is 0 × 0 when there is none.
  Region Visible() const;
  // The same window, for an image that holds only `part` of the source: all that the window shows,
  // and the whole source when it will be resized.
  Placement Within(const Region& part) const;
  // Where the visible part begins in the window.
  uint32_t VisibleRow() const { return y < 0 ? static_cast<uint32_t>(-y) : 0; }
  uint32_t VisibleColumn() const { return x < 0 ? static_cast<uint32_t>(-x) : 0; }
};

// A side of the crop that exceeds the image is centred, in every mode: the whole side is kept.
Placement Place(const GeometryOptions& options, ImageSize source, std::string_view key);

// Shrinks a side by the mean over the area, enlarges one by linear interpolation.
void ResizeImage(const RgbImage& image, ImageSize size, std::vector<uint8_t>* out);
// Takes the pixel whose square holds the centre of the new pixel.
void ResizeLabels(const ClassIdMap& labels, ImageSize size, ClassIdMap* out);

// Copies the window of `image`, which has the size placement.resized, padded with `pad_value`.
void CutImage(const RgbImage& image, const Placement& placement, uint8_t pad_value,
              std::vector<uint8_t>* out);
void CutLabels(const ClassIdMap& labels, const Placement& placement, uint32_t ignore,
               ClassIdMap* out);

}  // namespace shardmill
