// Records that cannot be read: fail, skip, substitute.
#include "reader/bad_record_log.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "reader/batch_loader.h"
#include "reader/epoch_order.h"
#include "tests/reader/loader_testing.h"

namespace shardmill {
namespace {

constexpr uint64_t kRecords = 40;
constexpr uint64_t kSeed = 3;

// Records with a damaged image: two neighbours in the order of epoch 0, and a third.
std::set<uint64_t> DamagedRecords() {
  const EpochOrder order(kRecords, kSeed, 0, "train");
  return {order.At(10), order.At(11), order.At(25)};
}

TestDatasetOptions TestSet() {
  TestDatasetOptions options;
  options.records = kRecords;
  options.shards = 1;
  options.keys.resize(kRecords);
  for (uint64_t i = 0; i < kRecords; ++i) options.keys[i] = "key" + std::to_string(i);
  return options;
}

// A new data set with the damage, opened anew: nothing of it has been checked.
std::shared_ptr<const Dataset> OpenDamaged(const std::set<uint64_t>& records) {
  const std::string folder = WriteTestDataset("bad-records", TestSet());
  for (uint64_t record : records) {
    DamageTestImage(folder + "/train-00000-of-00001.shard", record, TestSet());
  }
  auto dataset = Dataset::Open(folder, "train");
  EXPECT_TRUE(dataset.ok()) << dataset.status().ToString();
  return *dataset;
}

BatchLoaderOptions Options(BadRecordPolicy policy) {
  BatchLoaderOptions options;
  options.split = "train";
  options.global_batch = 8;
  options.seed = kSeed;
  options.bad_records = policy;
  options.fields = {{"image"}, {"label", Delivery::kOneHotF32}, {"number"}};
  return options;
}

TEST(BadRecords, SkippedRowsStayWithWeightZeroAndZeroBytes) {
  const auto damaged = DamagedRecords();
  const auto dataset = OpenDamaged(damaged);
  BatchLoaderOptions options = Options(BadRecordPolicy::kSkip);
  options.epochs = 2;
  auto loader = OpenLoader(dataset, options);
  const auto batches = ReadAll(loader.get());
  ASSERT_EQ(batches.size(), 10u);
  for (const SeenBatch& batch : batches) {
    const EpochOrder order(kRecords, kSeed, batch.epoch, "train");
    for (size_t row = 0; row < 8; ++row) {
      const uint64_t record = batch.records[row];
      ASSERT_EQ(record, order.At(batch.step * 8 + row));
      ASSERT_EQ(batch.weights[row], damaged.count(record) != 0 ? 0 : 1);
      std::string image(90, '\0');
      if (damaged.count(record) == 0) {
        const auto bytes = TestImage(record, TestSet());
        image.assign(bytes.begin(), bytes.end());
      }
      ASSERT_EQ(batch.fields[0].substr(row * 90, 90), image);
      const std::string label = batch.fields[1].substr(row * 600, 600);
      ASSERT_EQ(label == std::string(600, '\0'), damaged.count(record) != 0);
    }
  }
  const auto bad = loader->bad_records();
  ASSERT_EQ(bad.size(), 3u);
  for (const BadRecord& one : bad) {
    EXPECT_EQ(damaged.count(one.record), 1u);
    EXPECT_EQ(one.rows, 2u);
    EXPECT_EQ(one.epoch, 0u);
    EXPECT_EQ(one.record_in_shard, one.record);
    EXPECT_EQ(one.key, "key" + std::to_string(one.record));
    EXPECT_NE(one.shard.find("train-00000-of-00001.shard"), std::string::npos);
    EXPECT_NE(one.reason.find("field image"), std::string::npos) << one.reason;
    EXPECT_FALSE(one.substitute.has_value());
    EXPECT_EQ(one.step, EpochOrder(kRecords, kSeed, 0, "train").PositionOf(one.record) / 8);
  }
}

TEST(BadRecords, SubstituteIsTheNextSoundPositionOfTheEpoch) {
  const auto damaged = DamagedRecords();
  auto loader = OpenLoader(OpenDamaged(damaged), Options(BadRecordPolicy::kSubstitute));
  const auto batches = ReadAll(loader.get());
  const EpochOrder order(kRecords, kSeed, 0, "train");
  ASSERT_EQ(batches.size(), 5u);
  for (const SeenBatch& batch : batches) {
    for (size_t row = 0; row < 8; ++row) {
      uint64_t position = batch.step * 8 + row;
      if (position == 10 || position == 11) position = 12;
      if (position == 25) position = 26;
      const uint64_t record = order.At(position);
      ASSERT_EQ(batch.records[row], record);
      ASSERT_EQ(batch.weights[row], 1);
      const auto image = TestImage(record, TestSet());
      ASSERT_EQ(batch.fields[0].substr(row * 90, 90), std::string(image.begin(), image.end()));
      int64_t number;
      std::memcpy(&number, batch.fields[2].data() + row * 8, 8);
      ASSERT_EQ(number, static_cast<int64_t>(record));
    }
  }
  const auto bad = loader->bad_records();
  ASSERT_EQ(bad.size(), 3u);
  for (const BadRecord& one : bad) {
    const uint64_t expected = order.At(one.record == order.At(25) ? 26 : 12);
    EXPECT_EQ(one.substitute, expected);
    EXPECT_EQ(one.substitute_key, "key" + std::to_string(expected));
    EXPECT_EQ(one.rows, 1u);
  }
}

TEST(BadRecords, RanksThreadsAndResumingChangeNothing) {
  const auto dataset = OpenDamaged(DamagedRecords());
  for (BadRecordPolicy policy : {BadRecordPolicy::kSkip, BadRecordPolicy::kSubstitute}) {
    BatchLoaderOptions options = Options(policy);
    options.epochs = 2;
    options.tail = TailPolicy::kPad;
    const auto expected = ReadAll(dataset, options);
    options.threads = 4;
    EXPECT_EQ(ReadAll(dataset, options), expected);
    options.first_step = 3;
    EXPECT_EQ(ReadAll(dataset, options),
              std::vector<SeenBatch>(expected.begin() + 3, expected.end()));
    options.first_step = 0;
    options.ranks = 3;
    std::vector<std::vector<SeenBatch>> of_rank;
    for (options.rank = 0; options.rank < 3; ++options.rank) {
      of_rank.push_back(ReadAll(dataset, options));
      ASSERT_EQ(of_rank.back().size(), expected.size());
    }
    for (size_t step = 0; step < expected.size(); ++step) {
      SeenBatch joined = of_rank[0][step];
      for (size_t rank : {1, 2}) {
        const SeenBatch& part = of_rank[rank][step];
        joined.records.insert(joined.records.end(), part.records.begin(), part.records.end());
        joined.weights.insert(joined.weights.end(), part.weights.begin(), part.weights.end());
        for (size_t field = 0; field < 3; ++field) joined.fields[field] += part.fields[field];
      }
      ASSERT_EQ(joined, expected[step]);
    }
  }
}

TEST(BadRecords, LabelThatIsNoClassIsABadRecordToo) {
  TestDatasetOptions test_options = TestSet();
  test_options.bad_label_record = 12;
  const auto dataset = OpenTestDataset("bad-label-skipped", test_options);
  BatchLoaderOptions options = Options(BadRecordPolicy::kSkip);
  options.order = Order::kStored;
  auto loader = OpenLoader(dataset, options);
  const auto batches = ReadAll(loader.get());
  ASSERT_EQ(batches.size(), 5u);
  EXPECT_EQ(batches[1].weights, (std::vector<float>{1, 1, 1, 1, 0, 1, 1, 1}));
  ASSERT_EQ(loader->bad_records().size(), 1u);
  EXPECT_NE(loader->bad_records()[0].reason.find("class id 200"), std::string::npos);
}

TEST(BadRecords, LabelThatIsNoClassIsBadWhereverTheCropFalls) {
  constexpr uint64_t kEpochs = 8;
  TestDatasetOptions test_options = TestSet();
  test_options.bad_label_record = 12;
  const auto dataset = OpenTestDataset("bad-label-cropped", test_options);
  for (BadRecordPolicy policy : {BadRecordPolicy::kSkip, BadRecordPolicy::kSubstitute}) {
    BatchLoaderOptions options = Options(policy);
    options.epochs = kEpochs;
    options.augment.crop_height = 2;
    options.augment.crop_width = 2;
    auto loader = OpenLoader(dataset, options);
    const auto batches = ReadAll(loader.get());
    ASSERT_EQ(loader->bad_records().size(), 1u);
    EXPECT_EQ(loader->bad_records()[0].record, 12u);
    EXPECT_EQ(loader->bad_records()[0].rows, kEpochs);
    EXPECT_EQ(loader->bad_records()[0].epoch, 0u);
    options.first_epoch = 5;
    options.epochs = kEpochs - 5;
    EXPECT_EQ(ReadAll(dataset, options),
              std::vector<SeenBatch>(batches.begin() + 25, batches.end()));
  }
}

TEST(BadRecords, FailIsTheDefaultAndListsNothing) {
  auto loader = OpenLoader(OpenDamaged(DamagedRecords()), Options(BadRecordPolicy::kFail));
  EXPECT_TRUE(loader->Next().ok());
  EXPECT_EQ(loader->Next().status().code(), StatusCode::kDataLoss);
  EXPECT_TRUE(loader->bad_records().empty());
}

TEST(BadRecords, MoreThanAllowedIsAnError) {
  for (BadRecordPolicy policy : {BadRecordPolicy::kSkip, BadRecordPolicy::kSubstitute}) {
    BatchLoaderOptions options = Options(policy);
    options.max_bad_records = 2;
    auto loader = OpenLoader(OpenDamaged(DamagedRecords()), options);
    Status status;
    for (int step = 0; step < 5 && status.ok(); ++step) status = loader->Next().status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_NE(status.message().find("more than 2 bad records"), std::string::npos)
        << status.message();
    EXPECT_EQ(loader->bad_records().size(), 2u);
  }
}

TEST(BadRecords, NothingSoundLeftIsAnError) {
  std::set<uint64_t> all;
  for (uint64_t record = 0; record < kRecords; ++record) all.insert(record);
  auto loader = OpenLoader(OpenDamaged(all), Options(BadRecordPolicy::kSubstitute));
  const Status status = loader->Next().status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("no sound record left"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace shardmill
