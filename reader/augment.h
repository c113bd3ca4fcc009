// On-the-fly augmentation of a loader: flips, crops and scales, one geometric transform per row,
// the same for the image and its labels; and changes of the colours of the image.
//
// What is done is a function of (seed, epoch, split, position in the epoch) and of the size of
// the image, so it does not depend on ranks or threads. Pure functions; safe for concurrent use.
#pragma once

#include <cstdint>
#include <optional>

#include "reader/base/status.h"
#include "reader/color_change.h"
#include "reader/keyed_permutation.h"
#include "reader/schema.h"
#include "reader/tensor_copy.h"

namespace shardmill {

enum class CropPlace {
  kRandom,
  kCenter,
};

struct Augment {
  // Probabilities.
  double horizontal_flip = 0;
  double vertical_flip = 0;
  // Size of the crop in pixels; both 0: none. It may be larger than the image.
  int64_t crop_height = 0;
  int64_t crop_width = 0;
  CropPlace place = CropPlace::kRandom;
  // Pixels by which a random crop may reach over each edge of an image that is large enough.
  int64_t border = 0;
  // What images hold outside of the source, in the units of their pixels. Class maps hold the
  // ignore value there.
  double pad_value = 0;
  // The image is shown so many times as large, before it is cropped: a factor drawn evenly, in
  // thousandths. Without a crop the row keeps the size of the image. Images are interpolated
  // between four pixels, class maps take the nearest one.
  double scale_least = 1;
  double scale_most = 1;
  // The largest changes of colours, drawn evenly in both directions; images of one or three
  // channels of u8 or u16 only, and hue and saturation of three. See color_change.h.
  double brightness = 0;  // of the full range
  double contrast = 0;    // of the factor 1 around the mean of the pixels
  double saturation = 0;  // likewise
  double hue = 0;         // in degrees

  bool HasCrop() const { return crop_height != 0 || crop_width != 0; }
  bool Scales() const { return scale_least != 1 || scale_most != 1; }
  bool MovesPixels() const {
    return HasCrop() || Scales() || horizontal_flip != 0 || vertical_flip != 0;
  }
  bool ChangesColors() const {
    return brightness != 0 || contrast != 0 || saturation != 0 || hue != 0;
  }
  bool IsOn() const { return MovesPixels() || ChangesColors(); }
};

// InvalidArgument names the option.
Status CheckAugment(const Augment& augment);

// InvalidArgument when the pixels of this image field are none that can be scaled, or whose colours
// can be changed, as asked for.
Status CheckAugmentedImage(const FieldSpec& image, const Augment& augment);

// The transform of the row at a position, for an image of this size. `key` is that of the epoch.
PixelWindow WindowOf(const Augment& augment, const OrderKey& key, uint64_t position,
                     int64_t image_height, int64_t image_width);

// The change of colours of the row at a position.
ColorChange ColorsOf(const Augment& augment, const OrderKey& key, uint64_t position);

// Whether some window of an image of this size reaches over its edges.
bool MayReachOutside(const Augment& augment, int64_t image_height, int64_t image_width);

}  // namespace shardmill
