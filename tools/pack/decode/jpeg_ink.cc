#include "tools/pack/decode/jpeg_ink.h"

namespace shardmill {

void ConvertInkToRgb(const uint8_t* ink, int64_t count, InkForm form, uint8_t* rgb) {
  const uint32_t flip = form == InkForm::kAmount ? 255 : 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t through_black = ink[4 * i + 3] ^ flip;
    for (int c = 0; c < 3; ++c) {
      const uint32_t through_color = ink[4 * i + c] ^ flip;
      rgb[3 * i + c] = static_cast<uint8_t>((through_color * through_black + 127) / 255);
    }
  }
}

}  // namespace shardmill
