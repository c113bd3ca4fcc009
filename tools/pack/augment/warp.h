// Takes the pixels of an augmented record out of its source: one map for image and label.
//
// Whole numbers only. Labels are taken from the nearest pixel, so they hold no new value; images
// are interpolated between the four nearest. Pure functions; safe for concurrent use.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/pack/augment/affine_map.h"
#include "tools/pack/decode/rgb_convert.h"
#include "tools/pack/labels/label_decode.h"

namespace shardmill {

// `out` gets record.pixels() RGB pixels. Beyond the source its border goes on: the caller pads.
void WarpImage(const RgbImage& source, const AffineMap& map, ImageSize record,
               std::vector<uint8_t>* out);

// Beyond the source `out` holds `ignore`.
void WarpLabels(const ClassIdMap& source, const AffineMap& map, ImageSize record, uint32_t ignore,
                ClassIdMap* out);

}  // namespace shardmill
