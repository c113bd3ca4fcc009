// PNG samples in the form that the packer works on. Stateless; safe for concurrent use.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/decode/png_chunks.h"

namespace shardmill {

// One row of `width` samples of `bit_depth` (1, 2 or 4) bits, the first in the highest bits, to
// one byte each, unscaled: a palette index stays an index.
void UnpackPngBits(const uint8_t* packed, int64_t width, int bit_depth, uint8_t* samples);

// `count` big-endian 16-bit samples to this machine's order, in place.
void SwapPngSamples(uint8_t* samples, uint64_t count);

// The colours of `count` palette indexes, as RGB. DataLoss when an index is beyond the palette.
Status ExpandPngPalette(const std::vector<PngPaletteEntry>& palette, const uint8_t* indexes,
                        int64_t count, uint8_t* rgb);

}  // namespace shardmill
