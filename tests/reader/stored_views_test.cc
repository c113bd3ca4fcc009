#include "reader/stored_views.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/reader/loader_testing.h"

namespace shardmill {
namespace {

constexpr uint64_t kRecords = 101;

TestDatasetOptions TestSet() {
  TestDatasetOptions options;
  options.records = kRecords;
  options.label_codec = Codec::kRaw;
  return options;  // 3 shards, blocks of 8 records
}

StoredViewsOptions Options(uint64_t global_batch) {
  StoredViewsOptions options;
  options.split = "train";
  options.global_batch = global_batch;
  return options;
}

std::unique_ptr<StoredViews> OpenViews(std::shared_ptr<const Dataset> dataset,
                                       const StoredViewsOptions& options) {
  auto views = StoredViews::Open(std::move(dataset), options);
  EXPECT_TRUE(views.ok()) << views.status().ToString();
  return std::move(views).value();
}

void ExpectRecord(const ViewRun& run, int64_t row) {
  const uint64_t record = run.first_record + static_cast<uint64_t>(row);
  const auto image = TestImage(record, TestSet());
  const auto label = TestLabel(record, TestSet());
  ASSERT_EQ(std::memcmp(run.fields[0].data + row * 90, image.data(), 90), 0) << record;
  ASSERT_EQ(std::memcmp(run.fields[1].data + row * 30, label.data(), 30), 0) << record;
  int64_t number;
  std::memcpy(&number, run.fields[2].data + row * 8, 8);
  ASSERT_EQ(number, static_cast<int64_t>(record));
}

TEST(StoredViews, BatchesAreThoseOfTheLoaderInStoredOrderOnAnyRank) {
  const auto dataset = OpenTestDataset("views", TestSet());
  for (TailPolicy tail : {TailPolicy::kDrop, TailPolicy::kPartial}) {
    for (uint32_t ranks : {1, 2, 3, 8}) {
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        StoredViewsOptions options = Options(24);
        options.tail = tail;
        options.rank = rank;
        options.ranks = ranks;
        BatchLoaderOptions loader_options;
        loader_options.split = "train";
        loader_options.order = Order::kStored;
        loader_options.global_batch = 24;
        loader_options.tail = tail;
        loader_options.rank = rank;
        loader_options.ranks = ranks;
        const auto expected = ReadAll(dataset, loader_options);
        auto views = OpenViews(dataset, options);
        ASSERT_EQ(views->steps(), expected.size());
        ViewBatch batch;
        for (const SeenBatch& seen : expected) {
          auto more = views->Next(&batch);
          ASSERT_TRUE(more.ok() && *more) << more.status().ToString();
          ASSERT_EQ(batch.step(), seen.step);
          ASSERT_EQ(batch.global_rows(), seen.global_rows);
          ASSERT_EQ(batch.rows(), static_cast<int64_t>(seen.records.size()));
          std::vector<uint64_t> records;
          for (const ViewRun& run : batch.runs()) {
            ASSERT_EQ(run.fields[0].shape, (std::vector<int64_t>{run.rows, 6, 5, 3}));
            for (int64_t row = 0; row < run.rows; ++row) {
              records.push_back(run.first_record + static_cast<uint64_t>(row));
              ExpectRecord(run, row);
            }
          }
          ASSERT_EQ(records, seen.records);
        }
        auto more = views->Next(&batch);
        ASSERT_TRUE(more.ok());
        EXPECT_FALSE(*more);
      }
    }
  }
}

TEST(StoredViews, ARunIsOneBlockAndNothingIsCopied) {
  const auto dataset = OpenTestDataset("views-runs", TestSet());
  StoredViewsOptions options = Options(20);
  options.fields = {"image"};
  options.first_step = 1;
  auto views = OpenViews(dataset, options);
  ViewBatch batch;
  ASSERT_TRUE(*views->Next(&batch));
  // Shard 0 has 34 records: 20 to 23, 24 to 31, 32 and 33; then 34 to 39 of shard 1.
  ASSERT_EQ(batch.runs().size(), 4u);
  EXPECT_EQ(batch.runs()[0].rows, 4);
  EXPECT_EQ(batch.runs()[1].rows, 8);
  EXPECT_EQ(batch.runs()[2].rows, 2);
  EXPECT_EQ(batch.runs()[3].rows, 6);
  const uint8_t* data = batch.runs()[1].fields[0].data;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 4096, 0u);  // a block's region begins on a page
  auto again = OpenViews(dataset, options);
  ViewBatch other;
  ASSERT_TRUE(*again->Next(&other));
  EXPECT_EQ(other.runs()[1].fields[0].data, data);
}

TEST(StoredViews, ABatchKeepsItsShardsOpen) {
  ViewBatch batch;
  {
    auto dataset = OpenTestDataset("views-lease", TestSet());
    auto views = OpenViews(std::move(dataset), Options(30));
    ASSERT_TRUE(*views->Next(&batch));
  }
  ViewBatch moved = std::move(batch);
  for (const ViewRun& run : moved.runs()) {
    for (int64_t row = 0; row < run.rows; ++row) ExpectRecord(run, row);
  }
}

TEST(StoredViews, DamageIsFoundBeforeAViewIsHandedOut) {
  const std::string folder = WriteTestDataset("views-damaged", TestSet());
  DamageTestImage(folder + "/train-00001-of-00003.shard", 40, TestSet());
  for (ChecksumPolicy policy :
       {ChecksumPolicy::kOff, ChecksumPolicy::kFirstTouch, ChecksumPolicy::kAlways}) {
    auto dataset = Dataset::Open(folder, "train", policy);
    ASSERT_TRUE(dataset.ok()) << dataset.status().ToString();
    StoredViewsOptions options = Options(10);
    options.first_step = 3;
    auto views = OpenViews(*dataset, options);
    ViewBatch batch;
    ASSERT_TRUE(*views->Next(&batch));
    const auto next = views->Next(&batch);
    if (policy == ChecksumPolicy::kOff) {
      EXPECT_TRUE(next.ok());
      continue;
    }
    EXPECT_EQ(next.status().code(), StatusCode::kDataLoss);
    for (const char* part : {"train-00001-of-00003.shard", "record 6", "image"}) {
      EXPECT_NE(next.status().message().find(part), std::string::npos) << next.status().message();
    }
  }
}

TEST(StoredViews, WhatCannotBeViewedIsInvalidArgumentThatSaysWhy) {
  TestDatasetOptions coded = TestSet();
  coded.label_codec = Codec::kZstd;
  const auto dataset = OpenTestDataset("views-options", coded);
  auto message = [&](auto change) {
    StoredViewsOptions options = Options(10);
    options.fields = {"image"};
    change(&options);
    auto views = StoredViews::Open(dataset, options);
    if (views.ok()) return std::string("ok");
    EXPECT_EQ(views.status().code(), StatusCode::kInvalidArgument);
    return views.status().message();
  };
  using O = StoredViewsOptions*;
  auto expect = [&](const std::string& text, auto change) {
    EXPECT_NE(message(change).find(text), std::string::npos) << message(change);
  };
  expect("ok", [](O) {});
  expect("stored as zstd", [](O o) { o->fields = {"label"}; });
  expect("stored as zstd", [](O o) { o->fields = {}; });
  expect("no field 'depth'", [](O o) { o->fields = {"depth"}; });
  expect("padded", [](O o) { o->tail = TailPolicy::kPad; });
  expect("global_batch", [](O o) { o->global_batch = 0; });
  expect("rank", [](O o) { o->rank = 1; });
  expect("first_step", [](O o) { o->first_step = 12; });
  auto pread = Dataset::Open(dataset->folder(), "train",
                             ReadOptions(ChecksumPolicy::kFirstTouch, FileAccess::kPread));
  ASSERT_TRUE(pread.ok()) << pread.status().ToString();
  StoredViewsOptions options = Options(10);
  options.fields = {"image"};
  ViewBatch batch;
  const auto next = OpenViews(*pread, options)->Next(&batch);
  EXPECT_EQ(next.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(next.status().message().find("mapped"), std::string::npos);
}

}  // namespace
}  // namespace shardmill
