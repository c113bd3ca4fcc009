#include "tools/dump/shard_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "proto/manifest.pb.h"
#include "tests/reader/shard_testing.h"

namespace shardmill {
namespace {

using namespace testing_shards;  // NOLINT: the fixture's verbs

class ShardSetTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = EmptyFolder("shard_set_test");
    WriteTestDataset(folder_);
  }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
};

TEST_F(ShardSetTest, FolderManifestAndShardAreRecognised) {
  EXPECT_EQ(*KindOfPath(folder_), PathKind::kDataset);
  EXPECT_EQ(*KindOfPath(Path("manifest.json")), PathKind::kDataset);
  EXPECT_EQ(*KindOfPath(Path("val-00000-of-00001.shard")), PathKind::kShard);
  EXPECT_EQ(KindOfPath(Path("nothing")).status().code(), StatusCode::kNotFound);
  WriteBytes(Path("notes.txt"), "x");
  EXPECT_EQ(KindOfPath(Path("notes.txt")).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(ShardSetTest, NameIsTheLastPartOfThePath) {
  EXPECT_EQ(SetName(folder_), "shard_set_test");
  EXPECT_EQ(SetName(folder_ + "/"), "shard_set_test");
  EXPECT_EQ(SetName(folder_ + "/."), "shard_set_test");
  EXPECT_EQ(SetName(Path("manifest.json")), "shard_set_test");
  EXPECT_EQ(SetName(Path("val-00000-of-00001.shard")), "val-00000-of-00001.shard");
  EXPECT_EQ(SetName("."), std::filesystem::current_path().filename().string());
}

TEST_F(ShardSetTest, RecordsOfASplitRunOverItsShards) {
  const auto set = ShardSet::Open(folder_, "train");
  ASSERT_TRUE(set.ok()) << set.status().ToString();
  ASSERT_EQ((*set)->splits().size(), 1u);
  const ShardSet::Split& split = (*set)->splits()[0];
  EXPECT_EQ(split.records, 18u);
  EXPECT_EQ(split.Locate(0), std::make_pair(split.shards[0], uint64_t{0}));
  EXPECT_EQ(split.Locate(5), std::make_pair(split.shards[1], uint64_t{0}));
  EXPECT_EQ(split.Locate(17), std::make_pair(split.shards[2], uint64_t{6}));
}

TEST_F(ShardSetTest, WithoutASplitAllAreOpened) {
  const auto set = ShardSet::Open(Path("manifest.json"), "");
  ASSERT_TRUE(set.ok()) << set.status().ToString();
  EXPECT_EQ((*set)->splits().size(), 2u);
  EXPECT_EQ((*set)->name(), "shard_set_test");
}

TEST_F(ShardSetTest, SingleShardDescribesItselfLikeAManifest) {
  const auto set = ShardSet::Open(Path("train-00001-of-00003.shard"), "");
  ASSERT_TRUE(set.ok()) << set.status().ToString();
  const proto::Manifest& manifest = (*set)->manifest();
  ASSERT_EQ(manifest.splits_size(), 1);
  EXPECT_EQ(manifest.splits(0).name(), "train");
  EXPECT_EQ(manifest.splits(0).records(), 6u);
  EXPECT_EQ(manifest.splits(0).shards(0).file(), "train-00001-of-00003.shard");
  EXPECT_EQ(manifest.splits(0).skipped_size(), 1);
  const auto of_set = ReadManifestOf(folder_);
  ASSERT_TRUE(of_set.ok());
  EXPECT_EQ(manifest.dataset_id(), of_set->dataset_id());
  EXPECT_EQ(manifest.splits(0).shards(0).digest(), of_set->splits(0).shards(1).digest());
}

TEST_F(ShardSetTest, ShardOfAnotherSplitIsRefused) {
  const auto set = ShardSet::Open(Path("val-00000-of-00001.shard"), "train");
  EXPECT_EQ(set.status().code(), StatusCode::kInvalidArgument);
}

TEST_F(ShardSetTest, MissingManifestIsExplained) {
  std::filesystem::remove(Path("manifest.json"));
  const auto set = ShardSet::Open(folder_, "");
  EXPECT_EQ(set.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(set.status().message(), testing::HasSubstr("there are 4 shards"));
  EXPECT_THAT(set.status().message(),
              testing::HasSubstr("shardmill verify --rebuild-manifest " + folder_));
}

}  // namespace
}  // namespace shardmill
