#include "tools/dump/recount.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "proto/manifest.pb.h"
#include "tests/reader/shard_testing.h"

namespace shardmill {
namespace {

using namespace testing_shards;  // NOLINT: the fixture's verbs

constexpr uint64_t kRecords = 50;

class RecountTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string folder = EmptyFolder("recount_test");
    const auto result = WriteTestShard(folder, PlanOf("train", 0, 1, 7), ImageAndLabel(), kRecords);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    auto set = ShardSet::Open(folder + "/" + result->file, "");
    ASSERT_TRUE(set.ok()) << set.status().ToString();
    set_ = std::move(set).value();
  }

  SplitRecount Recount(int threads) const {
    RecountOptions options;
    options.threads = threads;
    auto recount = RecountSplit(*set_, set_->splits()[0], options);
    EXPECT_TRUE(recount.ok()) << recount.status().ToString();
    return std::move(recount).value();
  }

  std::unique_ptr<ShardSet> set_;
};

TEST_F(RecountTest, CountsAreThoseOfTheTensors) {
  uint64_t red = 0;
  uint64_t red_sq = 0;
  uint64_t counts[4] = {};
  for (uint64_t record = 0; record < kRecords; ++record) {
    const std::vector<uint8_t> image = TensorOf(set_->schema().fields[0], 0, record);
    for (size_t i = 0; i < image.size(); i += 3) {
      red += image[i];
      red_sq += image[i] * image[i];
    }
    for (const uint8_t id : TensorOf(set_->schema().fields[1], 0, record)) ++counts[id];
  }
  const SplitRecount recount = Recount(1);
  EXPECT_EQ(recount.statistics->records(), kRecords);
  EXPECT_EQ(recount.statistics->image_pixels(), kRecords * 24);
  EXPECT_EQ(recount.statistics->channel_sum(0).low(), red);
  EXPECT_EQ(recount.statistics->channel_sum_sq(0).low(), red_sq);
  ASSERT_EQ(recount.statistics->class_pixels_size(), 3);
  for (int id = 0; id < 3; ++id) EXPECT_EQ(recount.statistics->class_pixels(id), counts[id]);
  EXPECT_EQ(recount.fields[0].stored, kRecords * 72);
  EXPECT_EQ(recount.fields[1].decoded, kRecords * 24);
}

TEST_F(RecountTest, ThreadsDoNotChangeTheNumbers) {
  const std::string one = Recount(1).statistics->SerializeAsString();
  EXPECT_EQ(Recount(2).statistics->SerializeAsString(), one);
  EXPECT_EQ(Recount(5).statistics->SerializeAsString(), one);
}

TEST_F(RecountTest, ProgressCountsEveryRecord) {
  std::atomic<uint64_t> records{0};
  RecountOptions options;
  options.threads = 3;
  options.report = [&](uint64_t count, uint64_t) { records += count; };
  ASSERT_TRUE(RecountSplit(*set_, set_->splits()[0], options).ok());
  EXPECT_EQ(records, kRecords);
}

TEST_F(RecountTest, CancellingEndsIt) {
  RecountOptions options;
  options.cancelled = [] { return true; };
  EXPECT_EQ(RecountSplit(*set_, set_->splits()[0], options).status().code(),
            StatusCode::kCancelled);
}

TEST_F(RecountTest, DifferencesAreNamed) {
  const SplitRecount recount = Recount(1);
  proto::Statistics manifest = *recount.statistics;
  EXPECT_TRUE(CompareStatistics(set_->schema(), manifest, *recount.statistics).empty());
  manifest.set_class_pixels(1, manifest.class_pixels(1) + 5);
  manifest.mutable_channel_sum(2)->set_high(9);
  manifest.add_class_images(4);
  const std::vector<std::string> differences =
      CompareStatistics(set_->schema(), manifest, *recount.statistics);
  ASSERT_EQ(differences.size(), 3u);
  EXPECT_THAT(differences[0], testing::HasSubstr("sum of channel 2"));
  EXPECT_THAT(differences[1], testing::HasSubstr("pixels of class 1 (road)"));
  EXPECT_THAT(differences[2], testing::HasSubstr("records of class 3"));
}

// The order of adding may change the last bits of such sums, but no more.
TEST_F(RecountTest, SumsOfFloatsAreComparedToRounding) {
  proto::Statistics counted;
  counted.set_image_pixels(100);
  counted.add_channel_value_sum(-50);
  counted.add_channel_value_sum_sq(400);
  proto::Statistics manifest = counted;
  const auto compare = [&] { return CompareStatistics(set_->schema(), manifest, counted); };
  manifest.set_channel_value_sum(0, -50 - 1e-8);
  EXPECT_TRUE(compare().empty());
  manifest.set_channel_value_sum(0, -50 - 1e-6);
  ASSERT_EQ(compare().size(), 1u);
  EXPECT_THAT(compare()[0], testing::HasSubstr("sum of channel 0: -50.000001 in the manifest"));
  manifest.set_channel_value_sum_sq(0, 401);
  EXPECT_EQ(compare().size(), 2u);
  manifest = proto::Statistics();
  EXPECT_TRUE(compare().empty());
}

}  // namespace
}  // namespace shardmill
