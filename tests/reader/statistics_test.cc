#include "reader/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "proto/manifest.pb.h"

namespace shardmill {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

void AddChannel(uint64_t sum, uint64_t sum_sq, proto::Statistics* statistics) {
  statistics->add_channel_sum()->set_low(sum);
  statistics->add_channel_sum_sq()->set_low(sum_sq);
}

TEST(AddUInt128, CarriesIntoTheHighHalf) {
  proto::UInt128 sum;
  AddUInt128(kMax, 0, &sum);
  AddUInt128(1, 0, &sum);
  EXPECT_EQ(sum.low(), 0u);
  EXPECT_EQ(sum.high(), 1u);
  AddUInt128(5, 7, &sum);
  EXPECT_EQ(sum.low(), 5u);
  EXPECT_EQ(sum.high(), 8u);
}

TEST(AddStatistics, SumsEveryNumberAndLengthensShortLists) {
  proto::Statistics first;
  first.set_records(2);
  first.set_image_pixels(10);
  AddChannel(kMax, 100, &first);
  first.add_class_pixels(4);
  first.set_ignore_pixels(1);
  proto::Statistics second;
  second.set_records(3);
  second.set_image_pixels(20);
  AddChannel(2, 300, &second);
  AddChannel(7, 8, &second);
  for (const uint64_t count : {5, 6}) {
    second.add_class_pixels(count);
    second.add_class_images(count + 10);
    second.add_class_image_pixels(count + 20);
  }
  AddStatistics(second, &first);
  EXPECT_EQ(first.records(), 5u);
  EXPECT_EQ(first.image_pixels(), 30u);
  ASSERT_EQ(first.channel_sum_size(), 2);
  EXPECT_EQ(first.channel_sum(0).low(), 1u);
  EXPECT_EQ(first.channel_sum(0).high(), 1u);
  EXPECT_EQ(first.channel_sum(1).low(), 7u);
  EXPECT_EQ(first.channel_sum_sq(0).low(), 400u);
  ASSERT_EQ(first.class_pixels_size(), 2);
  EXPECT_EQ(first.class_pixels(0), 9u);
  EXPECT_EQ(first.class_pixels(1), 6u);
  EXPECT_EQ(first.class_images(1), 16u);
  EXPECT_EQ(first.class_image_pixels(0), 25u);
  EXPECT_EQ(first.ignore_pixels(), 1u);
}

TEST(MomentsOfChannels, MeanAndPopulationDeviation) {
  proto::Statistics statistics;
  statistics.set_image_pixels(4);
  AddChannel(2 + 4 + 4 + 6, 4 + 16 + 16 + 36, &statistics);  // 2, 4, 4, 6
  AddChannel(12, 36, &statistics);                           // 3, 3, 3, 3
  const std::vector<ChannelMoments> moments = MomentsOfChannels(statistics);
  ASSERT_EQ(moments.size(), 2u);
  EXPECT_DOUBLE_EQ(moments[0].mean, 4);
  EXPECT_DOUBLE_EQ(moments[0].standard_deviation, std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(moments[1].mean, 3);
  EXPECT_EQ(moments[1].standard_deviation, 0);
}

TEST(MomentsOfChannels, SumsAbove64BitsKeepTheirValue) {
  proto::Statistics statistics;
  const uint64_t pixels = uint64_t{1} << 62;  // all of them 255
  statistics.set_image_pixels(pixels);
  proto::UInt128* sum = statistics.add_channel_sum();
  proto::UInt128* sum_sq = statistics.add_channel_sum_sq();
  for (int i = 0; i < 255; ++i) AddUInt128(pixels, 0, sum);
  for (int i = 0; i < 255 * 255; ++i) AddUInt128(pixels, 0, sum_sq);
  const std::vector<ChannelMoments> moments = MomentsOfChannels(statistics);
  EXPECT_DOUBLE_EQ(moments[0].mean, 255);
  EXPECT_EQ(moments[0].standard_deviation, 0);
}

TEST(MomentsOfChannels, NoPixelsGiveZeros) {
  proto::Statistics statistics;
  AddChannel(0, 0, &statistics);
  const std::vector<ChannelMoments> moments = MomentsOfChannels(statistics);
  ASSERT_EQ(moments.size(), 1u);
  EXPECT_EQ(moments[0].mean, 0);
  EXPECT_EQ(moments[0].standard_deviation, 0);
}

void AddFloatChannel(const std::vector<double>& values, proto::Statistics* statistics) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  statistics->set_image_pixels(values.size());
  statistics->add_channel_value_sum(sum);
  statistics->add_channel_value_sum_sq(squares);
}

TEST(Statistics, SumsOfFloatsArePutTogetherAndGiveMoments) {
  proto::Statistics first, second, all;
  AddFloatChannel({1e-4, 2e-4, 3e-4}, &first);
  AddFloatChannel({7e-4}, &second);
  AddFloatChannel({-2.5}, &second);
  AddStatistics(first, &all);
  AddStatistics(second, &all);
  AddStatistics(proto::Statistics(), &all);
  const std::vector<ChannelMoments> moments = MomentsOfChannels(all);
  ASSERT_EQ(moments.size(), 2u);
  EXPECT_DOUBLE_EQ(moments[0].mean, 3.25e-4);
  EXPECT_DOUBLE_EQ(moments[0].standard_deviation, std::sqrt(5.1875e-8));
  EXPECT_DOUBLE_EQ(moments[1].mean, -0.625);
}

TEST(Statistics, DeviationThatIsSmallBesideItsMeanIsKept) {
  proto::Statistics all;
  for (int part = 0; part < 1000; ++part) {
    proto::Statistics statistics;
    AddFloatChannel({1e6 - 0.25, 1e6 + 0.25, 1e6 - 0.25, 1e6 + 0.25}, &statistics);
    AddFloatChannel(std::vector<double>(4, 1234.567), &statistics);
    AddStatistics(statistics, &all);
  }
  const std::vector<ChannelMoments> moments = MomentsOfChannels(all);
  EXPECT_NEAR(moments[0].standard_deviation, 0.25, 1e-9);
  EXPECT_LT(moments[1].standard_deviation, 1e-9);
}

}  // namespace
}  // namespace shardmill
