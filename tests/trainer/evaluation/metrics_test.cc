#include "trainer/evaluation/metrics.h"

#include <gtest/gtest.h>

#include <random>

namespace shardmill {
namespace {

struct Pixels {
  std::vector<uint8_t> labels;
  std::vector<uint8_t> predicted;
};

Pixels RandomPixels(int classes, int count, uint32_t ignore_percent, uint8_t ignore) {
  std::mt19937 random(20240611);
  Pixels pixels;
  for (int i = 0; i < count; ++i) {
    const bool ignored = random() % 100 < ignore_percent;
    pixels.labels.push_back(ignored ? ignore : static_cast<uint8_t>(random() % classes));
    pixels.predicted.push_back(static_cast<uint8_t>(random() % classes));
  }
  return pixels;
}

// Intersection over union of one class, straight from its definition over sets of pixels.
double BruteForceIou(const Pixels& pixels, int k, uint8_t ignore) {
  int both = 0;
  int either = 0;
  for (size_t i = 0; i < pixels.labels.size(); ++i) {
    if (pixels.labels[i] == ignore) continue;
    const bool labelled = pixels.labels[i] == k;
    const bool predicted = pixels.predicted[i] == k;
    both += labelled && predicted;
    either += labelled || predicted;
  }
  return static_cast<double>(both) / either;
}

TEST(ConfusionMatrix, RandomPixelsMatchBruteForce) {
  const Pixels pixels = RandomPixels(7, 20'000, 13, 255);
  ConfusionMatrix matrix(7, 255);
  ASSERT_TRUE(matrix.Add(pixels.labels.data(), pixels.predicted.data(), 20'000).ok());
  const Scores scores = ComputeScores(matrix);
  int correct = 0;
  int counted = 0;
  for (size_t i = 0; i < pixels.labels.size(); ++i) {
    if (pixels.labels[i] == 255) continue;
    ++counted;
    correct += pixels.labels[i] == pixels.predicted[i];
  }
  EXPECT_EQ(matrix.ignored(), 20'000u - counted);
  EXPECT_DOUBLE_EQ(*scores.pixel_accuracy, static_cast<double>(correct) / counted);
  double sum = 0;
  for (int k = 0; k < 7; ++k) {
    EXPECT_DOUBLE_EQ(*scores.class_iou[k], BruteForceIou(pixels, k, 255)) << "class " << k;
    sum += BruteForceIou(pixels, k, 255);
  }
  EXPECT_NEAR(*scores.mean_iou, sum / 7, 1e-12);
}

TEST(ConfusionMatrix, MergedPartsEqualTheWhole) {
  const Pixels pixels = RandomPixels(5, 1'000, 10, 9);
  ConfusionMatrix whole(5, 9);
  ConfusionMatrix first(5, 9);
  ConfusionMatrix second(5, 9);
  ASSERT_TRUE(whole.Add(pixels.labels.data(), pixels.predicted.data(), 1'000).ok());
  ASSERT_TRUE(first.Add(pixels.labels.data(), pixels.predicted.data(), 313).ok());
  ASSERT_TRUE(second.Add(pixels.labels.data() + 313, pixels.predicted.data() + 313, 687).ok());
  first.Merge(second);
  EXPECT_EQ(first.counts(), whole.counts());
  EXPECT_EQ(first.ignored(), whole.ignored());
}

TEST(ConfusionMatrix, HandComputedExample) {
  ConfusionMatrix matrix(3, std::nullopt);
  const std::vector<uint16_t> labels = {0, 0, 0, 1, 1, 2};
  const std::vector<uint16_t> predicted = {0, 0, 1, 1, 2, 2};
  ASSERT_TRUE(matrix.Add(labels.data(), predicted.data(), 6).ok());
  const Scores scores = ComputeScores(matrix);
  EXPECT_DOUBLE_EQ(*scores.pixel_accuracy, 4.0 / 6);
  EXPECT_DOUBLE_EQ(*scores.mean_accuracy, (2.0 / 3 + 1.0 / 2 + 1.0) / 3);
  EXPECT_DOUBLE_EQ(*scores.class_iou[0], 2.0 / 3);
  EXPECT_DOUBLE_EQ(*scores.class_iou[1], 1.0 / 3);
  EXPECT_DOUBLE_EQ(*scores.class_iou[2], 1.0 / 2);
  EXPECT_EQ(scores.class_pixels, (std::vector<uint64_t>{3, 2, 1}));
}

TEST(ConfusionMatrix, AbsentClassIsLeftOutOfTheMeans) {
  ConfusionMatrix matrix(3, std::nullopt);
  matrix.AddCount(0, 0, 10);
  matrix.AddCount(1, 1, 5);
  matrix.AddCount(1, 0, 5);
  const Scores scores = ComputeScores(matrix);
  EXPECT_FALSE(scores.class_iou[2].has_value());
  EXPECT_FALSE(scores.class_accuracy[2].has_value());
  EXPECT_DOUBLE_EQ(*scores.mean_iou, (10.0 / 15 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(*scores.mean_accuracy, (1.0 + 0.5) / 2);
}

TEST(ConfusionMatrix, ClassThatIsOnlyPredictedHasIouZero) {
  ConfusionMatrix matrix(2, std::nullopt);
  matrix.AddCount(0, 0, 3);
  matrix.AddCount(0, 1, 1);
  const Scores scores = ComputeScores(matrix);
  EXPECT_DOUBLE_EQ(*scores.class_iou[1], 0.0);
  EXPECT_FALSE(scores.class_accuracy[1].has_value());
  EXPECT_DOUBLE_EQ(*scores.mean_iou, 0.75 / 2);
}

TEST(ConfusionMatrix, AllIgnoredHasNoScores) {
  ConfusionMatrix matrix(4, 255);
  const std::vector<uint8_t> labels(100, 255);
  const std::vector<uint8_t> predicted(100, 1);
  ASSERT_TRUE(matrix.Add(labels.data(), predicted.data(), 100).ok());
  const Scores scores = ComputeScores(matrix);
  EXPECT_EQ(matrix.ignored(), 100u);
  EXPECT_FALSE(scores.pixel_accuracy.has_value());
  EXPECT_FALSE(scores.mean_accuracy.has_value());
  EXPECT_FALSE(scores.mean_iou.has_value());
}

TEST(ConfusionMatrix, CountsBeyond32BitsStayExact) {
  const uint64_t large = (uint64_t{1} << 40) + 1;
  ConfusionMatrix matrix(2, std::nullopt);
  matrix.AddCount(0, 0, large);
  matrix.AddCount(0, 1, large);
  matrix.AddCount(1, 1, large);
  ConfusionMatrix twice = matrix;
  twice.Merge(matrix);
  EXPECT_EQ(twice.count(0, 1), 2 * large);
  const Scores scores = ComputeScores(twice);
  EXPECT_DOUBLE_EQ(*scores.class_iou[0], 0.5);
  EXPECT_DOUBLE_EQ(*scores.pixel_accuracy, 2.0 / 3);
  EXPECT_EQ(scores.class_pixels[0], 4 * large);
}

TEST(ConfusionMatrix, UnknownLabelIsDataLossThatNamesIt) {
  ConfusionMatrix matrix(3, 255);
  const std::vector<uint8_t> labels = {0, 17};
  const std::vector<uint8_t> predicted = {0, 0};
  const Status status = matrix.Add(labels.data(), predicted.data(), 2);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("17"), std::string::npos) << status.message();
}

TEST(ConfusionMatrix, PredictionOutsideTheClassesIsInternal) {
  ConfusionMatrix matrix(3, 255);
  const uint8_t label = 0;
  const uint8_t predicted = 3;
  EXPECT_EQ(matrix.Add(&label, &predicted, 1).code(), StatusCode::kInternal);
}

TEST(TopFive, CountsLabelsAmongTheFiveLargestScores) {
  ConfusionMatrix matrix(7, 6);
  const std::vector<float> scores = {7, 6, 5, 4, 3, 2, 9};  // class 6 is ignored as a label only
  for (uint8_t label = 0; label < 7; ++label) matrix.AddTopFive(label, scores.data());
  matrix.AddTopFive(uint8_t{200}, scores.data());
  EXPECT_EQ(matrix.top_five_records(), 6u);
  EXPECT_EQ(matrix.top_five_hits(), 4u);
  const std::vector<float> equal(7, 1.0f);
  for (uint16_t label = 0; label < 6; ++label) matrix.AddTopFive(label, equal.data());
  EXPECT_EQ(matrix.top_five_hits(), 4u + 5u);
  ConfusionMatrix sum(7, 6);
  sum.Merge(matrix);
  sum.Merge(matrix);
  EXPECT_NEAR(*ComputeScores(sum).top_five_accuracy, 0.75, 1e-12);
  EXPECT_FALSE(ComputeScores(ConfusionMatrix(7, 6)).top_five_accuracy);
}

}  // namespace
}  // namespace shardmill
