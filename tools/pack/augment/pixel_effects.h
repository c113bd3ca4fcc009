// What augmentation does to the colours of a record. Labels are not touched by any of it.
//
// Whole numbers only, so that the same parameters give the same bytes everywhere. All work on
// dense RGB rows in place. Pure functions; safe for concurrent use.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/pack/augment/augmentation.h"
#include "tools/pack/decode/source_image.h"

namespace shardmill {

// Brightness, contrast, saturation and hue in one linear step; limited to 0 … 255 once, at its
// end. Contrast changes around the mean of the pixels in `shown`, a run for each row.
void ChangeColors(const Augmentation& augmentation, ImageSize size,
                  const std::vector<PixelSpan>& shown, uint8_t* rgb);

// The binomial filter of 2 radius + 1 pixels, along rows and columns.
void Blur(uint32_t radius, ImageSize size, std::vector<uint8_t>* rgb);

// Adds nearly normal noise, the sum of four uniform bytes, to each sample.
void AddNoise(uint32_t deviation_permille, uint64_t seed, std::vector<uint8_t>* rgb);

// Sets all pixels of the region to `value`.
void FillRegion(const Region& region, uint8_t value, ImageSize size, uint8_t* rgb);
// Sets all pixels outside the runs to `value`.
void FillOutside(const std::vector<PixelSpan>& shown, uint8_t value, ImageSize size, uint8_t* rgb);

}  // namespace shardmill
