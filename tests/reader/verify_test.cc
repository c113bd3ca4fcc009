#include "reader/verify.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/base/folder_lock.h"
#include "reader/manifest.h"
#include "reader/shard_reader.h"
#include "tests/reader/shard_testing.h"

namespace shardmill {
namespace {

using namespace testing_shards;  // NOLINT: the fixture's verbs
namespace fs = std::filesystem;

class VerifyTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = EmptyFolder("verify_test");
    WriteTestDataset(folder_);
    shard_ = folder_ + "/train-00001-of-00003.shard";
    manifest_ = folder_ + "/manifest.json";
  }

  VerifyReport Run(const std::string& path, int threads = 1) const {
    VerifyOptions options;
    options.threads = threads;
    const auto report = Verify(path, options);
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    return report.ok() ? *report : VerifyReport();
  }
  VerifyReport Run() const { return Run(folder_); }

  static std::vector<std::string> Lines(const VerifyReport& report) {
    std::vector<std::string> lines;
    for (const Finding& finding : report.findings) lines.push_back(FindingToString(finding));
    return lines;
  }
  // Whether some finding contains all of `parts`.
  static bool Says(const VerifyReport& report, const std::vector<std::string>& parts) {
    for (const std::string& line : Lines(report)) {
      bool all = true;
      for (const std::string& part : parts) all = all && line.find(part) != std::string::npos;
      if (all) return true;
    }
    ADD_FAILURE() << testing::PrintToString(parts) << " is not in "
                  << testing::PrintToString(Lines(report));
    return false;
  }

  void FlipByte(const std::string& path, uint64_t offset) const {
    std::string bytes = ReadBytes(path);
    bytes[offset] = static_cast<char>(bytes[offset] ^ 0x10);
    WriteBytes(path, bytes);
  }
  uint64_t BlockOffset(uint32_t block) const {
    return ShardReader::Open(shard_, ChecksumPolicy::kOff).value()->block(block).offset;
  }

  std::string folder_;
  std::string shard_;
  std::string manifest_;
};

// Layout of a block of ImageAndLabel with few records: one page each.
constexpr uint64_t kImagePage = 4096;
constexpr uint64_t kLabelPage = 2 * 4096;
constexpr uint64_t kMetaPage = 3 * 4096;
constexpr uint64_t kImageBytes = 4 * 6 * 3;

TEST_F(VerifyTest, SoundDatasetManifestAndSingleShard) {
  for (const std::string& path : {folder_, manifest_, folder_ + "/"}) {
    const VerifyReport report = Run(path);
    EXPECT_TRUE(report.sound()) << testing::PrintToString(Lines(report));
    EXPECT_EQ(report.shards, 4u);
    EXPECT_EQ(report.records, 22u);
    EXPECT_EQ(report.blocks, 2u + 2u + 2u + 1u);
  }
  const VerifyReport report = Run(shard_);
  EXPECT_TRUE(report.sound());
  EXPECT_EQ(report.shards, 1u);
  EXPECT_EQ(report.bytes, fs::file_size(shard_));
}

TEST_F(VerifyTest, AllDamageIsListedWithBlockRecordFieldAndKey) {
  FlipByte(shard_, BlockOffset(0) + kImagePage + 2 * kImageBytes + 5);
  FlipByte(shard_, BlockOffset(1) + kImagePage + kImageBytes);
  FlipByte(shard_, BlockOffset(1) + kMetaPage - 1);
  FlipByte(folder_ + "/val-00000-of-00001.shard", 0);
  const VerifyReport report = Run();
  EXPECT_EQ(report.findings.size(), 4u) << testing::PrintToString(Lines(report));
  EXPECT_TRUE(Says(report, {shard_ + ": block 0: record 2 (train/1/2.png): field image"}));
  EXPECT_TRUE(Says(report, {shard_ + ": block 1: record 5 (train/1/5.png): field image"}));
  EXPECT_TRUE(Says(report, {shard_ + ": block 1: field label", "padding"}));
  EXPECT_TRUE(Says(report, {"val-00000-of-00001.shard: ", "magic"}));
}

TEST_F(VerifyTest, DamagedCodedRecordIsOneFinding) {
  // Behind a table of five offsets: the start of the first zstd frame.
  FlipByte(shard_, BlockOffset(0) + kLabelPage + 5 * 8);
  const VerifyReport report = Run();
  EXPECT_EQ(report.findings.size(), 1u) << testing::PrintToString(Lines(report));
  EXPECT_TRUE(Says(report, {"block 0: record 0 (train/1/0.png): field label", "checksum"}));
}

TEST_F(VerifyTest, DamagedOffsetsAndMetadataAreListedPerRegion) {
  FlipByte(shard_, BlockOffset(0) + kLabelPage + 8);
  FlipByte(shard_, BlockOffset(1) + kMetaPage + 40);
  const VerifyReport report = Run();
  EXPECT_TRUE(Says(report, {"block 0: field label", "offsets"}));
  EXPECT_TRUE(Says(report, {"block 1: metadata"}));
}

TEST_F(VerifyTest, LostFooterOrPostscriptStillFindsDamageInBlocks) {
  const std::string sound = ReadBytes(shard_);
  for (const uint64_t from_end : {uint64_t{4096}, uint64_t{8192}}) {
    WriteBytes(shard_, sound);
    FlipByte(shard_, sound.size() - from_end + 9);
    FlipByte(shard_, sound.size() - 8192 - 4096 * 3 + kImageBytes);
    const VerifyReport report = Run();
    EXPECT_TRUE(Says(report, {"block 1: record 5 (train/1/5.png): field image"}));
    EXPECT_EQ(report.blocks, 7u);
  }
}

TEST_F(VerifyTest, LostSuperblockUsesTheSchemaOfTheManifest) {
  const uint64_t image = BlockOffset(1) + kImagePage;
  FlipByte(shard_, 100);
  FlipByte(shard_, image);
  EXPECT_TRUE(Says(Run(), {"block 1: record 4 (train/1/4.png): field image"}));
  const VerifyReport alone = Run(shard_);
  EXPECT_TRUE(Says(alone, {"schema is lost"}));
  EXPECT_EQ(alone.blocks, 2u);
}

TEST_F(VerifyTest, LostBlockHeaderCostsOnlyItsBlock) {
  const uint64_t block = BlockOffset(0);
  FlipByte(shard_, BlockOffset(1) + kImagePage);
  FlipByte(shard_, block + 48);
  const VerifyReport report = Run();
  EXPECT_TRUE(Says(report, {"block 0: ", "its 4 records cannot be checked"}));
  EXPECT_TRUE(Says(report, {"block 1: record 4"}));
}

TEST_F(VerifyTest, BlocksSwappedInsideAShardAndBetweenShards) {
  // All blocks of four records have the same size here.
  std::string bytes = ReadBytes(shard_);
  const std::string other_path = folder_ + "/train-00000-of-00003.shard";
  std::string other = ReadBytes(other_path);
  const uint64_t block = BlockOffset(0);
  const uint64_t block_bytes = BlockOffset(1) - block;
  for (uint64_t i = 0; i < block_bytes; ++i) std::swap(bytes[block + i], other[block + i]);
  WriteBytes(shard_, bytes);
  WriteBytes(other_path, other);
  const VerifyReport between = Run();
  EXPECT_TRUE(Says(between, {shard_, "block 0", "belongs elsewhere"}));
  EXPECT_TRUE(Says(between, {other_path, "block 0", "belongs elsewhere"}));

  const std::string folder = EmptyFolder("verify_swapped");
  const auto result = WriteTestShard(folder, PlanOf("t", 0, 1, 4), ImageAndLabel(), 8);
  const std::string path = folder + "/" + result->file;
  bytes = ReadBytes(path);
  for (uint64_t i = 0; i < block_bytes; ++i) {
    std::swap(bytes[block + i], bytes[block + block_bytes + i]);
  }
  WriteBytes(path, bytes);
  EXPECT_TRUE(Says(Run(path), {"block 0", "belongs elsewhere"}));
  EXPECT_TRUE(Says(Run(path), {"block 1", "belongs elsewhere"}));
}

TEST_F(VerifyTest, ManifestDamagedMissingOrMadeUp) {
  const proto::Manifest sound = ReadManifest(folder_).value();
  FlipByte(manifest_, ReadBytes(manifest_).find("road"));
  EXPECT_TRUE(Says(Run(), {manifest_, "digest"}));
  fs::remove(manifest_);
  EXPECT_TRUE(Says(Run(), {manifest_, "not finished"}));
  EXPECT_EQ(Run().records, 22u);

  proto::Manifest edited = sound;
  edited.mutable_classes(1)->set_name("street");
  ASSERT_TRUE(WriteManifest(folder_, edited).ok());
  EXPECT_TRUE(Says(Run(), {shard_, "another schema"}));
  edited = sound;
  edited.mutable_splits(0)->mutable_statistics()->set_class_pixels(0, 1);
  ASSERT_TRUE(WriteManifest(folder_, edited).ok());
  EXPECT_TRUE(Says(Run(), {manifest_, "split train: statistics"}));
  edited = sound;
  edited.mutable_splits(0)->mutable_skipped(0)->set_reason("none");
  ASSERT_TRUE(WriteManifest(folder_, edited).ok());
  EXPECT_TRUE(Says(Run(), {manifest_, "skipped"}));
}

TEST_F(VerifyTest, MissingStaleAndLeftOverShards) {
  ASSERT_TRUE(WriteTestShard(folder_, PlanOf("train", 1, 3, 4), ImageAndLabel(), 8).ok());
  ASSERT_TRUE(WriteTestShard(folder_, PlanOf("train", 0, 2, 4), ImageAndLabel(), 2).ok());
  fs::remove(folder_ + "/train-00002-of-00003.shard");
  const VerifyReport report = Run();
  EXPECT_TRUE(Says(report, {shard_, "the manifest says 6"}));
  EXPECT_TRUE(Says(report, {"train-00000-of-00002.shard", "left over"}));
  EXPECT_TRUE(Says(report, {"train-00002-of-00003.shard", "does not exist"}));
}

TEST_F(VerifyTest, KeysThatOccurTwiceAreListedWithBothPlaces) {
  const std::string folder = EmptyFolder("verify_duplicates");
  // The keys of a test shard depend on split and number, so take those of shard 0 twice.
  for (uint32_t k = 0; k < 2; ++k) {
    const ShardPlan plan = PlanOf("train", k, 2, 4);
    auto writer = ShardWriter::Create(folder, plan, ImageAndLabel(), proto::Recipe()).value();
    for (uint64_t i = 0; i < 5; ++i) {
      const ShardPlan source = PlanOf("train", i == 3 ? 0 : k, 2, 4);
      ASSERT_TRUE(writer->Append(EncodeTestRecord(ImageAndLabel(), source, i)).ok());
    }
    ASSERT_TRUE(writer->Close(proto::ShardSummary()).ok());
  }
  ASSERT_TRUE(WriteManifest(folder, RebuildManifest(folder).value()).ok());
  const VerifyReport report = Run(folder);
  EXPECT_EQ(report.findings.size(), 1u);
  EXPECT_TRUE(Says(report, {"train-00001-of-00002.shard: block 0: record 3 (train/0/3.png)",
                            "record 3 of", "train-00000-of-00002.shard"}));
}

TEST_F(VerifyTest, ThreadsAndAccessDoNotChangeTheReport) {
  // Forty blocks in one shard, some damaged: threads share them.
  ASSERT_TRUE(WriteTestShard(folder_, PlanOf("many", 0, 1, 4), ImageAndLabel(), 160).ok());
  const std::string many = folder_ + "/many-00000-of-00001.shard";
  FlipByte(shard_, BlockOffset(0) + kImagePage);
  FlipByte(folder_ + "/train-00000-of-00003.shard", 4096);
  FlipByte(folder_ + "/val-00000-of-00001.shard", 3 * 4096 + 17);
  for (const uint64_t page : {5, 30, 31, 77, 140}) FlipByte(many, 8192 + 4096 * page + 60);
  const VerifyReport one = Run();
  EXPECT_GT(one.findings.size(), 7u);
  for (const FileAccess access : {FileAccess::kMapped, FileAccess::kPread}) {
    for (const int threads : {1, 2, 5}) {
      VerifyOptions options;
      options.threads = threads;
      options.access = access;
      const auto other = Verify(folder_, options);
      ASSERT_TRUE(other.ok());
      EXPECT_EQ(Lines(one), Lines(*other));
      EXPECT_EQ(one.records, other->records);
      EXPECT_EQ(one.blocks, other->blocks);
    }
  }
}

TEST_F(VerifyTest, DuplicatesAreFoundInAnyNumberOfPasses) {
  fs::copy_file(shard_, folder_ + "/copy-00001-of-00003.shard");
  for (const int threads : {1, 3}) {
    VerifyOptions options;
    options.threads = threads;
    options.max_keys_in_memory = 1;  // so that each pass keeps one part of 256
    const auto report = Verify(folder_, options);
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(Lines(*report), Lines(Run()));
    EXPECT_TRUE(Says(*report, {"copy-00001-of-00003.shard: block 1: record 5 (train/1/5.png)",
                               "also that of record 5 of", shard_}));
  }
}

TEST_F(VerifyTest, ProgressEndsAtTheTotalAndCancellingStops) {
  VerifyOptions options;
  options.threads = 3;
  uint64_t last = 0;
  uint64_t total = 0;
  options.progress = [&](uint64_t done, uint64_t all) {
    EXPECT_GT(done, last);
    last = done;
    total = all;
  };
  const auto report = Verify(folder_, options);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(last, total);
  EXPECT_EQ(total, report->bytes);

  std::atomic<int> asked = 0;
  options.progress = nullptr;
  options.cancelled = [&] { return ++asked == 2; };
  EXPECT_EQ(Verify(folder_, options).status().code(), StatusCode::kCancelled);
}

TEST_F(VerifyTest, ShardThatIsCutMeanwhileIsAFinding) {
  VerifyOptions options;
  options.progress = [&](uint64_t, uint64_t) { fs::resize_file(shard_, 4096); };
  const auto report = Verify(shard_, options);
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(Says(*report, {shard_, "block 1", "was cut while it was in use"}));
}

TEST_F(VerifyTest, CutWhileItIsReadWithPreadIsAFinding) {
  VerifyOptions options;
  options.access = FileAccess::kPread;
  options.progress = [&](uint64_t, uint64_t) { fs::resize_file(shard_, 4096); };
  const auto report = Verify(shard_, options);
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(Says(*report, {shard_, "block 1", "was cut while it was in use"}));
}

TEST_F(VerifyTest, TinyAndMissingShardsAreSaidOnce) {
  fs::resize_file(shard_, 6);
  fs::remove(folder_ + "/val-00000-of-00001.shard");
  const VerifyReport report = Run();
  EXPECT_EQ(report.findings.size(), 3u) << testing::PrintToString(Lines(report));
  EXPECT_TRUE(Says(report, {shard_, "the file has 6 bytes"}));
  EXPECT_TRUE(Says(report, {shard_, "the block table is lost; 0 blocks were found"}));
  EXPECT_TRUE(Says(report, {"val-00000-of-00001.shard does not exist, the manifest names it"}));
}

TEST_F(VerifyTest, ShardThatIsNoFileIsSaidOnce) {
  const std::string unnamed = folder_ + "/test-00000-of-00001.shard";
  for (const bool pipe : {false, true}) {
    for (const std::string& path : {shard_, unnamed}) {
      fs::remove(path);
      pipe ? (void)mkfifo(path.c_str(), 0600) : (void)fs::create_directory(path);
    }
    const VerifyReport report = Run();
    EXPECT_EQ(report.findings.size(), 2u) << testing::PrintToString(Lines(report));
    EXPECT_TRUE(Says(report, {shard_, "is not a regular file"}));
    EXPECT_TRUE(Says(report, {unnamed, "the manifest does not name this shard"}));
    EXPECT_EQ(Verify(shard_, {}).status().code(),
              pipe ? StatusCode::kInvalidArgument : StatusCode::kNotFound);
  }
}

TEST_F(VerifyTest, NothingToVerifyIsAnError) {
  EXPECT_EQ(Verify(folder_ + "/none", {}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Verify(EmptyFolder("verify_empty"), {}).status().code(), StatusCode::kNotFound);
}

TEST_F(VerifyTest, ForeignAndEmptyFilesAreFindings) {
  for (const std::string& content : {std::string(), std::string("PNG"), std::string(50000, 'x')}) {
    WriteBytes(shard_, content);
    EXPECT_FALSE(Run(shard_).sound());
    EXPECT_TRUE(Says(Run(), {shard_}));
  }
}

// Neither the old set nor the new one is damaged.
TEST_F(VerifyTest, SetThatIsReplacedMeanwhileIsNoDamage) {
  proto::Manifest other = *ReadManifest(folder_);
  other.mutable_recipe()->set_layout("another");
  VerifyOptions options;
  options.progress = [&](uint64_t, uint64_t) {
    ASSERT_TRUE(WriteManifest(folder_, other).ok());
    fs::resize_file(shard_, 4096);
  };
  Status status = Verify(folder_, options).status();
  EXPECT_EQ(status.code(), StatusCode::kIo) << status.ToString();
  EXPECT_NE(status.message().find("another data set took the place"), std::string::npos);
  fs::create_directory(folder_ + "/.shardmill-incoming");
  fs::rename(manifest_, folder_ + "/.shardmill-incoming/manifest.json");
  EXPECT_TRUE(Says(Run(), {manifest_, "a pack with --overwrite that was stopped"}));
  const auto lock = FolderLock::TryAcquire(folder_);
  ASSERT_TRUE(lock.ok() && lock->has_value());
  status = Verify(folder_, {}).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound) << status.ToString();
  EXPECT_NE(status.message().find("a pack with --overwrite is at work in"), std::string::npos);
}

}  // namespace
}  // namespace shardmill
