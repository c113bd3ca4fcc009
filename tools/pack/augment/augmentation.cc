#include "tools/pack/augment/augmentation.h"

#include <algorithm>

#include "proto/record_meta.pb.h"

namespace shardmill {
namespace {

// A whole number from -most to most.
int32_t Around(uint32_t most, RandomStream* random) {
  return static_cast<int32_t>(random->Below(2 * uint64_t{most} + 1)) - static_cast<int32_t>(most);
}

// Uniform on the side of the factors above 1 and on that of their inverses.
uint32_t DrawScale(uint32_t most, RandomStream* random) {
  if (most == 0) return 1000;
  const auto factor = static_cast<uint32_t>(1000 + random->Below(most - 1000 + 1));
  return random->Chance(0.5) ? factor : (1000000 + factor / 2) / factor;
}

// The pixels of a side of the image that a side of the window shows.
uint32_t Extent(uint32_t window, uint32_t scale_permille) {
  return static_cast<uint32_t>((uint64_t{window} * 1000 + scale_permille - 1) / scale_permille);
}

// The centre of the window along one side, in half pixels. Where the whole side is shown it lies as
// that of a plain window does: with an odd room half a pixel off the middle, on whole pixels.
int64_t DrawCenter(uint32_t side, uint32_t extent, RandomStream* random) {
  if (extent > side) return int64_t{side} - (extent - side) % 2;
  return 2 * static_cast<int64_t>(random->Below(uint64_t{side} - extent + 1)) + extent;
}

// Half of `halves`, rounded down.
int32_t WholePixels(int64_t halves) { return static_cast<int32_t>(halves >> 1); }

Region DrawCutout(uint32_t share_permille, ImageSize window, RandomStream* random) {
  auto side = [&](uint32_t of) {
    const uint64_t most = std::max<uint64_t>(1, uint64_t{of} * share_permille / 1000);
    return static_cast<uint32_t>(1 + random->Below(most));
  };
  Region region;
  region.size.height = side(window.height);
  region.size.width = side(window.width);
  region.y = static_cast<uint32_t>(random->Below(uint64_t{window.height} - region.size.height + 1));
  region.x = static_cast<uint32_t>(random->Below(uint64_t{window.width} - region.size.width + 1));
  return region;
}

void DrawColors(const AugmentOptions& options, RandomStream* random, Augmentation* drawn) {
  drawn->brightness_permille = Around(options.strength[kAugmentBrightness], random);
  drawn->contrast_permille = 1000 + Around(options.strength[kAugmentContrast], random);
  drawn->saturation_permille = 1000 + Around(options.strength[kAugmentSaturation], random);
  drawn->hue_millidegrees = Around(options.strength[kAugmentHue], random);
  drawn->noise_permille =
      static_cast<uint32_t>(random->Below(uint64_t{options.strength[kAugmentNoise]} + 1));
  drawn->blur_radius =
      static_cast<uint32_t>(random->Below(options.strength[kAugmentBlur] / 1000 + 1));
}

}  // namespace

DrawnAugmentation DrawAugmentation(const AugmentOptions& options, const AugmentFrame& frame,
                                   RandomStream* random) {
  Augmentation drawn;
  drawn.flip_horizontal = random->Chance(0.5) && options.Has(kAugmentFlip);
  drawn.flip_vertical = random->Chance(0.5) && options.Has(kAugmentFlipVertical);
  drawn.scale_permille = DrawScale(options.strength[kAugmentScale], random);
  drawn.rotation_millidegrees = Around(options.strength[kAugmentRotate], random);
  MapParameters map;
  map.window = frame.window;
  map.center_y_halves = 2 * int64_t{frame.y} + frame.window.height;
  map.center_x_halves = 2 * int64_t{frame.x} + frame.window.width;
  if (frame.anywhere) {
    const uint32_t scale = drawn.scale_permille;
    map.center_y_halves =
        DrawCenter(frame.image.height, Extent(frame.window.height, scale), random);
    map.center_x_halves = DrawCenter(frame.image.width, Extent(frame.window.width, scale), random);
  }
  map.scale_permille = drawn.scale_permille;
  map.rotation_millidegrees = drawn.rotation_millidegrees;
  map.flip_horizontal = drawn.flip_horizontal;
  map.flip_vertical = drawn.flip_vertical;
  drawn.map = MakeAffineMap(map);
  DrawColors(options, random, &drawn);
  if (options.Has(kAugmentCutout)) {
    drawn.cutout = DrawCutout(options.strength[kAugmentCutout], frame.window, random);
  }
  return {drawn, WholePixels(map.center_y_halves - int64_t{frame.window.height}),
          WholePixels(map.center_x_halves - int64_t{frame.window.width})};
}

void AugmentationToProto(const Augmentation& augmentation, proto::Augmentation* message) {
  message->set_flip_horizontal(augmentation.flip_horizontal);
  message->set_flip_vertical(augmentation.flip_vertical);
  message->set_scale_permille(augmentation.scale_permille);
  message->set_rotation_millidegrees(augmentation.rotation_millidegrees);
  message->set_brightness_permille(augmentation.brightness_permille);
  message->set_contrast_permille(augmentation.contrast_permille);
  message->set_saturation_permille(augmentation.saturation_permille);
  message->set_hue_millidegrees(augmentation.hue_millidegrees);
  message->set_noise_permille(augmentation.noise_permille);
  message->set_blur_radius(augmentation.blur_radius);
  message->set_cutout_y(augmentation.cutout.y);
  message->set_cutout_x(augmentation.cutout.x);
  message->set_cutout_height(augmentation.cutout.size.height);
  message->set_cutout_width(augmentation.cutout.size.width);
  const AffineMap& map = augmentation.map;
  for (int64_t number :
       {map.x_from_x, map.x_from_y, map.x_offset, map.y_from_x, map.y_from_y, map.y_offset}) {
    message->add_to_source(number);
  }
}

}  // namespace shardmill
