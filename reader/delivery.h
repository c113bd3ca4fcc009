// How a loader hands out a field, whatever form it is stored in.
#pragma once

namespace shardmill {

enum class Delivery {
  kStored,
  // Labels (see label_expand.h):
  kIndex,     // u8 or u16 class id per pixel; ignore stays the ignore value
  kOneHotU8,  // [..., K]; ignore pixels are all zero
  kOneHotF32,
  // Images (see image_normalize.h): f32, (pixel - mean) / deviation of its channel
  kNormalizedNhwc,  // [H, W, C]
  kNormalizedNchw,  // [C, H, W]
};

}  // namespace shardmill
