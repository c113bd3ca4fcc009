#include "trainer/data/input_augmentation.h"

#include <string>

#include "proto/train_config.pb.h"
#include "reader/console/units.h"

namespace shardmill {
namespace {

Status CheckFits(const Augment& augment, const DataTask& task) {
  if (task.sequences) {
    return InvalidArgumentError(
        "flips, crops, scales and colours are of images, but this data set has sequences; train "
        "without the options of the group Augmentation");
  }
  if (augment.scale_least > augment.scale_most) {
    return InvalidArgumentError(
        "--scale-least is larger than --scale-most; both are factors by "
        "which images are shown larger");
  }
  if (task.kind == TaskKind::kSegmentation && !task.ignore &&
      MayReachOutside(augment, task.image.h, task.image.w)) {
    return InvalidArgumentError(
        "with this --train-crop and --scale-least the crop may reach over the edge of the image "
        "(the smallest is " +
        std::to_string(task.image.h) + " high × " + std::to_string(task.image.w) +
        " wide), but the data set has no ignore value to stand there: use a smaller crop or a "
        "larger --scale-least, or pack the data set with --ignore");
  }
  if (!augment.ChangesColors()) return OkStatus();
  if (task.image_type == ImageType::kF32) {
    return InvalidArgumentError(
        "--brightness, --contrast, --saturation and --hue need images of u8 or u16: of f32 nobody "
        "knows the full range");
  }
  const bool has_colors = task.image.c == 3;
  if (has_colors || (task.image.c == 1 && augment.saturation == 0 && augment.hue == 0)) {
    return OkStatus();
  }
  return InvalidArgumentError(
      "--brightness and --contrast need images of 1 or 3 channels, --saturation and --hue of 3; "
      "these have " +
      std::to_string(task.image.c));
}

}  // namespace

Result<Augment> InputAugmentation(const proto::TrainConfig& config, const DataTask& task) {
  Augment augment;
  augment.horizontal_flip = config.flip();
  augment.vertical_flip = config.flip_vertical();
  if (config.train_crop() != "none") {
    Result<ImageSize> crop = ParseImageSize(config.train_crop());
    if (!crop.ok()) return crop.status().WithContext("--train-crop");
    augment.crop_height = crop->height;
    augment.crop_width = crop->width;
  }
  augment.scale_least = config.scale_least();
  augment.scale_most = config.scale_most();
  augment.brightness = config.brightness();
  augment.contrast = config.contrast();
  augment.saturation = config.saturation();
  augment.hue = config.hue();
  if (!augment.IsOn()) return augment;
  RETURN_IF_ERROR(CheckFits(augment, task));
  RETURN_IF_ERROR(CheckAugment(augment));
  return augment;
}

DataTask TrainingTask(const DataTask& task, const Augment& augment) {
  DataTask training = task;
  if (!augment.HasCrop()) return training;
  training.image.h = augment.crop_height;
  training.image.w = augment.crop_width;
  if (task.kind == TaskKind::kSegmentation) {
    training.label_h = augment.crop_height;
    training.label_w = augment.crop_width;
  }
  return training;
}

}  // namespace shardmill
