// Ink values of CMYK images as light. Stateless; safe for concurrent use.
#pragma once

#include <cstdint>

namespace shardmill {

enum class InkForm {
  kAmount,    // 0 is no ink, 255 is full ink
  kInverted,  // the reverse, as Adobe's programs write it
};

// `count` pixels of cyan, magenta, yellow, black to red, green, blue: the product of what colour
// ink and black ink let through, rounded to the nearest.
void ConvertInkToRgb(const uint8_t* ink, int64_t count, InkForm form, uint8_t* rgb);

}  // namespace shardmill
