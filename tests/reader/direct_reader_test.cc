// Reading past the page cache (Io::kDirect) must deliver what reading mapped does.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/reader/loader_testing.h"
#include "tests/reader/ragged_dataset.h"

namespace shardmill {
namespace {

BatchLoaderOptions Options(Io io, int threads, uint32_t queue_depth) {
  BatchLoaderOptions options;
  options.split = "train";
  options.global_batch = 7;
  options.threads = threads;
  options.tail = TailPolicy::kPad;
  options.seed = 3;
  options.epochs = 3;
  options.io = io;
  options.queue_depth = queue_depth;
  options.fields = {{"image"}, {"label", Delivery::kOneHotU8}, {"number"}};
  return options;
}

// The reason why this machine cannot read directly, or the empty string.
std::string WhyNotDirect(const std::shared_ptr<const Dataset>& dataset) {
  const auto loader = BatchLoader::Open(dataset, Options(Io::kDirect, 1, 1));
  if (loader.ok()) return "";
  const std::string message = loader.status().message();
  EXPECT_EQ(loader.status().code(), StatusCode::kIo);
  EXPECT_NE(message.find("read it mapped instead"), std::string::npos) << message;
  return message;
}

TEST(DirectReader, DeliversWhatMappedReadingDoes) {
  for (const Codec label_codec : {Codec::kRaw, Codec::kZstd}) {
    TestDatasetOptions test_options;
    test_options.label_codec = label_codec;
    const auto dataset = OpenTestDataset("direct", test_options);
    if (const std::string reason = WhyNotDirect(dataset); !reason.empty()) GTEST_SKIP() << reason;
    const auto expected = ReadAll(dataset, Options(Io::kMapped, 1, 1));
    EXPECT_EQ(expected.size(), 45u);
    for (const int threads : {1, 3}) {
      for (const uint32_t depth : {1u, 2u, 32u}) {
        EXPECT_EQ(ReadAll(dataset, Options(Io::kDirect, threads, depth)), expected);
      }
    }
  }
}

// 64 × 64 × 4 pages of three bytes: every image starts and ends at a page of the disk, so it is
// read into the slot itself.
TEST(DirectReader, AlignedRecordsAreReadIntoTheSlot) {
  TestDatasetOptions test_options;
  test_options.records = 40;
  test_options.height = 64;
  test_options.width = 64;
  test_options.label_codec = Codec::kRaw;
  const auto dataset = OpenTestDataset("direct-aligned", test_options);
  if (const std::string reason = WhyNotDirect(dataset); !reason.empty()) GTEST_SKIP() << reason;
  BatchLoaderOptions options = Options(Io::kDirect, 2, 8);
  options.fields = {{"image"}, {"label"}};
  const auto direct = ReadAll(dataset, options);
  options.io = Io::kMapped;
  EXPECT_EQ(direct, ReadAll(dataset, options));
  options.io = Io::kDirect;
  options.bad_records = BadRecordPolicy::kSkip;  // through staging buffers
  EXPECT_EQ(direct, ReadAll(dataset, options));
}

TEST(DirectReader, BatchOfOneRecordManyTimesIsComplete) {
  TestDatasetOptions test_options;
  test_options.records = 2;
  test_options.shards = 1;
  test_options.height = 64;
  test_options.width = 64;
  const auto dataset = OpenTestDataset("direct-repeated", test_options);
  if (const std::string reason = WhyNotDirect(dataset); !reason.empty()) GTEST_SKIP() << reason;
  const auto expected = ReadAll(dataset, Options(Io::kMapped, 1, 1));
  EXPECT_EQ(ReadAll(dataset, Options(Io::kDirect, 2, 4)), expected);
}

// Flips a byte of the first image in a shard.
void Damage(const Dataset& dataset, int shard_number) {
  const ShardReader& shard = (*dataset.split("train"))->shard(shard_number);
  const auto range = shard.StoredRange(0, 0);
  ASSERT_TRUE(range.ok());
  std::fstream file(shard.path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(range->offset));
  const char flipped = static_cast<char>(~file.peek());
  file.seekp(static_cast<std::streamoff>(range->offset));
  file.put(flipped);
}

TEST(DirectReader, DamageIsFoundAndNamed) {
  TestDatasetOptions test_options;
  const std::string folder = WriteTestDataset("direct-damage", test_options);
  Damage(**Dataset::Open(folder, "train"), 1);
  const auto dataset = Dataset::Open(folder, "train");
  ASSERT_TRUE(dataset.ok());
  if (const std::string reason = WhyNotDirect(*dataset); !reason.empty()) GTEST_SKIP() << reason;
  auto loader = OpenLoader(*dataset, Options(Io::kDirect, 2, 8));
  Status status;
  while (status.ok()) status = loader->Next().status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  for (const char* part : {"train-00001-of-00003.shard", "record 0", "image", "checksum"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
  BatchLoaderOptions options = Options(Io::kDirect, 2, 8);
  options.bad_records = BadRecordPolicy::kSubstitute;
  const auto direct = ReadAll(*dataset, options);
  options.io = Io::kMapped;
  EXPECT_EQ(direct, ReadAll(*dataset, options));
}

// Padded and bucketed sequences, cropped, flipped and normalised images, labels to one-hot.
TEST(DirectReader, ShapedFieldsAreWhatTheyAreMapped) {
  for (const Codec codec : {Codec::kRaw, Codec::kZstd, Codec::kJpeg}) {
    RaggedOptions ragged;
    ragged.image_codec = codec;
    const auto dataset = Dataset::Open(WriteRaggedDataset("direct-shaped", ragged), "train");
    ASSERT_TRUE(dataset.ok()) << dataset.status().ToString();
    BatchLoaderOptions options = Options(Io::kDirect, 2, 8);
    options.fields = {{"features", Delivery::kStored, Padding()},
                      {"image", Delivery::kNormalizedNchw},
                      {"label", Delivery::kOneHotF32}};
    options.fields[1].mean = {1, 2, 3};
    options.fields[1].deviation = {4, 5, 6};
    options.augment.crop_height = 6;
    options.augment.crop_width = 8;
    options.augment.horizontal_flip = 0.5;
    options.buckets = {"features", 3};
    auto loader = BatchLoader::Open(*dataset, options);
    if (!loader.ok()) GTEST_SKIP() << loader.status().message();
    const auto direct = ReadAll(loader->get());
    options.io = Io::kMapped;
    EXPECT_EQ(direct, ReadAll(*dataset, options));
    EXPECT_EQ(direct.size(), 27u);
  }
}

// As large as they are delivered and aligned to pages, but not to be read into their slot as they
// are.
TEST(DirectReader, AlignedRecordsThatAreFlippedAreWhatTheyAreMapped) {
  TestDatasetOptions test_options;
  test_options.records = 40;
  test_options.height = 64;
  test_options.width = 64;
  test_options.label_codec = Codec::kRaw;
  const auto dataset = OpenTestDataset("direct-flipped", test_options);
  if (const std::string reason = WhyNotDirect(dataset); !reason.empty()) GTEST_SKIP() << reason;
  BatchLoaderOptions options = Options(Io::kDirect, 2, 8);
  options.fields = {{"image"}, {"label"}};
  options.augment.horizontal_flip = 0.5;
  options.augment.vertical_flip = 0.5;
  const auto direct = ReadAll(dataset, options);
  options.io = Io::kMapped;
  EXPECT_EQ(direct, ReadAll(dataset, options));
}

TEST(DirectReader, LeavingMidEpochWaitsForWhatIsUnderWay) {
  TestDatasetOptions test_options;
  test_options.height = 64;
  test_options.width = 64;
  const auto dataset = OpenTestDataset("direct-leaving", test_options);
  if (const std::string reason = WhyNotDirect(dataset); !reason.empty()) GTEST_SKIP() << reason;
  for (int repeat = 0; repeat < 50; ++repeat) {
    auto loader = OpenLoader(dataset, Options(Io::kDirect, 1 + repeat % 3, 32));
    for (int step = 0; step < repeat % 4; ++step) ASSERT_TRUE(loader->Next().ok());
    if (repeat % 2 == 0) loader->Cancel();
  }
}

TEST(DirectReader, ImpossibleQueueDepthIsRefused) {
  const auto dataset = OpenTestDataset("direct-depth", TestDatasetOptions());
  for (const uint32_t depth : {0u, 1u << 20, ~0u}) {
    const auto loader = BatchLoader::Open(dataset, Options(Io::kDirect, 1, depth));
    EXPECT_EQ(loader.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(loader.status().message().find("queue depth"), std::string::npos)
        << loader.status().message();
  }
}

}  // namespace
}  // namespace shardmill
