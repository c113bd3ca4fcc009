#include "trainer/data/class_weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "proto/manifest.pb.h"

namespace shardmill {
namespace {

const std::vector<ClassInfo> kClasses = {
    {0, "sky", std::nullopt}, {1, "road, wet", std::nullopt}, {2, "car", std::nullopt}};

// 1,000 labelled pixels in 10 images of 100; the car is in 2 of them.
proto::Statistics Statistics() {
  proto::Statistics statistics;
  for (const uint64_t pixels : {600, 380, 20}) statistics.add_class_pixels(pixels);
  for (const uint64_t pixels : {1000, 1000, 200}) statistics.add_class_image_pixels(pixels);
  statistics.set_ignore_pixels(55);
  return statistics;
}

std::string WriteFile(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/class_weights_" + name;
  std::ofstream(path) << text;
  return path;
}

TEST(ClassWeights, NoneIsOneEverywhere) {
  EXPECT_EQ(*ClassWeights("none", kClasses, {}), (std::vector<float>{1, 1, 1}));
}

TEST(ClassWeights, MedianDividesTheMedianFrequency) {
  const auto weights = ClassWeights("median", kClasses, Statistics());
  ASSERT_TRUE(weights.ok()) << weights.status().ToString();
  EXPECT_FLOAT_EQ((*weights)[0], 0.38f / 0.6f);
  EXPECT_FLOAT_EQ((*weights)[1], 1.0f);
  EXPECT_FLOAT_EQ((*weights)[2], 0.38f / 0.1f);
}

TEST(ClassWeights, MedianOfAnEvenNumberIsTheMeanOfTheMiddleTwoAndAbsentClassesWeighNothing) {
  proto::Statistics statistics = Statistics();
  statistics.set_class_pixels(1, 0);
  statistics.set_class_image_pixels(1, 0);
  const auto weights = ClassWeights("median", kClasses, statistics);
  ASSERT_TRUE(weights.ok());
  EXPECT_FLOAT_EQ((*weights)[0], 0.35f / 0.6f);
  EXPECT_EQ((*weights)[1], 0);
  EXPECT_FLOAT_EQ((*weights)[2], 0.35f / 0.1f);
}

TEST(ClassWeights, ClassesWithoutLabelsAreNamed) {
  proto::Statistics statistics = Statistics();
  EXPECT_EQ(AbsentClassesNotice(kClasses, statistics), "");
  statistics.set_class_pixels(1, 0);
  EXPECT_EQ(AbsentClassesNotice(kClasses, statistics),
            "no training label is 'road, wet': the network cannot learn this class");
  statistics.set_class_pixels(2, 0);
  EXPECT_EQ(AbsentClassesNotice(kClasses, statistics),
            "no training label is 'road, wet', 'car': the network cannot learn these classes");
  statistics.clear_class_pixels();
  EXPECT_EQ(AbsentClassesNotice(kClasses, statistics), "");
}

TEST(ClassWeights, EnetUsesSharesOfLabelledPixels) {
  const auto weights = ClassWeights("enet", kClasses, Statistics());
  ASSERT_TRUE(weights.ok());
  EXPECT_FLOAT_EQ((*weights)[0], static_cast<float>(1 / std::log(1.62)));
  EXPECT_FLOAT_EQ((*weights)[2], static_cast<float>(1 / std::log(1.04)));
}

TEST(ClassWeights, MissingStatisticsAreInvalidArgument) {
  const auto code = [](const char* choice) {
    return ClassWeights(choice, kClasses, {}).status().code();
  };
  EXPECT_EQ(code("median"), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("enet"), StatusCode::kInvalidArgument);
}

TEST(ClassWeights, FileNamesClassesByNameOrId) {
  const std::string path = WriteFile("good", "# weights\ncar, 4.5\n\nroad, wet,2\r\n0,0.25\n");
  const auto weights = ClassWeights(path, kClasses, {});
  ASSERT_TRUE(weights.ok()) << weights.status().ToString();
  EXPECT_EQ(*weights, (std::vector<float>{0.25f, 2, 4.5f}));
}

TEST(ClassWeights, ByteOrderMarkIsNoPartOfAName) {
  const std::string path = WriteFile("marked", "\xEF\xBB\xBFsky,1\nroad, wet,2\ncar,3\n");
  const auto weights = ClassWeights(path, kClasses, {});
  ASSERT_TRUE(weights.ok()) << weights.status().ToString();
  EXPECT_EQ(*weights, (std::vector<float>{1, 2, 3}));
}

// Folders of such names, in the order of their text.
TEST(ClassWeights, NumbersThatAreNamesAreNoIds) {
  std::vector<ClassInfo> classes;
  for (const char* name : {"0", "1", "10", "11", "2", "3"}) {
    classes.push_back({static_cast<uint32_t>(classes.size()), name, std::nullopt});
  }
  const auto weights =
      ClassWeights(WriteFile("numbers", "0,1\n1,2\n2,3\n3,4\n10,5\n11,6\n"), classes, {});
  ASSERT_TRUE(weights.ok()) << weights.status().ToString();
  EXPECT_EQ(*weights, (std::vector<float>{1, 2, 5, 6, 3, 4}));
  const Status mixed =
      ClassWeights(WriteFile("ids", "0,1\n1,2\n2,3\n3,4\n4,5\n5,6\n"), classes, {}).status();
  EXPECT_EQ(mixed.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(mixed.message().find("by their names"), std::string::npos) << mixed.message();
}

TEST(ClassWeights, BadFilesNameTheirLine) {
  const auto status_of = [](const std::string& text) {
    return ClassWeights(WriteFile("bad", text), kClasses, {}).status();
  };
  for (const char* bad : {"bus,1", "car,heavy", "car,-1", "car,nan", "car,1e39", "car,", "car 1"}) {
    const Status status = status_of(std::string("sky,1\n") + bad + "\n");
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << bad;
    EXPECT_NE(status.message().find("class_weights_bad:2"), std::string::npos) << status.message();
  }
  EXPECT_EQ(status_of("sky,1\nsky,2\n").code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status_of("sky,1\ncar,2\n").message().find("road, wet"), std::string::npos);
  EXPECT_EQ(status_of("0,0\n1,0\n2,0\n").code(), StatusCode::kInvalidArgument);
}

TEST(ClassWeights, UnknownChoiceIsNotFound) {
  const Status status = ClassWeights("medium", kClasses, {}).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("median"), std::string::npos);
}

}  // namespace
}  // namespace shardmill
