// Batches of records that differ in shape: padding, lengths, buckets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "reader/batch_loader.h"
#include "tests/reader/loader_testing.h"
#include "tests/reader/ragged_dataset.h"

namespace shardmill {
namespace {

BatchLoaderOptions Options() {
  BatchLoaderOptions options;
  options.split = "train";
  options.global_batch = 8;
  options.seed = 2;
  options.tail = TailPolicy::kPartial;
  options.fields = {{"features"}, {"number"}};
  options.fields[0].padding = Padding();
  return options;
}

int64_t Longest(const std::vector<uint64_t>& records) {
  int64_t longest = 0;
  for (uint64_t record : records) longest = std::max(longest, RaggedLength(record));
  return longest;
}

TEST(PaddedBatch, RowsArePaddedToTheLongestOfTheBatchWithTheirLengths) {
  for (Codec codec : {Codec::kRaw, Codec::kZstd}) {
    RaggedOptions ragged;
    ragged.features_codec = codec;
    const auto dataset = OpenRagged("padded", ragged);
    BatchLoaderOptions options = Options();
    options.fields[0].padding->value = -1.5;
    auto loader = OpenLoader(dataset, options);
    for (uint64_t step = 0; step < loader->steps_per_epoch(); ++step) {
      auto next = loader->Next();
      ASSERT_TRUE(next.ok() && next->has_value()) << next.status().ToString();
      const Batch& batch = **next;
      const FieldView& view = batch.field("features");
      const int64_t longest = Longest(batch.records());
      ASSERT_EQ(view.shape, (std::vector<int64_t>{batch.rows(), longest, 3}));
      ASSERT_EQ(view.lengths.size(), static_cast<size_t>(batch.rows()));
      for (int64_t row = 0; row < batch.rows(); ++row) {
        const uint64_t record = batch.records()[static_cast<size_t>(row)];
        const auto expected = RaggedFeatures(record);
        ASSERT_EQ(view.lengths[static_cast<size_t>(row)], RaggedLength(record));
        for (int64_t i = 0; i < longest * 3; ++i) {
          const auto at = static_cast<size_t>(i);
          ASSERT_EQ(view.as<float>()[row * longest * 3 + i],
                    at < expected.size() ? expected[at] : -1.5f);
        }
      }
    }
  }
}

TEST(PaddedBatch, LengthsRoundUpToThoseAllowedAndLongerRecordsAreCutOrRefused) {
  const auto dataset = OpenRagged("padded-lengths", RaggedOptions());
  BatchLoaderOptions options = Options();
  options.global_batch = 4;
  options.fields[0].padding->lengths = {4, 9, 13};
  options.fields[0].padding->cut_longer = true;
  auto loader = OpenLoader(dataset, options);
  std::set<int64_t> lengths;
  for (uint64_t step = 0; step < loader->steps_per_epoch(); ++step) {
    auto next = loader->Next();
    ASSERT_TRUE(next.ok() && next->has_value()) << next.status().ToString();
    const FieldView& view = (**next).field("features");
    const int64_t longest = Longest((**next).records());
    const int64_t padded = longest <= 4 ? 4 : longest <= 9 ? 9 : 13;
    ASSERT_EQ(view.shape[1], padded);
    lengths.insert(padded);
    for (size_t row = 0; row < 4; ++row) {
      const uint64_t record = (**next).records()[row];
      const int64_t length = std::min(RaggedLength(record), padded);
      ASSERT_EQ(view.lengths[row], length);
      const float* features = view.as<float>() + static_cast<int64_t>(row) * padded * 3;
      const auto expected = RaggedFeatures(record);
      ASSERT_TRUE(std::equal(features, features + length * 3, expected.begin()));
    }
  }
  EXPECT_GE(lengths.size(), 2u);
  options.fields[0].padding->cut_longer = false;
  loader = OpenLoader(dataset, options);
  Status status;
  for (int step = 0; step < 15 && status.ok(); ++step) status = loader->Next().status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  for (const char* part : {"train-0000", "record", "features", "more than the 13", "cut_longer"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
}

// Pixel by pixel: the image in the upper left corner, padding elsewhere.
TEST(PaddedBatch, MixedSizeImagesAndLabelsArePaddedTogetherAndDelivered) {
  for (Codec codec : {Codec::kRaw, Codec::kZstd, Codec::kJpeg}) {
    RaggedOptions ragged;
    ragged.image_codec = codec;
    const auto dataset = OpenRagged("padded-images", ragged);
    BatchLoaderOptions options = Options();
    options.fields = {{"image", Delivery::kNormalizedNchw, Padding()},
                      {"label", Delivery::kOneHotU8, Padding()}};
    options.fields[0].mean = {10, 20, 30};
    options.fields[0].deviation = {2, 4, 8};
    const int tolerance = codec == Codec::kJpeg ? 12 : 0;
    auto loader = OpenLoader(dataset, options);
    for (uint64_t step = 0; step < loader->steps_per_epoch(); ++step) {
      auto next = loader->Next();
      ASSERT_TRUE(next.ok() && next->has_value()) << next.status().ToString();
      const Batch& batch = **next;
      const FieldView& image = batch.field("image");
      const FieldView& label = batch.field("label");
      const int64_t height = image.shape[2];
      const int64_t width = image.shape[3];
      ASSERT_EQ(image.shape, (std::vector<int64_t>{batch.rows(), 3, height, width}));
      ASSERT_EQ(label.shape, (std::vector<int64_t>{batch.rows(), height, width, 4}));
      int64_t tallest = 0;
      for (int64_t row = 0; row < batch.rows(); ++row) {
        const uint64_t record = batch.records()[static_cast<size_t>(row)];
        const auto pixels = RaggedImage(record, ragged);
        const auto classes = RaggedLabel(record, ragged);
        const int64_t h = RaggedHeight(record, ragged);
        const int64_t w = RaggedWidth(record, ragged);
        tallest = std::max(tallest, h);
        ASSERT_EQ(image.lengths[static_cast<size_t>(row) * 2], h);
        ASSERT_EQ(image.lengths[static_cast<size_t>(row) * 2 + 1], w);
        for (int64_t y = 0; y < height; ++y) {
          for (int64_t x = 0; x < width; ++x) {
            const bool inside = y < h && x < w;
            for (int64_t c = 0; c < 3; ++c) {
              const int expected = inside ? pixels[static_cast<size_t>((y * w + x) * 3 + c)] : 0;
              const float value = image.as<float>()[((row * 3 + c) * height + y) * width + x];
              const double mean = 10.0 * static_cast<double>(c + 1);
              const double deviation = static_cast<double>(2 << c);
              ASSERT_NEAR(value * deviation + mean, expected, (inside ? tolerance : 0) + 1e-4);
            }
            for (int64_t k = 0; k < 4; ++k) {
              const bool is_class = inside && classes[static_cast<size_t>(y * w + x)] == k;
              ASSERT_EQ(label.data[((row * height + y) * width + x) * 4 + k], is_class);
            }
          }
        }
      }
      ASSERT_EQ(height, tallest);
    }
  }
}

// The rows of all ranks put together, and the shapes that each rank had.
std::vector<SeenBatch> JoinRanks(const std::shared_ptr<const Dataset>& dataset,
                                 BatchLoaderOptions options, uint32_t ranks) {
  std::vector<SeenBatch> joined;
  options.ranks = ranks;
  for (options.rank = 0; options.rank < ranks; ++options.rank) {
    const auto batches = ReadAll(dataset, options);
    if (options.rank == 0) joined.resize(batches.size());
    EXPECT_EQ(joined.size(), batches.size());
    for (size_t step = 0; step < batches.size(); ++step) {
      SeenBatch& all = joined[step];
      const SeenBatch& part = batches[step];
      all.epoch = part.epoch;
      all.step = part.step;
      all.global_rows = part.global_rows;
      all.records.insert(all.records.end(), part.records.begin(), part.records.end());
      all.weights.insert(all.weights.end(), part.weights.begin(), part.weights.end());
      all.fields.resize(part.fields.size());
      for (size_t f = 0; f < part.fields.size(); ++f) all.fields[f] += part.fields[f];
    }
  }
  return joined;
}

TEST(PaddedBatch, AnyWorldSizeThreadsAndStartGiveTheSameBytesWithAndWithoutBuckets) {
  const auto dataset = OpenRagged("padded-ranks", RaggedOptions());
  for (bool buckets : {false, true}) {
    for (TailPolicy tail : {TailPolicy::kDrop, TailPolicy::kPad, TailPolicy::kPartial}) {
      BatchLoaderOptions options = Options();
      options.tail = tail;
      options.epochs = 2;
      if (buckets) options.buckets = {"features", 4};
      const auto expected = ReadAll(dataset, options);
      for (uint32_t ranks : {2, 3, 8}) {
        ASSERT_EQ(JoinRanks(dataset, options, ranks), expected) << ranks << " ranks";
      }
      options.threads = 3;
      ASSERT_EQ(ReadAll(dataset, options), expected);
      options.read_ahead = ReadAhead::kAlways;
      ASSERT_EQ(ReadAll(dataset, options), expected);
      options.first_step = 5;
      ASSERT_EQ(ReadAll(dataset, options),
                std::vector<SeenBatch>(expected.begin() + 5, expected.end()));
    }
  }
}

TEST(PaddedBatch, BucketsHaveEveryRecordOnceAndPadLess) {
  const auto dataset = OpenRagged("padded-buckets", RaggedOptions());
  BatchLoaderOptions options = Options();
  uint64_t bytes[2] = {0, 0};
  for (int buckets : {0, 1}) {
    if (buckets == 1) options.buckets = {"features", 8};
    std::vector<uint64_t> seen;
    for (const SeenBatch& batch : ReadAll(dataset, options)) {
      seen.insert(seen.end(), batch.records.begin(), batch.records.end());
      bytes[buckets] += batch.fields[0].size();
    }
    std::sort(seen.begin(), seen.end());
    ASSERT_EQ(seen.size(), 60u);
    for (uint64_t i = 0; i < 60; ++i) ASSERT_EQ(seen[i], i);
  }
  EXPECT_LT(static_cast<double>(bytes[1]), 0.8 * static_cast<double>(bytes[0]));
}

TEST(PaddedBatch, BadOptionsAreInvalidArgumentThatNamesThem) {
  const auto dataset = OpenRagged("padded-options", RaggedOptions());
  RaggedOptions no_ignore;
  no_ignore.ignore = std::nullopt;
  const auto without_ignore = OpenRagged("padded-no-ignore", no_ignore);
  auto expect = [&](const std::string& text, auto change, bool ignore = true) {
    BatchLoaderOptions options = Options();
    change(&options);
    auto loader = BatchLoader::Open(ignore ? dataset : without_ignore, options);
    if (text == "ok") {
      EXPECT_TRUE(loader.ok()) << loader.status().ToString();
      return;
    }
    EXPECT_EQ(loader.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(loader.status().message().find(text), std::string::npos) << loader.status().message();
  };
  using O = BatchLoaderOptions*;
  expect("ok", [](O) {});
  expect("needs a crop or padding", [](O o) { o->fields[0].padding.reset(); });
  expect("needs no padding", [](O o) { o->fields[1].padding = Padding(); });
  expect("ascend", [](O o) { o->fields[0].padding->lengths = {4, 4}; });
  expect("ascend", [](O o) { o->fields[0].padding->lengths = {0, 4}; });
  expect("ascend", [](O o) { o->fields[0].padding->lengths = {int64_t{1} << 32}; });
  expect("cut_longer", [](O o) { o->fields[0].padding->cut_longer = true; });
  expect("padded with 256", [](O o) {
    o->fields = {{"image", Delivery::kStored, Padding{256, {}, false}}};
  });
  expect("padded with 0.5", [](O o) {
    o->fields = {{"image", Delivery::kStored, Padding{0.5, {}, false}}};
  });
  expect("ok", [](O o) { o->fields = {{"label", Delivery::kIndex, Padding()}}; });
  expect(
      "no ignore value",
      [](O o) {
        o->fields = {{"label", Delivery::kIndex, Padding()}};
      },
      false);
  expect(
      "ok",
      [](O o) {
        o->fields = {{"label", Delivery::kIndex, Padding{2, {}, false}}};
      },
      false);
  no_ignore.label_is_bits = true;
  const auto one_hot = OpenRagged("padded-one-hot", no_ignore);
  BatchLoaderOptions options = Options();
  options.fields = {{"label", Delivery::kOneHotU8, Padding()}};
  EXPECT_TRUE(BatchLoader::Open(one_hot, options).ok());
  options.fields = {{"label", Delivery::kIndex, Padding()}};
  const Status status = BatchLoader::Open(one_hot, options).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("no ignore value"), std::string::npos) << status.message();
  expect("buckets.field", [](O o) { o->buckets.field = "number"; });
  expect("buckets.field", [](O o) { o->buckets.field = "depth"; });
  expect("window_batches", [](O o) { o->buckets = {"features", 0}; });
  expect("window_batches", [](O o) { o->buckets = {"features", uint64_t{1} << 32}; });
}

// The stored bytes of the features of a record.
std::string FeatureBytes(uint64_t record) {
  const auto features = RaggedFeatures(record);
  return std::string(reinterpret_cast<const char*>(features.data()), features.size() * 4);
}

std::string ShardOf(const std::string& folder, uint64_t record) {
  return folder + "/train-0000" + std::to_string(record / 20) + "-of-00003.shard";
}

TEST(PaddedBatch, SubstituteIsTheNextSoundRecordThatFitsTheRow) {
  const std::string folder = WriteRaggedDataset("padded-substitute", RaggedOptions());
  // A record in the first batch of 8, with a longer one than that batch behind it.
  uint64_t bad = 0;
  while (RaggedLength(bad) == 0) ++bad;
  std::vector<uint64_t> batch(8);
  for (uint64_t i = 0; i < 8; ++i) batch[i] = i;
  const int64_t longest = Longest(batch);
  DamageTestBytes(ShardOf(folder, bad), FeatureBytes(bad), 5);
  auto dataset = Dataset::Open(folder, "train");
  ASSERT_TRUE(dataset.ok()) << dataset.status().ToString();
  BatchLoaderOptions options = Options();
  options.order = Order::kStored;
  options.bad_records = BadRecordPolicy::kSubstitute;
  auto loader = OpenLoader(*dataset, options);
  auto next = loader->Next();
  ASSERT_TRUE(next.ok() && next->has_value()) << next.status().ToString();
  uint64_t expected = bad + 1;
  while (RaggedLength(expected) > longest) ++expected;
  EXPECT_EQ((**next).records()[bad], expected);
  const FieldView& view = (**next).field("features");
  EXPECT_EQ(view.shape[1], longest);
  EXPECT_EQ(view.lengths[bad], RaggedLength(expected));
  EXPECT_EQ(std::memcmp(view.as<float>() + static_cast<int64_t>(bad) * longest * 3,
                        FeatureBytes(expected).data(), FeatureBytes(expected).size()),
            0);
}

TEST(PaddedBatch, DamagedLengthsAreBadRecordsOfTheirBlock) {
  const std::string folder = WriteRaggedDataset("padded-damage", RaggedOptions());
  // The first record of a block of 8 whose features come first behind the table of lengths.
  uint64_t first = 0;
  while (RaggedLength(first) == 0 || first % 20 % 8 != 0) ++first;
  DamageTestBytes(ShardOf(folder, first), FeatureBytes(first), -1);
  const uint64_t end = first + std::min<uint64_t>(8, 20 - first % 20);
  BatchLoaderOptions options = Options();
  for (bool buckets : {false, true}) {
    if (buckets) options.buckets = {"features", 4};
    auto dataset = Dataset::Open(folder, "train");
    ASSERT_TRUE(dataset.ok()) << dataset.status().ToString();
    options.bad_records = BadRecordPolicy::kFail;
    auto loader = OpenLoader(*dataset, options);
    Status status;
    for (int step = 0; step < 8 && status.ok(); ++step) status = loader->Next().status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_NE(status.message().find("offsets are damaged"), std::string::npos) << status.message();
    options.bad_records = BadRecordPolicy::kSkip;
    loader = OpenLoader(*dataset, options);
    const auto batches = ReadAll(loader.get());
    ASSERT_EQ(batches.size(), 8u);
    for (const SeenBatch& batch : batches) {
      for (size_t row = 0; row < batch.records.size(); ++row) {
        const bool is_bad = batch.records[row] >= first && batch.records[row] < end;
        ASSERT_EQ(batch.weights[row], is_bad ? 0 : 1);
      }
    }
    EXPECT_EQ(loader->bad_records().size(), end - first);
  }
}

}  // namespace
}  // namespace shardmill
