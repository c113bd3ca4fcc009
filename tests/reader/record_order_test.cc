// Every kind of order through the loader: ranks, resuming, tails, and what each option refuses.
#include "reader/record_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "reader/batch_loader.h"
#include "tests/reader/loader_testing.h"

namespace shardmill {
namespace {

constexpr uint64_t kRecords = 101;

// 101 records of 2 x 2 pixels, of classes 0 … 4 in runs (the last run has one record and no
// class), from sources with one to four variants each.
TestDatasetOptions TestSet() {
  TestDatasetOptions options;
  options.records = kRecords;
  options.height = 2;
  options.width = 2;
  uint64_t source = 0;
  while (options.keys.size() < kRecords) {
    const std::string key = "source" + std::to_string(source) + ".png";
    for (uint64_t variant = 0; variant <= source % 4 && options.keys.size() < kRecords; ++variant) {
      options.keys.push_back(variant == 0 ? key : key + "#v" + std::to_string(variant));
    }
    ++source;
  }
  for (uint64_t record = 0; record < kRecords; ++record) {
    options.class_ids.push_back(static_cast<uint8_t>(record < 100 ? record / 20 : 255));
  }
  return options;
}

std::shared_ptr<const Dataset> OpenTestSet() {
  static const std::shared_ptr<const Dataset> dataset = OpenTestDataset("record-order", TestSet());
  return dataset;
}

// One of each kind of order, by name.
std::map<std::string, BatchLoaderOptions> AllOrders() {
  std::map<std::string, BatchLoaderOptions> orders;
  BatchLoaderOptions options;
  options.split = "train";
  options.seed = 5;
  options.fields = {{"number"}};
  orders["shuffled"] = options;
  options.order = Order::kStored;
  orders["stored"] = options;
  options.order = Order::kBlockWindow;
  options.block_window = {4, 5};
  orders["block window"] = options;
  options.variants = Variants::kOne;
  orders["block window, one variant"] = options;
  options.order = Order::kShuffled;
  orders["shuffled, one variant"] = options;
  options.variants = Variants::kAll;
  options.order = Order::kWeighted;
  options.weights.of_class = {1, 2, 0, 4, 1};
  orders["weighted by class"] = options;
  options.weights = {};
  for (uint64_t i = 0; i < kRecords; ++i) {
    options.weights.of_record.push_back(static_cast<double>(i % 3));
  }
  options.weights.epoch_records = 250;
  orders["weighted by record"] = options;
  return orders;
}

// The records of weight 1 of all ranks, step by step.
std::vector<std::vector<uint64_t>> GlobalBatches(BatchLoaderOptions options, uint32_t ranks) {
  std::vector<std::vector<uint64_t>> global;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    options.rank = rank;
    options.ranks = ranks;
    const auto batches = ReadAll(OpenTestSet(), options);
    if (rank == 0) global.resize(batches.size());
    EXPECT_EQ(batches.size(), global.size());
    for (size_t step = 0; step < batches.size(); ++step) {
      for (size_t row = 0; row < batches[step].records.size(); ++row) {
        if (batches[step].weights[row] == 1) global[step].push_back(batches[step].records[row]);
      }
    }
  }
  return global;
}

TEST(RecordOrder, AnyWorldSizeSeesTheSameGlobalBatchesInEveryOrder) {
  for (auto [name, options] : AllOrders()) {
    for (TailPolicy tail : {TailPolicy::kDrop, TailPolicy::kPad, TailPolicy::kPartial}) {
      SCOPED_TRACE(name);
      options.global_batch = 12;
      options.tail = tail;
      options.epochs = 2;
      const auto expected = GlobalBatches(options, 1);
      for (uint32_t ranks : {2, 3, 8}) {
        ASSERT_EQ(GlobalBatches(options, ranks), expected) << ranks << " ranks";
      }
    }
  }
}

// A run on 1 rank that is stopped and goes on with 2, then 3, then 8.
TEST(RecordOrder, ARunMayGoOnWithAnotherNumberOfRanksAtAnyStep) {
  for (auto [name, options] : AllOrders()) {
    SCOPED_TRACE(name);
    options.global_batch = 9;
    options.tail = TailPolicy::kPad;
    options.epochs = 2;
    const auto expected = GlobalBatches(options, 1);
    const uint64_t steps = expected.size() / 2;
    std::vector<std::vector<uint64_t>> seen;
    for (uint32_t ranks : {1, 2, 3, 8}) {
      options.first_epoch = seen.size() / steps;
      options.first_step = seen.size() % steps;
      options.epochs = 2 - options.first_epoch;
      const auto rest = GlobalBatches(options, ranks);
      const size_t taken = ranks == 8 ? rest.size() : std::min<size_t>(rest.size(), 3);
      seen.insert(seen.end(), rest.begin(), rest.begin() + static_cast<long>(taken));
    }
    ASSERT_EQ(seen, expected);
  }
}

TEST(RecordOrder, ResumingAtAnyStepEqualsTheStraightRunInEveryOrder) {
  for (auto [name, options] : AllOrders()) {
    SCOPED_TRACE(name);
    options.global_batch = 7;
    options.tail = TailPolicy::kPad;
    options.epochs = 2;
    const auto straight = ReadAll(OpenTestSet(), options);
    const uint64_t steps = straight.size() / 2;
    for (uint64_t start = 0; start < steps; ++start) {
      options.first_step = start;
      ASSERT_EQ(ReadAll(OpenTestSet(), options),
                std::vector<SeenBatch>(straight.begin() + static_cast<long>(start), straight.end()))
          << "start " << start;
    }
  }
}

TEST(RecordOrder, ReadAheadChangesNothingInEveryOrder) {
  for (auto [name, options] : AllOrders()) {
    SCOPED_TRACE(name);
    options.global_batch = 5;
    options.epochs = 2;
    options.read_ahead = ReadAhead::kNever;
    const auto expected = ReadAll(OpenTestSet(), options);
    options.read_ahead = ReadAhead::kAlways;
    ASSERT_EQ(ReadAll(OpenTestSet(), options), expected);
  }
}

TEST(RecordOrder, BlockWindowHasEveryRecordOncePerEpochAndEpochsDiffer) {
  BatchLoaderOptions options = AllOrders()["block window"];
  options.tail = TailPolicy::kPartial;
  options.global_batch = 10;
  std::vector<std::vector<uint64_t>> epochs;
  for (uint64_t epoch : {0, 1}) {
    options.first_epoch = epoch;
    std::vector<uint64_t> records;
    for (const auto& batch : GlobalBatches(options, 2)) {
      records.insert(records.end(), batch.begin(), batch.end());
    }
    epochs.push_back(records);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  for (auto& epoch : epochs) {
    std::sort(epoch.begin(), epoch.end());
    ASSERT_EQ(epoch.size(), kRecords);
    for (uint64_t i = 0; i < kRecords; ++i) ASSERT_EQ(epoch[i], i);
  }
}

TEST(RecordOrder, OneVariantOfEachSourcePerEpochAndAllOfThemInTime) {
  const auto keys = TestSet().keys;
  BatchLoaderOptions options = AllOrders()["shuffled, one variant"];
  options.tail = TailPolicy::kPartial;
  options.global_batch = 10;
  std::set<uint64_t> seen;
  for (uint64_t epoch = 0; epoch < 30; ++epoch) {
    options.first_epoch = epoch;
    std::set<std::string> sources;
    for (const auto& batch : GlobalBatches(options, 1)) {
      for (uint64_t record : batch) {
        seen.insert(record);
        const std::string key = keys[record].substr(0, keys[record].find('#'));
        EXPECT_TRUE(sources.insert(key).second) << key << " twice in epoch " << epoch;
      }
    }
    ASSERT_EQ(sources.size(), 41u);
  }
  EXPECT_EQ(seen.size(), kRecords);
}

TEST(RecordOrder, ClassesAreDrawnByTheirWeightsAndRecordsOfAClassAlike) {
  BatchLoaderOptions options = AllOrders()["weighted by class"];
  options.weights.epoch_records = 40000;
  options.global_batch = 1000;
  std::vector<uint64_t> of_class(5);
  std::vector<uint64_t> of_record(kRecords);
  for (const auto& batch : GlobalBatches(options, 1)) {
    for (uint64_t record : batch) {
      ASSERT_LT(record, 100u);  // the last record has no class
      ++of_class[record / 20];
      ++of_record[record];
    }
  }
  const std::vector<double> expected = {5000, 10000, 0, 20000, 5000};
  for (size_t id = 0; id < 5; ++id) {
    EXPECT_NEAR(static_cast<double>(of_class[id]), expected[id], 6 * std::sqrt(expected[id])) << id;
    for (size_t record = 20 * id; record < 20 * id + 20; ++record) {
      EXPECT_NEAR(static_cast<double>(of_record[record]), expected[id] / 20,
                  6 * std::sqrt(expected[id] / 20));
    }
  }
}

TEST(RecordOrder, LengthOfAWeightedEpochIsTheSetOrAsAsked) {
  BatchLoaderOptions options = AllOrders()["weighted by class"];
  options.global_batch = 10;
  options.tail = TailPolicy::kPartial;
  EXPECT_EQ(OpenLoader(OpenTestSet(), options)->steps_per_epoch(), 11u);
  options.weights.epoch_records = 250;
  EXPECT_EQ(OpenLoader(OpenTestSet(), options)->steps_per_epoch(), 25u);
}

TEST(RecordOrder, BadOptionsAreInvalidArgumentThatNamesThem) {
  auto message = [](const std::string& order, auto change) {
    BatchLoaderOptions options = AllOrders()[order];
    options.global_batch = 4;
    change(&options);
    auto loader = BatchLoader::Open(OpenTestSet(), options);
    if (loader.ok()) return std::string("ok");
    EXPECT_EQ(loader.status().code(), StatusCode::kInvalidArgument);
    return loader.status().message();
  };
  using O = BatchLoaderOptions*;
  auto expect = [&](const std::string& order, const std::string& text, auto change) {
    EXPECT_NE(message(order, change).find(text), std::string::npos) << message(order, change);
  };
  expect("block window", "window_blocks", [](O o) { o->block_window.window_blocks = 0; });
  expect("block window", "ok", [](O o) { o->block_window = {}; });
  expect("weighted by record", "exclude", [](O o) { o->weights.of_class = {1, 1, 1, 1, 1}; });
  expect("weighted by record", "neither", [](O o) { o->weights = {}; });
  expect("weighted by record", "100 weights", [](O o) { o->weights.of_record.pop_back(); });
  expect("weighted by record", "weight 7", [](O o) { o->weights.of_record[7] = -1; });
  expect("weighted by record", "not weighted", [](O o) { o->order = Order::kShuffled; });
  expect("weighted by record", "variants", [](O o) { o->variants = Variants::kOne; });
  expect("weighted by class", "5 classes", [](O o) { o->weights.of_class.pop_back(); });
  TestDatasetOptions no_class_ids = TestSet();
  no_class_ids.class_ids.clear();
  auto loader = BatchLoader::Open(OpenTestDataset("no-class-ids", no_class_ids),
                                  AllOrders()["weighted by class"]);
  EXPECT_NE(loader.status().message().find("no field with a class id"), std::string::npos);
  TestDatasetOptions empty_class = TestSet();
  for (uint8_t& id : empty_class.class_ids) id = id == 3 ? 2 : id;
  loader = BatchLoader::Open(OpenTestDataset("empty-class", empty_class),
                             AllOrders()["weighted by class"]);
  EXPECT_NE(loader.status().message().find("class 3 ('class3')"), std::string::npos)
      << loader.status().message();
}

}  // namespace
}  // namespace shardmill
