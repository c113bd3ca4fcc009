// What a loader does when its files go away.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "reader/batch_loader.h"
#include "tests/reader/loader_testing.h"

namespace shardmill {
namespace {

BatchLoaderOptions Options() {
  BatchLoaderOptions options;
  options.split = "train";
  options.global_batch = 10;
  options.threads = 2;
  options.epochs = 2;
  return options;
}

TEST(BatchLoaderFaults, ShardRemovedMeanwhileIsAnErrorAtTheNextEpoch) {
  const auto dataset = OpenTestDataset("removed", TestDatasetOptions());
  auto loader = OpenLoader(dataset, Options());
  ASSERT_TRUE(loader->Next().ok());
  const std::string path = (*dataset->split("train"))->shard(1).path();
  ASSERT_TRUE(std::filesystem::remove(path));
  for (int step = 1; step < 10; ++step) EXPECT_TRUE(loader->Next().ok()) << step;
  const Status status = loader->Next().status();
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_NE(status.message().find(path), std::string::npos) << status.message();
}

TEST(BatchLoaderFaults, ShardThatIsMissingIsNamedBeforeTheFirstBatch) {
  const std::string folder = WriteTestDataset("missing", TestDatasetOptions());
  ASSERT_TRUE(std::filesystem::remove(folder + "/train-00002-of-00003.shard"));
  const Status status = Dataset::Open(folder, "train").status();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("train-00002-of-00003.shard"), std::string::npos);
}

// The ways to read: Dataset::Open with this access, the loader with this io.
struct Way {
  FileAccess access;
  Io io;
};
constexpr Way kWays[] = {{FileAccess::kMapped, Io::kMapped},
                         {FileAccess::kPread, Io::kMapped},
                         {FileAccess::kMapped, Io::kDirect}};

// Stored order with one slot: nothing is read of the second batch while the first one is held.
// Null where the system refuses to read this way.
std::unique_ptr<BatchLoader> OpenAs(const Way& way, const std::string& folder) {
  const auto dataset = Dataset::Open(folder, "train", {ChecksumPolicy::kFirstTouch, way.access});
  EXPECT_TRUE(dataset.ok()) << dataset.status().ToString();
  BatchLoaderOptions options = Options();
  options.order = Order::kStored;
  options.slots = 1;
  options.io = way.io;
  auto loader = BatchLoader::Open(*dataset, options);
  if (loader.ok()) return std::move(*loader);
  EXPECT_TRUE(way.io == Io::kDirect) << loader.status().ToString();
  return nullptr;
}

TEST(BatchLoaderFaults, ShardCutMidEpochIsAnErrorThatNamesItHoweverItIsRead) {
  for (const Way& way : kWays) {
    const std::string folder = WriteTestDataset("cut-mid-epoch", TestDatasetOptions());
    const std::string shard = folder + "/train-00002-of-00003.shard";
    const auto loader = OpenAs(way, folder);
    if (loader == nullptr) continue;
    {
      const auto first = loader->Next();
      ASSERT_TRUE(first.ok() && first->has_value());
      std::filesystem::resize_file(shard, 8192);
    }
    Status status;
    for (int step = 1; step < 10 && status.ok(); ++step) status = loader->Next().status();
    EXPECT_EQ(status.code(), StatusCode::kIo) << status.ToString();
    EXPECT_NE(status.message().find(shard), std::string::npos) << status.message();
  }
}

TEST(BatchLoaderFaults, ShardReplacedMidEpochIsReadToTheEndOfTheEpochAndThenAnError) {
  for (const Way& way : kWays) {
    const std::string folder = WriteTestDataset("replaced-mid-epoch", TestDatasetOptions());
    const std::string shard = folder + "/train-00001-of-00003.shard";
    const auto loader = OpenAs(way, folder);
    if (loader == nullptr) continue;
    {
      const auto first = loader->Next();
      ASSERT_TRUE(first.ok() && first->has_value());
      std::filesystem::copy_file(folder + "/train-00000-of-00003.shard", shard + ".new");
      std::filesystem::rename(shard + ".new", shard);
    }
    for (int64_t step = 1; step < 10; ++step) {
      const auto batch = loader->Next();
      ASSERT_TRUE(batch.ok()) << batch.status().ToString();
      EXPECT_EQ((**batch).field("number").as<int64_t>()[0], 10 * step);
    }
    const Status status = loader->Next().status();
    EXPECT_EQ(status.code(), StatusCode::kIo);
    EXPECT_NE(status.message().find(shard), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace shardmill
