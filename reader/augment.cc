#include "reader/augment.h"

#include <string>

namespace shardmill {
namespace {

constexpr int64_t kMaxCrop = int64_t{1} << 20;
// Independent random numbers of one position.
constexpr uint64_t kNumbers = 4;

bool IsProbability(double value) { return value >= 0 && value <= 1; }

// Whether something of this probability happens, from a uniform 64-bit number.
bool Happens(uint64_t hash, double probability) {
  return static_cast<double>(hash >> 11) * 0x1p-53 < probability;
}

// Where a crop may begin along one axis: the first and the last place.
struct Places {
  int64_t first = 0;
  int64_t last = 0;
};

Places PlacesOf(int64_t image, int64_t crop, int64_t border) {
  const int64_t room = image - crop;
  if (room < 0) return {room, 0};  // the whole image lies in the crop
  return {-border, room + border};
}

int64_t Begin(const Augment& augment, int64_t image, int64_t crop, uint64_t hash) {
  if (augment.place == CropPlace::kCenter) {
    // Rounded down also where the crop is larger than the image.
    const int64_t room = image - crop;
    return room >= 0 ? room / 2 : -((1 - room) / 2);
  }
  const Places places = PlacesOf(image, crop, augment.border);
  const auto count = static_cast<uint64_t>(places.last - places.first) + 1;
  return places.first + static_cast<int64_t>(BoundedHash(hash, count));
}

}  // namespace

Status CheckAugment(const Augment& augment) {
  if (!IsProbability(augment.horizontal_flip) || !IsProbability(augment.vertical_flip)) {
    return InvalidArgumentError(
        "augment.horizontal_flip and augment.vertical_flip are probabilities, from 0 to 1");
  }
  const bool is_crop = augment.HasCrop();
  if (is_crop && (augment.crop_height < 1 || augment.crop_width < 1 ||
                  augment.crop_height > kMaxCrop || augment.crop_width > kMaxCrop)) {
    return InvalidArgumentError("augment.crop_height is " + std::to_string(augment.crop_height) +
                                " and augment.crop_width is " + std::to_string(augment.crop_width) +
                                "; give both, from 1 to " + std::to_string(kMaxCrop) +
                                ", or neither");
  }
  if (augment.border < 0 || augment.border > kMaxCrop) {
    return InvalidArgumentError("augment.border is " + std::to_string(augment.border) +
                                "; it is a number of pixels");
  }
  if (augment.border > 0 && (!is_crop || augment.place != CropPlace::kRandom)) {
    return InvalidArgumentError("augment.border is for random crops; give a crop size with it");
  }
  return OkStatus();
}

PixelWindow WindowOf(const Augment& augment, const OrderKey& key, uint64_t position,
                     int64_t image_height, int64_t image_width) {
  const auto number = [&](uint64_t i) { return KeyedHash(key, position * kNumbers + i); };
  PixelWindow window;
  window.height = image_height;
  window.width = image_width;
  window.flip_horizontal = Happens(number(0), augment.horizontal_flip);
  window.flip_vertical = Happens(number(1), augment.vertical_flip);
  if (!augment.HasCrop()) return window;
  window.height = augment.crop_height;
  window.width = augment.crop_width;
  window.y = Begin(augment, image_height, window.height, number(2));
  window.x = Begin(augment, image_width, window.width, number(3));
  return window;
}

bool MayReachOutside(const Augment& augment, int64_t image_height, int64_t image_width) {
  if (!augment.HasCrop()) return false;
  return augment.border > 0 || augment.crop_height > image_height ||
         augment.crop_width > image_width;
}

}  // namespace shardmill
