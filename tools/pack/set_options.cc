#include "tools/pack/set_options.h"

#include <algorithm>
#include <string>

namespace shardmill {
namespace {

Status CheckArrayOptions(const PackOptions& options) {
  if (options.crop.has_value() || options.resize.has_value() || options.augment.copies > 0) {
    return InvalidArgumentError(
        "--crop, --resize and --augment are for images; arrays are packed "
        "as they are");
  }
  if (options.image_type != DType::kU8 || options.pad_value != 0) {
    return InvalidArgumentError(
        "--image-type and --pad-value are for images; arrays are packed as they are");
  }
  if (options.image_codec.codec == Codec::kJpeg) {
    return InvalidArgumentError(
        "--image-codec jpeg is for images; arrays are stored raw or by zstd");
  }
  return OkStatus();
}

Status CheckWideOptions(const PackOptions& options) {
  if (options.augment.copies > 0) {
    return InvalidArgumentError("--augment changes colours of 8 bits; leave out --image-type u16");
  }
  if (options.image_codec.codec == Codec::kJpeg) {
    return InvalidArgumentError(
        "JPEG holds 8 bits per sample; store --image-type u16 raw or by zstd");
  }
  return OkStatus();
}

// True when a record may hold pixels that its source does not have.
bool MayPad(const PackOptions& options) {
  const AugmentOptions& augment = options.augment;
  const bool moves = augment.Has(kAugmentScale) || augment.Has(kAugmentRotate);
  if (augment.copies > 0 && (moves || augment.Has(kAugmentCutout))) return true;
  const bool tiles =
      options.crop_mode == CropMode::kTile || options.eval_crop_mode == CropMode::kTile;
  return options.crop.has_value() && (options.small_images == SmallImages::kPad || tiles);
}

Status CheckPadValue(const PackOptions& options) {
  if (options.pad_value == 0) return OkStatus();
  if (options.bands.has_value()) {
    return InvalidArgumentError("--pad-value is for RGB; --bands are padded with 0");
  }
  if (MayPad(options)) return OkStatus();
  return InvalidArgumentError(
      "--pad-value is for what lies outside of an image; nothing is padded without --crop (with "
      "--small-images pad, or tiles) and without --augment-with scale, rotate or cutout");
}

// What happens to train alone happens to nothing where there is no such split; who chose others may
// pack train with the same options.
Status CheckTrainOptions(const InputSet& set, const PackOptions& options) {
  const bool has_train = std::any_of(set.splits.begin(), set.splits.end(),
                                     [](const InputSplit& split) { return split.name == "train"; });
  if (has_train || !options.layout.splits.empty()) return OkStatus();
  const char* option = options.augment.copies > 0               ? "--augment"
                       : options.variants > 1                   ? "--variants"
                       : options.max_ignore_permille < 1000     ? "--max-ignore"
                       : options.crop_mode != CropMode::kCenter ? "--crop-mode"
                                                                : nullptr;
  if (option == nullptr) return OkStatus();
  return InvalidArgumentError(std::string(option) +
                              " is for the split train, and the set has none" +
                              (set.splits.empty() ? "" : " beside " + set.splits.front().name) +
                              "; call the split to train on train");
}

}  // namespace

Status CheckSetOptions(const InputSet& set, const PackOptions& options) {
  if (set.classes.empty()) return InvalidArgumentError("the class table is empty");
  if (set.task == Task::kClassification && set.labels.ignore.has_value()) {
    return InvalidArgumentError("--ignore is for label images; layout " + set.layout +
                                " has a class per image");
  }
  if (set.task == Task::kClassification && options.max_ignore_permille < 1000) {
    return InvalidArgumentError("--max-ignore is for label images; layout " + set.layout +
                                " has a class per image");
  }
  if (set.task == Task::kClassification &&
      FormatCodecChoice(options.label_codec) != FormatCodecChoice(PackOptions().label_codec)) {
    return InvalidArgumentError("--label-codec is for label images; layout " + set.layout +
                                " has a class per image");
  }
  if (set.holds_arrays) RETURN_IF_ERROR(CheckArrayOptions(options));
  RETURN_IF_ERROR(CheckPadValue(options));
  RETURN_IF_ERROR(CheckTrainOptions(set, options));
  if (options.image_type == DType::kU16) RETURN_IF_ERROR(CheckWideOptions(options));
  if (options.shard_bytes == 0 || options.block_bytes == 0) {
    return InvalidArgumentError("--shard-size and --block-size must be more than 0");
  }
  if (options.crop.has_value() &&
      options.tile_overlap >= std::min(options.crop->height, options.crop->width)) {
    return InvalidArgumentError("--tile-overlap " + std::to_string(options.tile_overlap) +
                                " must be less than the sides of --crop " +
                                FormatImageSize(*options.crop));
  }
  const bool changes_pixels = options.resize.has_value() || options.augment.copies > 0;
  if (options.bands.has_value() &&
      (changes_pixels || options.image_type != DType::kU8 ||
       options.image_codec.codec == Codec::kJpeg || set.holds_arrays)) {
    return InvalidArgumentError(
        "--bands goes with neither --resize nor --augment nor --image-type nor --image-codec jpeg, "
        "and is for images: bands are stored as they are");
  }
  return OkStatus();
}

}  // namespace shardmill
