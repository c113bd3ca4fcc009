// What was drawn for one augmented record.
//
// Whole numbers, stored with the record (record_meta.proto). Pure functions.
#pragma once

#include <cstdint>

#include "tools/pack/augment/affine_map.h"
#include "tools/pack/augment/augment_options.h"
#include "tools/pack/decode/source_image.h"
#include "tools/random_stream.h"

namespace shardmill {

namespace proto {
class Augmentation;
}  // namespace proto

struct Augmentation {
  bool flip_horizontal = false, flip_vertical = false;
  uint32_t scale_permille = 1000;     // 1250: everything is shown 1.25 times as large
  int32_t rotation_millidegrees = 0;  // clockwise
  int32_t brightness_permille = 0;    // of the full range, added
  int32_t contrast_permille = 1000;   // factor around the mean of the record
  int32_t saturation_permille = 1000;
  int32_t hue_millidegrees = 0;
  uint32_t noise_permille = 0;  // standard deviation, in thousandths of a level
  uint32_t blur_radius = 0;     // pixels
  Region cutout;                // of the record; 0 × 0: none
  AffineMap map;                // what the first four come to

  bool ChangesColors() const {
    return brightness_permille != 0 || contrast_permille != 1000 || saturation_permille != 1000 ||
           hue_millidegrees != 0;
  }
};

// The window that is to be augmented.
struct AugmentFrame {
  ImageSize image;  // as resized
  ImageSize window;
  int32_t y = 0, x = 0;
  bool anywhere = false;  // its place is drawn too
};

struct DrawnAugmentation {
  Augmentation augmentation;
  int32_t y = 0, x = 0;  // of the window before it was scaled and turned
};

DrawnAugmentation DrawAugmentation(const AugmentOptions& options, const AugmentFrame& frame,
                                   RandomStream* random);

void AugmentationToProto(const Augmentation& augmentation, proto::Augmentation* message);

}  // namespace shardmill
