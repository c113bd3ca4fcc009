// On-the-fly flips and crops of a loader: one geometric transform per row, the same for the image
// and its labels.
//
// The transform is a function of (seed, epoch, split, position in the epoch) and of the size of
// the image, so it does not depend on ranks or threads. Pure functions; safe for concurrent use.
#pragma once

#include <cstdint>
#include <optional>

#include "reader/base/status.h"
#include "reader/keyed_permutation.h"
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

  bool HasCrop() const { return crop_height != 0 || crop_width != 0; }
  bool IsOn() const { return HasCrop() || horizontal_flip != 0 || vertical_flip != 0; }
};

// InvalidArgument names the option.
Status CheckAugment(const Augment& augment);

// The transform of the row at a position, for an image of this size. `key` is that of the epoch.
PixelWindow WindowOf(const Augment& augment, const OrderKey& key, uint64_t position,
                     int64_t image_height, int64_t image_width);

// Whether some window of an image of this size reaches over its edges.
bool MayReachOutside(const Augment& augment, int64_t image_height, int64_t image_width);

}  // namespace shardmill
