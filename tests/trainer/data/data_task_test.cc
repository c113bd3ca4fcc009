#include "trainer/data/data_task.h"

#include <gtest/gtest.h>

#include "proto/manifest.pb.h"
#include "reader/statistics.h"

namespace shardmill {
namespace {

FieldSpec Image(DType dtype, std::vector<int64_t> shape) {
  FieldSpec field;
  field.name = "image";
  field.dtype = dtype;
  field.shape = std::move(shape);
  field.role = Role::kImage;
  return field;
}

FieldSpec Label(Role role, DType dtype, std::vector<int64_t> shape, LabelEncoding encoding) {
  FieldSpec field;
  field.name = "label";
  field.dtype = dtype;
  field.shape = std::move(shape);
  field.role = role;
  field.encoding = encoding;
  return field;
}

RecordSchema Schema(std::vector<FieldSpec> fields, uint32_t classes) {
  RecordSchema schema;
  schema.fields = std::move(fields);
  for (uint32_t k = 0; k < classes; ++k) {
    schema.classes.push_back({k, "class " + std::to_string(k), std::nullopt});
  }
  schema.ignore = 255;
  return schema;
}

void ExpectInvalid(const RecordSchema& schema, const std::string& part) {
  const Status status = DescribeTask(schema).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

const FieldSpec kImage = Image(DType::kU8, {24, 32, 3});

TEST(DataTask, ClassMapIsSegmentation) {
  const auto task = DescribeTask(
      Schema({kImage, Label(Role::kClassMap, DType::kU8, {24, 32}, LabelEncoding::kIndex)}, 5));
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  EXPECT_EQ(task->kind, TaskKind::kSegmentation);
  EXPECT_EQ(task->image, (Shape{0, 24, 32, 3}));
  EXPECT_EQ(task->label_h, 24);
  EXPECT_EQ(task->label_w, 32);
  EXPECT_EQ(task->label_type, LabelType::kIndexU8);
  EXPECT_EQ(task->classes.size(), 5u);
  EXPECT_EQ(task->ignore, 255u);
}

TEST(DataTask, OneHotClassMapIsTakenAsIndex) {
  const auto task = DescribeTask(Schema(
      {kImage, Label(Role::kClassMap, DType::kU8, {24, 32, 1}, LabelEncoding::kOneHotBits)}, 5));
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  EXPECT_EQ(task->label_w, 32);
  EXPECT_EQ(task->label_type, LabelType::kIndexU8);
}

TEST(DataTask, ClassIdIsClassificationWithOneLabelPerImage) {
  const auto task =
      DescribeTask(Schema({Image(DType::kF32, {8, 9, 1}),
                           Label(Role::kClassId, DType::kU16, {1}, LabelEncoding::kIndex)},
                          300));
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  EXPECT_EQ(task->kind, TaskKind::kClassification);
  EXPECT_EQ(task->image_type, ImageType::kF32);
  EXPECT_EQ(task->label_type, LabelType::kIndexU16);
  EXPECT_EQ(task->label_h * task->label_w, 1);
}

TEST(DataTask, WhatCannotBeTrainedOnSaysWhy) {
  const FieldSpec map = Label(Role::kClassMap, DType::kU8, {24, 32}, LabelEncoding::kIndex);
  ExpectInvalid(Schema({map}, 5), "no image field");
  ExpectInvalid(Schema({kImage}, 5), "no labels");
  ExpectInvalid(Schema({Image(DType::kU8, {-1, -1, 3}), map}, 5), "--crop");
  ExpectInvalid(Schema({Image(DType::kI64, {24, 32, 3}), map}, 5), "i64");
  ExpectInvalid(Schema({Image(DType::kU8, {24, 33, 3}), map}, 5), "24 high × 33 wide");
  ExpectInvalid(Schema({kImage, map}, 1), "1 class");
}

TEST(DataTask, SoftLabelsAreAFieldWithAShareForEveryClass) {
  FieldSpec shares = Image(DType::kF32, {24, 32, 5});
  shares.name = "shares";
  shares.role = Role::kTensor;
  const FieldSpec map = Label(Role::kClassMap, DType::kU8, {24, 32}, LabelEncoding::kIndex);
  auto task = DescribeTask(Schema({kImage, map, shares}, 5), "shares");
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  EXPECT_EQ(task->soft_field, "shares");
  EXPECT_EQ(task->label_field, "label");
  RecordSchema alone = Schema({kImage, shares}, 5);
  alone.ignore = std::nullopt;
  task = DescribeTask(alone, "shares");
  ASSERT_TRUE(task.ok()) << task.status().ToString();
  EXPECT_EQ(task->label_field, "");
  EXPECT_EQ(task->kind, TaskKind::kSegmentation);
  EXPECT_EQ(task->ignore, 255u);
  EXPECT_EQ(task->label_h, 24);
  const auto message = [](const RecordSchema& schema, const std::string& name) {
    return DescribeTask(schema, name).status().message();
  };
  EXPECT_NE(message(alone, "none").find("--soft-labels"), std::string::npos);
  EXPECT_NE(message(alone, "image").find("must be f32 [height, width, 5]"), std::string::npos);
  EXPECT_NE(message(alone, "other").find("no field 'other'"), std::string::npos);
  shares.shape = {5};
  EXPECT_NE(message(Schema({kImage, map, shares}, 5), "shares").find("not both"),
            std::string::npos);
}

TEST(DataTask, ScoreIsMeanIouOrAccuracy) {
  ConfusionMatrix matrix(2, std::nullopt);
  matrix.AddCount(0, 0, 3);
  matrix.AddCount(1, 0, 1);
  const Scores scores = ComputeScores(matrix);
  EXPECT_DOUBLE_EQ(*ScoreOf(TaskKind::kSegmentation, scores), 0.375);
  EXPECT_DOUBLE_EQ(*ScoreOf(TaskKind::kClassification, scores), 0.75);
}

TEST(DataTask, ScaleComesFromTheStatisticsAndNeverDividesByZero) {
  proto::Statistics statistics;
  statistics.set_image_pixels(4);
  const uint64_t sums[2] = {40, 28};  // channel 0 is 10 everywhere, channel 1: 4, 4, 10, 10
  const uint64_t squares[2] = {400, 232};
  for (int channel = 0; channel < 2; ++channel) {
    statistics.add_channel_sum()->set_low(sums[channel]);
    statistics.add_channel_sum_sq()->set_low(squares[channel]);
  }
  const ImageScale scale = ScaleOf(statistics, 2);
  EXPECT_EQ(scale.mean, (std::vector<float>{10, 7}));
  EXPECT_EQ(scale.deviation, (std::vector<float>{1, 3}));
  const ImageScale none = ScaleOf({}, 3);
  EXPECT_EQ(none.mean, (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(none.deviation, (std::vector<float>{1, 1, 1}));
}

}  // namespace
}  // namespace shardmill
