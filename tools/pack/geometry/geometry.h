// How the pixels of a source get into the window of a record. One window serves image and label.
// Labels are taken from the nearest pixel, never mixed; pixel centres lie at +0.5.
//
// Everything is integer arithmetic, so the bytes are the same on every machine. Stateless.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/pack/decode/rgb_convert.h"
#include "tools/pack/geometry/placement.h"
#include "tools/pack/labels/label_decode.h"

namespace shardmill {

// Shrinks a side by the mean over the area, enlarges one by linear interpolation.
void ResizeImage(const RgbImage& image, ImageSize size, std::vector<uint8_t>* out);
// Takes the pixel whose square holds the centre of the new pixel.
void ResizeLabels(const ClassIdMap& labels, ImageSize size, ClassIdMap* out);

// Copies the window of `image`, which has the size placement.resized, padded with `pad_value`.
void CutImage(const RgbImage& image, const Placement& placement, uint8_t pad_value,
              std::vector<uint8_t>* out);
// Copies a window that has no padding, once.
std::string CutWindow(const RgbImage& image, const Placement& placement);
void CutLabels(const ClassIdMap& labels, const Placement& placement, uint32_t ignore,
               ClassIdMap* out);

}  // namespace shardmill
