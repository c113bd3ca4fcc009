#include "trainer/data/input_augmentation.h"

#include <gtest/gtest.h>

#include "proto/train_config.pb.h"

namespace shardmill {
namespace {

DataTask Task() {
  DataTask task;
  task.image = {0, 24, 32, 3};
  task.label_h = 24;
  task.label_w = 32;
  task.ignore = 255;
  return task;
}

std::string ErrorOf(const proto::TrainConfig& config, const DataTask& task) {
  const auto augment = InputAugmentation(config, task);
  return augment.ok() ? "" : augment.status().message();
}

void ExpectError(const proto::TrainConfig& config, const DataTask& task, const char* part) {
  EXPECT_NE(ErrorOf(config, task).find(part), std::string::npos) << ErrorOf(config, task);
}

TEST(InputAugmentation, DefaultsDoNothing) {
  const auto augment = InputAugmentation(proto::TrainConfig(), Task());
  ASSERT_TRUE(augment.ok());
  EXPECT_FALSE(augment->IsOn());
  EXPECT_EQ(TrainingTask(Task(), *augment).image, Task().image);
}

TEST(InputAugmentation, TrainingSeesImagesAndClassMapsOfTheSizeOfTheCrop) {
  proto::TrainConfig config;
  config.set_train_crop("16x40");
  config.set_hue(5);
  const auto augment = InputAugmentation(config, Task());
  ASSERT_TRUE(augment.ok()) << augment.status().ToString();
  EXPECT_EQ(augment->hue, 5);
  DataTask task = TrainingTask(Task(), *augment);
  EXPECT_EQ(task.image, (Shape{0, 16, 40, 3}));
  EXPECT_EQ(task.label_h, 16);
  EXPECT_EQ(task.label_w, 40);
  DataTask ids = Task();
  ids.kind = TaskKind::kClassification;
  ids.label_h = ids.label_w = 1;
  EXPECT_EQ(TrainingTask(ids, *augment).label_w, 1);
}

TEST(InputAugmentation, WithoutAnIgnoreValueNothingMayLieOutsideOfTheImage) {
  DataTask task = Task();
  task.ignore = std::nullopt;
  proto::TrainConfig config;
  config.set_train_crop("16x32");
  EXPECT_EQ(ErrorOf(config, task), "");
  config.set_scale_least(0.5);
  ExpectError(config, task, "no ignore value");
  config.clear_scale_least();
  config.set_train_crop("16x33");
  ExpectError(config, task, "no ignore value");
  task.kind = TaskKind::kClassification;  // no labels lie on the image
  EXPECT_EQ(ErrorOf(config, task), "");
}

TEST(InputAugmentation, WhatTheDataSetCannotGiveIsSaidWithTheFlag) {
  proto::TrainConfig config;
  config.set_hue(5);
  DataTask task = Task();
  task.image_type = ImageType::kF32;
  ExpectError(config, task, "--hue need images of u8 or u16");
  task = Task();
  task.image.c = 1;
  ExpectError(config, task, "these have 1");
  config.clear_hue();
  config.set_brightness(0.5);
  EXPECT_EQ(ErrorOf(config, task), "");
  task.sequences = true;
  ExpectError(config, task, "this data set has sequences");
  config.set_scale_least(2);
  ExpectError(config, Task(), "--scale-least is larger");
  config.set_train_crop("16");
  ExpectError(config, Task(), "--train-crop");
}

}  // namespace
}  // namespace shardmill
