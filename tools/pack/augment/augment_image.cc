#include "tools/pack/augment/augment_image.h"

#include "tools/pack/augment/pixel_effects.h"
#include "tools/pack/augment/warp.h"

namespace shardmill {

std::vector<PixelSpan> AugmentImage(const RgbImage& source, const Augmentation& augmentation,
                                    ImageSize record, uint64_t seed, uint8_t pad_value,
                                    std::vector<uint8_t>* out) {
  std::vector<PixelSpan> shown = InsideSpans(augmentation.map, record, source.size);
  WarpImage(source, augmentation.map, record, out);
  if (augmentation.ChangesColors()) ChangeColors(augmentation, record, shown, out->data());
  Blur(augmentation.blur_radius, record, out);
  // Not the stream that the parameters were drawn from.
  AddNoise(augmentation.noise_permille, MixBits(seed), out);
  FillRegion(augmentation.cutout, pad_value, record, out->data());
  FillOutside(shown, pad_value, record, out->data());
  return shown;
}

}  // namespace shardmill
