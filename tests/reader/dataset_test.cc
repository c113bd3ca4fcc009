#include "reader/dataset.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "proto/manifest.pb.h"
#include "reader/base/folder_lock.h"
#include "reader/manifest.h"
#include "reader/named_shards.h"
#include "tests/reader/shard_testing.h"

namespace shardmill {
namespace {

using namespace testing_shards;  // NOLINT: the fixture's verbs
namespace fs = std::filesystem;

class DatasetTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = EmptyFolder("dataset_test");
    WriteTestDataset(folder_);
    shard_ = folder_ + "/train-00001-of-00003.shard";
  }
  // What opening says; whatever it is, it must name the shard.
  Status OpenNamingTheShard() const {
    const Status status = Dataset::Open(folder_).status();
    EXPECT_NE(status.message().find(shard_), std::string::npos) << status.ToString();
    return status;
  }

  std::string folder_;
  std::string shard_;
};

TEST_F(DatasetTest, AllSplitsOrOneByFolderOrManifest) {
  const auto all = Dataset::Open(folder_);
  ASSERT_TRUE(all.ok()) << all.status().ToString();
  EXPECT_EQ((*all)->split_names(), (std::vector<std::string>{"train", "val"}));
  EXPECT_EQ((*all)->schema().fields.size(), 2u);
  const auto one = Dataset::Open(folder_ + "/manifest.json", "val");
  ASSERT_TRUE(one.ok()) << one.status().ToString();
  EXPECT_EQ((*one)->split_names(), std::vector<std::string>{"val"});
  EXPECT_EQ((*one)->folder(), folder_);
  EXPECT_FALSE((*one)->split("train").ok());
}

TEST_F(DatasetTest, EveryRecordIsFoundInItsShard) {
  const auto dataset = Dataset::Open(folder_).value();
  const Dataset::Split& train = *dataset->split("train").value();
  EXPECT_EQ(train.records(), 18u);
  EXPECT_EQ(train.shard_count(), 3);
  const uint64_t records_of_shard[] = {5, 6, 7};
  uint64_t record = 0;
  for (uint32_t k = 0; k < 3; ++k) {
    for (uint64_t i = 0; i < records_of_shard[k]; ++i, ++record) {
      const auto [shard, index] = train.Locate(record);
      EXPECT_EQ(shard->shard_number(), k);
      EXPECT_EQ(index, i);
    }
    EXPECT_TRUE(ReadEverything(train.shard(static_cast<int>(k))).ok());
  }
}

TEST_F(DatasetTest, EmptyShardsBetweenOthersAreSteppedOver) {
  const std::string folder = EmptyFolder("dataset_empty_shards");
  const uint64_t records[] = {0, 2, 0, 0, 1, 0};
  for (uint32_t k = 0; k < 6; ++k) {
    ASSERT_TRUE(WriteTestShard(folder, PlanOf("train", k, 6, 4), ImageAndLabel(), records[k]).ok());
  }
  ASSERT_TRUE(WriteManifest(folder, RebuildManifest(folder).value()).ok());
  const auto dataset = Dataset::Open(folder).value();
  const Dataset::Split& train = *dataset->split("train").value();
  EXPECT_EQ(train.Locate(1).first->shard_number(), 1u);
  EXPECT_EQ(train.Locate(2).first->shard_number(), 4u);
  EXPECT_EQ(train.Locate(2).second, 0u);
}

TEST_F(DatasetTest, UnknownSplitListsTheExistingOnes) {
  const Status status = Dataset::Open(folder_, "test").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("train, val"), std::string::npos);
}

TEST_F(DatasetTest, MissingForeignAndLinkedShardsAreRefused) {
  const std::string sound = ReadBytes(shard_);
  WriteBytes(shard_, "");
  EXPECT_EQ(OpenNamingTheShard().code(), StatusCode::kDataLoss);
  WriteBytes(shard_, std::string(1 << 16, 'f'));
  EXPECT_EQ(OpenNamingTheShard().code(), StatusCode::kDataLoss);
  fs::rename(shard_, folder_ + "/elsewhere");
  EXPECT_EQ(OpenNamingTheShard().code(), StatusCode::kDataLoss);
  fs::create_symlink(folder_ + "/elsewhere", shard_);
  WriteBytes(folder_ + "/elsewhere", sound);
  EXPECT_EQ(OpenNamingTheShard().code(), StatusCode::kDataLoss);
}

TEST_F(DatasetTest, AnotherSoundShardInThePlaceIsRefused) {
  const std::string sound = ReadBytes(shard_);
  fs::copy_file(folder_ + "/train-00000-of-00003.shard", shard_,
                fs::copy_options::overwrite_existing);
  EXPECT_EQ(OpenNamingTheShard().code(), StatusCode::kDataLoss);

  // Packed again with other records: the manifest is stale.
  ASSERT_TRUE(WriteTestShard(folder_, PlanOf("train", 1, 3, 4), ImageAndLabel(), 8).ok());
  EXPECT_EQ(OpenNamingTheShard().code(), StatusCode::kDataLoss);
  ASSERT_TRUE(WriteTestShard(folder_, PlanOf("train", 1, 3, 3), ImageAndLabel(), 6).ok());
  EXPECT_EQ(OpenNamingTheShard().code(), StatusCode::kDataLoss);

  ShardPlan other = PlanOf("train", 1, 3, 4);
  other.dataset_id = Digest128("another data set");
  ASSERT_TRUE(WriteTestShard(folder_, other, ImageAndLabel(), 6).ok());
  EXPECT_EQ(OpenNamingTheShard().code(), StatusCode::kDataLoss);

  WriteBytes(shard_, sound);
  EXPECT_TRUE(Dataset::Open(folder_).ok());
}

TEST_F(DatasetTest, ReplacedShardIsNoticedBetweenEpochs) {
  const auto dataset = Dataset::Open(folder_).value();
  EXPECT_TRUE(dataset->CheckUnchanged().ok());
  ASSERT_TRUE(WriteTestShard(folder_, PlanOf("train", 1, 3, 4), ImageAndLabel(), 6).ok());
  const Status status = dataset->CheckUnchanged();
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_NE(status.message().find(shard_), std::string::npos);
}

TEST_F(DatasetTest, UnfinishedFolderAndShardPathAreExplained) {
  fs::remove(folder_ + "/manifest.json");
  const Status status = Dataset::Open(folder_).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("not finished"), std::string::npos);
  EXPECT_FALSE(Dataset::Open(shard_).ok());
}

TEST_F(DatasetTest, ManifestThatIsNoFileIsDamage) {
  fs::remove(folder_ + "/manifest.json");
  fs::create_directory(folder_ + "/manifest.json");
  EXPECT_EQ(Dataset::Open(folder_).status().code(), StatusCode::kDataLoss);
  fs::remove(folder_ + "/manifest.json");
  ASSERT_EQ(mkfifo((folder_ + "/manifest.json").c_str(), 0600), 0);
  EXPECT_EQ(Dataset::Open(folder_).status().code(), StatusCode::kDataLoss);
}

TEST_F(DatasetTest, SetInWhosePlaceAPackPutsAnotherIsExplained) {
  const proto::Manifest manifest = *ReadManifest(folder_);
  const std::string path = folder_ + "/manifest.json";
  const std::string incoming = folder_ + "/.shardmill-incoming";
  const Status damage = DataLossError("a shard is missing");
  fs::create_directory(incoming);
  fs::rename(path, incoming + "/manifest.json");
  Status status = Dataset::Open(folder_).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("a pack with --overwrite that was stopped"), std::string::npos)
      << status.message();
  const auto lock =
      FolderLock::TryAcquire(folder_, LockKind::kAlone, kFolderLockName, "a whole pack");
  ASSERT_TRUE(lock.ok() && lock->has_value());
  status = Dataset::Open(folder_).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  const std::string at_work = "a pack with --overwrite is at work in " + folder_ + " (process " +
                              std::to_string(getpid()) + " on ";
  EXPECT_NE(status.message().find(at_work), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("a whole pack); wait until it has ended"), std::string::npos);
  // The manifest was read before.
  EXPECT_EQ(ExplainByReplacement(folder_, manifest, damage).ToString(), status.ToString());
  fs::rename(incoming + "/manifest.json", path);
  EXPECT_EQ(ExplainByReplacement(folder_, manifest, damage).ToString(), damage.ToString());
  proto::Manifest other = manifest;
  other.mutable_recipe()->set_layout("another");
  ASSERT_TRUE(WriteManifest(folder_, other).ok());
  status = ExplainByReplacement(folder_, manifest, damage);
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_NE(status.message().find("another data set took the place"), std::string::npos);
  EXPECT_TRUE(ExplainByReplacement(folder_, manifest, OkStatus()).ok());
}

}  // namespace
}  // namespace shardmill
