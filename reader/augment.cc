#include "reader/augment.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace shardmill {
namespace {

constexpr int64_t kMaxCrop = int64_t{1} << 20;
// Independent random numbers of one position.
constexpr uint64_t kNumbers = 4;
// The same of the key that is a position's own.
enum OwnNumber : uint64_t { kScale, kBrightness, kContrast, kSaturation, kHue };
constexpr double kLeastScale = 0.05;
constexpr double kMostScale = 16;

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

int64_t Thousandths(double value) { return std::llround(1000 * value); }

// A whole number from -most to most.
int32_t Around(int64_t most, uint64_t hash) {
  return static_cast<int32_t>(static_cast<int64_t>(BoundedHash(hash, 2 * most + 1)) - most);
}

Status CheckScale(const Augment& augment) {
  if (augment.scale_least >= kLeastScale && augment.scale_most <= kMostScale &&
      augment.scale_least <= augment.scale_most) {
    return OkStatus();
  }
  return InvalidArgumentError("augment.scale_least is " + std::to_string(augment.scale_least) +
                              " and augment.scale_most is " + std::to_string(augment.scale_most) +
                              "; they are factors from 0.05 to 16, the least first");
}

Status CheckColors(const Augment& augment) {
  for (const double share : {augment.brightness, augment.contrast, augment.saturation}) {
    if (IsProbability(share)) continue;
    return InvalidArgumentError(
        "augment.brightness, augment.contrast and augment.saturation are from 0 to 1");
  }
  if (augment.hue >= 0 && augment.hue <= 180) return OkStatus();
  return InvalidArgumentError("augment.hue is an angle from 0 to 180 degrees");
}

int64_t ScaledSide(int64_t side, int64_t permille) {
  return side == 0 ? 0 : std::max<int64_t>(1, (side * permille + 500) / 1000);
}

// How large the image is shown. One without pixels has none to scale.
void SetScale(const Augment& augment, uint64_t hash, int64_t image_height, int64_t image_width,
              PixelWindow* window) {
  const int64_t least = Thousandths(augment.scale_least);
  const auto count = static_cast<uint64_t>(Thousandths(augment.scale_most) - least) + 1;
  const int64_t permille = least + static_cast<int64_t>(BoundedHash(hash, count));
  window->scaled_height = ScaledSide(image_height, permille);
  window->scaled_width = ScaledSide(image_width, permille);
}

// Of other images nobody knows the full range, or which channels are red, green and blue.
Status CheckColorChange(const FieldSpec& spec, const Augment& augment) {
  const int64_t channels = spec.shape.back();
  if (spec.dtype != DType::kU8 && spec.dtype != DType::kU16) {
    return InvalidArgumentError("field '" + spec.name + "'" + " holds " +
                                std::string(DTypeName(spec.dtype)) +
                                "; colours can be changed of u8 and u16 only");
  }
  if (channels == 3) return OkStatus();
  if (channels == 1 && augment.saturation == 0 && augment.hue == 0) return OkStatus();
  return InvalidArgumentError("field '" + spec.name + "'" + " has " + std::to_string(channels) +
                              (channels == 1 ? " channel; it has no saturation or hue to change"
                                             : " channels; colours can be changed of 1 or 3"));
}

Status CheckScaled(const FieldSpec& spec) {
  if (spec.dtype == DType::kU8 || spec.dtype == DType::kU16 || spec.dtype == DType::kF32) {
    return OkStatus();
  }
  return InvalidArgumentError("field '" + spec.name + "'" + " holds " +
                              std::string(DTypeName(spec.dtype)) +
                              "; images of u8, u16 and f32 can be scaled");
}

}  // namespace

Status CheckAugmentedImage(const FieldSpec& image, const Augment& augment) {
  if (augment.ChangesColors()) RETURN_IF_ERROR(CheckColorChange(image, augment));
  return augment.Scales() ? CheckScaled(image) : OkStatus();
}

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
  RETURN_IF_ERROR(CheckScale(augment));
  return CheckColors(augment);
}

PixelWindow WindowOf(const Augment& augment, const OrderKey& key, uint64_t position,
                     int64_t image_height, int64_t image_width) {
  const auto number = [&](uint64_t i) { return KeyedHash(key, position * kNumbers + i); };
  PixelWindow window;
  window.height = image_height;
  window.width = image_width;
  window.flip_horizontal = Happens(number(0), augment.horizontal_flip);
  window.flip_vertical = Happens(number(1), augment.vertical_flip);
  if (augment.Scales()) {
    const uint64_t hash = KeyedHash(DeriveKey(key, position), kScale);
    SetScale(augment, hash, image_height, image_width, &window);
    image_height = window.scaled_height;
    image_width = window.scaled_width;
  } else if (!augment.HasCrop()) {
    return window;
  }
  if (augment.HasCrop()) {
    window.height = augment.crop_height;
    window.width = augment.crop_width;
  }
  window.y = Begin(augment, image_height, window.height, number(2));
  window.x = Begin(augment, image_width, window.width, number(3));
  return window;
}

ColorChange ColorsOf(const Augment& augment, const OrderKey& key, uint64_t position) {
  ColorChange change;
  if (!augment.ChangesColors()) return change;
  const OrderKey own = DeriveKey(key, position);
  change.brightness_permille = Around(Thousandths(augment.brightness), KeyedHash(own, kBrightness));
  change.contrast_permille += Around(Thousandths(augment.contrast), KeyedHash(own, kContrast));
  change.saturation_permille +=
      Around(Thousandths(augment.saturation), KeyedHash(own, kSaturation));
  change.hue_millidegrees = Around(Thousandths(augment.hue), KeyedHash(own, kHue));
  return change;
}

bool MayReachOutside(const Augment& augment, int64_t image_height, int64_t image_width) {
  if (augment.Scales()) {
    PixelWindow smallest;
    Augment least = augment;
    least.scale_most = augment.scale_least;
    SetScale(least, 0, image_height, image_width, &smallest);
    if (!augment.HasCrop()) {
      return smallest.scaled_height < image_height || smallest.scaled_width < image_width;
    }
    image_height = smallest.scaled_height;
    image_width = smallest.scaled_width;
  }
  if (!augment.HasCrop()) return false;
  return augment.border > 0 || augment.crop_height > image_height ||
         augment.crop_width > image_width;
}

}  // namespace shardmill
