// The vector code behind ImageNormalizer and MapColors: one version per instruction set, chosen at
// run time. Pure functions.
#pragma once

#include <cstdint>

#include "reader/color_change.h"
#include "reader/schema.h"

namespace shardmill {

// out[i] = (in[i] - mean[i % period]) * factor[i % period] for i < count. The dtype is u8, u16 or
// f32; `in` need not be aligned.
void NormalizeValues(DType dtype, const uint8_t* in, uint64_t count, uint64_t period,
                     const float* mean, const float* factor, float* out);

// Channel c of pixel i of [pixels, channels] goes to element c * plane_stride + i of `planes`.
void SplitChannels(DType dtype, const uint8_t* in, uint64_t pixels, uint64_t channels,
                   uint64_t plane_stride, uint8_t* planes);

// Maps whole vectors of RGB pixels in place; returns how many pixels that were.
uint64_t MapColorVectors(const ColorMap& map, uint64_t pixels, uint8_t* rgb);

}  // namespace shardmill
