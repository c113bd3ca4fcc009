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

}  // namespace
}  // namespace shardmill
