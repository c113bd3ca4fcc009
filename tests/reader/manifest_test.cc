#include "reader/manifest.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "proto/manifest.pb.h"
#include "proto/schema.pb.h"
#include "tests/reader/shard_testing.h"

namespace shardmill {
namespace {

using namespace testing_shards;  // NOLINT: the fixture's verbs
namespace fs = std::filesystem;

class ManifestTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = EmptyFolder("manifest_test");
    WriteTestDataset(folder_);
    path_ = folder_ + "/manifest.json";
  }
  Status Read() const { return ReadManifest(folder_).status(); }
  Status Rebuild() const { return RebuildManifest(folder_).status(); }
  std::string Shard(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
  std::string path_;
};

TEST_F(ManifestTest, ComesBackAsItWasWritten) {
  const auto manifest = ReadManifest(folder_);
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  ASSERT_EQ(manifest->splits_size(), 2);
  EXPECT_EQ(manifest->splits(0).name(), "train");
  EXPECT_EQ(manifest->splits(0).records(), 5u + 6u + 7u);
  EXPECT_EQ(manifest->splits(0).shards(2).file(), "train-00002-of-00003.shard");
  EXPECT_EQ(manifest->splits(0).statistics().records(), 18u);
  EXPECT_EQ(manifest->splits(0).statistics().class_pixels(0), 7u + 8u + 9u);
  EXPECT_EQ(manifest->splits(0).skipped_size(), 3);
  EXPECT_EQ(manifest->splits(1).name(), "val");
  EXPECT_EQ(manifest->recipe().layout(), "camvid");
  EXPECT_EQ(manifest->ignore(), 255u);
}

TEST_F(ManifestTest, RebuiltFromTheShardsIsByteForByteTheSame) {
  const std::string before = ReadBytes(path_);
  fs::remove(path_);
  EXPECT_EQ(Read().code(), StatusCode::kNotFound);
  ASSERT_TRUE(WriteManifest(folder_, RebuildManifest(folder_).value()).ok());
  EXPECT_EQ(ReadBytes(path_), before);
}

// FORMAT.md: the digest covers the meaning of the JSON text, not its white space.
TEST_F(ManifestTest, EveryFlippedByteIsFoundOrChangesNothing) {
  const std::string before = ReadManifest(folder_)->SerializeAsString();
  const std::string sound = ReadBytes(path_);
  size_t harmless = 0;
  for (size_t i = 0; i < sound.size(); ++i) {
    // Another bit at each place; bit 5 turns letters into their other case.
    std::string damaged = sound;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    WriteBytes(path_, damaged);
    const auto manifest = ReadManifest(folder_);
    if (!manifest.ok()) continue;
    ++harmless;
    EXPECT_EQ(manifest->SerializeAsString(), before) << "byte " << i;
  }
  EXPECT_LT(harmless, sound.size() / 8);
}

TEST_F(ManifestTest, CutsAreFound) {
  const std::string sound = ReadBytes(path_);
  // The last byte is the newline behind the closing brace.
  for (size_t bytes = 0; bytes + 1 < sound.size(); bytes += 3) {
    WriteBytes(path_, sound.substr(0, bytes));
    EXPECT_EQ(Read().code(), StatusCode::kDataLoss) << bytes;
  }
}

TEST_F(ManifestTest, EditedNumbersNamesAndIdsAreFound) {
  const std::string sound = ReadBytes(path_);
  const auto edited = [&](const std::string& from, const std::string& to) {
    std::string text = sound;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    WriteBytes(path_, text);
    const Status status = Read();
    EXPECT_NE(status.message().find(path_), std::string::npos) << status.ToString();
    return status.code();
  };
  EXPECT_EQ(edited("\"road\"", "\"rood\""), StatusCode::kDataLoss);
  EXPECT_EQ(edited("\"records\": \"18\"", "\"records\": \"19\""), StatusCode::kDataLoss);
  EXPECT_EQ(edited("train-00000", "../rain-00000"), StatusCode::kDataLoss);
  EXPECT_EQ(edited("\"ignore\": 255,", ""), StatusCode::kDataLoss);
  EXPECT_EQ(edited("\"formatVersion\": 1", "\"formatVersion\": 2"), StatusCode::kInvalidArgument);
  EXPECT_EQ(edited("{", "{ \"unknown\": 1,"), StatusCode::kDataLoss);
}

TEST_F(ManifestTest, NoFormatVersionIsDamageNotANewerFormat) {
  for (const char* text : {"{}", "{\"formatVersion\": 0}"}) {
    WriteBytes(path_, text);
    const Status status = Read();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << text;
    EXPECT_NE(status.message().find(path_), std::string::npos) << status.message();
    EXPECT_EQ(status.message().find("newer"), std::string::npos) << status.message();
  }
}

TEST_F(ManifestTest, WriterRefusesWhatTheReaderWould) {
  const proto::Manifest sound = ReadManifest(folder_).value();
  const std::string before = ReadBytes(path_);
  proto::Manifest manifest = sound;
  manifest.mutable_splits(0)->mutable_shards(0)->set_file("/etc/passwd");
  EXPECT_EQ(WriteManifest(folder_, manifest).code(), StatusCode::kInvalidArgument);
  manifest = sound;
  manifest.mutable_splits(0)->set_records(1);
  EXPECT_EQ(WriteManifest(folder_, manifest).code(), StatusCode::kInvalidArgument);
  manifest = sound;
  manifest.mutable_recipe()->set_layout("\xFF");
  EXPECT_EQ(WriteManifest(folder_, manifest).code(), StatusCode::kInvalidArgument);
  manifest = sound;
  manifest.clear_splits();
  EXPECT_EQ(WriteManifest(folder_, manifest).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadBytes(path_), before);
}

TEST_F(ManifestTest, RebuildingNamesTheMissingShard) {
  fs::remove(Shard("train-00001-of-00003.shard"));
  const Status status = Rebuild();
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("train-00001-of-00003.shard is missing"), std::string::npos);
}

TEST_F(ManifestTest, RebuildingRefusesShardsThatDoNotBelongTogether) {
  fs::rename(Shard("val-00000-of-00001.shard"), Shard("test-00000-of-00001.shard"));
  EXPECT_NE(Rebuild().message().find("renamed"), std::string::npos);
  fs::remove(Shard("test-00000-of-00001.shard"));

  ShardPlan other = PlanOf("val", 0, 1, 4);
  other.dataset_id = Digest128("another data set");
  ASSERT_TRUE(WriteTestShard(folder_, other, ImageAndLabel(), 3).ok());
  EXPECT_NE(Rebuild().message().find("another data set"), std::string::npos);

  ASSERT_TRUE(WriteTestShard(folder_, PlanOf("train", 0, 2, 4), ImageAndLabel(), 3).ok());
  EXPECT_NE(Rebuild().message().find("of 2 and of 3"), std::string::npos);
}

TEST_F(ManifestTest, RebuildingIgnoresOtherFilesAndNeedsShards) {
  WriteBytes(Shard("notes.txt"), "x");
  WriteBytes(Shard("train-00000-of-00003.shard.tmp-1"), "x");
  EXPECT_TRUE(Rebuild().ok());
  EXPECT_EQ(RebuildManifest(EmptyFolder("no_shards")).status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(RebuildManifest(folder_ + "/none").ok());
}

}  // namespace
}  // namespace shardmill
