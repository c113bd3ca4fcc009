// Makes the image of an augmented record.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/pack/augment/augmentation.h"
#include "tools/pack/decode/rgb_convert.h"

namespace shardmill {

// `source` is the whole image as resized, `seed` that of the record (for noise). `out` gets
// record.pixels() RGB pixels; what lies outside the source becomes `pad_value`, as does the
// cutout. Returns the pixels of each row that show the source. Safe for concurrent use.
std::vector<PixelSpan> AugmentImage(const RgbImage& source, const Augmentation& augmentation,
                                    ImageSize record, uint64_t seed, uint8_t pad_value,
                                    std::vector<uint8_t>* out);

}  // namespace shardmill
