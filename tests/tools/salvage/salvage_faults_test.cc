#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/base/folder_lock.h"
#include "reader/dataset.h"
#include "reader/manifest.h"
#include "reader/named_shards.h"
#include "reader/verify.h"
#include "tests/reader/base/no_threads.h"
#include "tests/reader/shard_testing.h"
#include "tools/salvage/salvage.h"

namespace shardmill {
namespace {

using namespace testing_shards;  // NOLINT: the fixture's verbs
namespace fs = std::filesystem;

// As long as an object lives, this thread has no more rights to files than any other user.
class NoPrivileges {
 public:
  NoPrivileges() {
    EXPECT_EQ(::syscall(SYS_capget, &header_, before_), 0);
    __user_cap_data_struct none[2] = {before_[0], before_[1]};
    none[0].effective = none[1].effective = 0;
    EXPECT_EQ(::syscall(SYS_capset, &header_, none), 0);
  }
  ~NoPrivileges() { EXPECT_EQ(::syscall(SYS_capset, &header_, before_), 0); }

 private:
  __user_cap_header_struct header_ = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct before_[2] = {};
};

class SalvageFaults : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = EmptyFolder("salvage_faults");
    out_ = folder_ + "_out";
    fs::remove_all(out_);
    WriteTestDataset(folder_);
    shard_ = folder_ + "/" + kName;
    sound_ = ReadBytes(shard_);
  }

  SalvageReport Run(int threads = 1) const {
    fs::remove_all(out_);
    SalvageOptions options;
    options.threads = threads;
    const auto report = Salvage(folder_, out_, options);
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    if (!report.ok()) return SalvageReport();
    EXPECT_TRUE(Verify(out_, {})->sound());
    return *report;
  }
  Status RunStatus() const {
    fs::remove_all(out_);
    return Salvage(folder_, out_, {}).status();
  }
  // Complete, of the same data set, place and schema, but with one record more.
  std::string StaleShard() const {
    const std::string other = EmptyFolder("salvage_stale");
    const auto result = WriteTestShard(other, PlanOf("train", 1, 3, 4), ImageAndLabel(), 7);
    EXPECT_TRUE(result.ok());
    return ReadBytes(other + "/" + kName);
  }
  // The folder becomes a set of one shard of seven blocks of equal size.
  void WriteSevenBlocks() {
    folder_ = EmptyFolder("salvage_seven");
    ASSERT_TRUE(WriteTestShard(folder_, PlanOf("train", 0, 1, 4), ImageAndLabel(), 28).ok());
    ASSERT_TRUE(WriteManifest(folder_, RebuildManifest(folder_).value()).ok());
    shard_ = folder_ + "/train-00000-of-00001.shard";
    sound_ = ReadBytes(shard_);
  }

  const std::string kName = "train-00001-of-00003.shard";
  std::string folder_;
  std::string out_;
  std::string shard_;
  std::string sound_;
};

TEST_F(SalvageFaults, StaleShardOfAnotherNameDoesNotWin) {
  const std::string stale = StaleShard();
  for (const char* name : {"train-00000-of-00009.shard", "train-00008-of-00009.shard"}) {
    WriteBytes(folder_ + "/" + name, stale);
    const SalvageReport report = Run();
    EXPECT_TRUE(report.losses.empty());
    EXPECT_EQ(report.dataset_id, report.source_id);
    EXPECT_EQ(ReadBytes(out_ + "/" + kName), sound_);
    ASSERT_EQ(report.remarks.size(), 1u);
    EXPECT_NE(report.remarks[0].find("not the one that the manifest names"), std::string::npos);
    // The one of the manifest is taken even when its name went to the stale one.
    fs::rename(shard_, folder_ + "/kept");
    fs::rename(folder_ + "/" + name, shard_);
    fs::rename(folder_ + "/kept", folder_ + "/" + name);
    EXPECT_TRUE(Run().losses.empty());
    EXPECT_EQ(ReadBytes(out_ + "/" + kName), sound_);
    WriteBytes(shard_, sound_);
    fs::remove(folder_ + "/" + name);
  }
}

TEST_F(SalvageFaults, WithoutAManifestTheRightNameDecides) {
  fs::remove(folder_ + "/manifest.json");
  for (const char* name : {"train-00000-of-00009.shard", "train-00008-of-00009.shard"}) {
    WriteBytes(folder_ + "/" + name, StaleShard());
    EXPECT_EQ(Run().records, 22u);
    fs::remove(folder_ + "/" + name);
  }
}

TEST_F(SalvageFaults, StaleShardInPlaceIsToldAndChangesTheId) {
  WriteBytes(shard_, StaleShard());
  const SalvageReport report = Run();
  EXPECT_EQ(report.records, 23u);
  ASSERT_EQ(report.losses.size(), 1u);
  EXPECT_EQ(report.losses[0].file, shard_);
  EXPECT_NE(report.losses[0].reason.find("not the one that the manifest names"), std::string::npos);
  EXPECT_TRUE(report.lost_uncounted);
  EXPECT_NE(report.dataset_id, report.source_id);
}

TEST_F(SalvageFaults, ManifestOfAnotherPackingIsLeftAside) {
  const std::string other = EmptyFolder("salvage_packing");
  for (uint32_t k = 0; k < 2; ++k) {
    ASSERT_TRUE(WriteTestShard(other, PlanOf("train", k, 2, 4), ImageAndLabel(), 5).ok());
  }
  ASSERT_TRUE(WriteManifest(folder_, RebuildManifest(other).value()).ok());
  const SalvageReport report = Run();
  EXPECT_EQ(report.records, 22u);
  EXPECT_FALSE(report.has_manifest);
  ASSERT_EQ(report.losses.size(), 1u);
  EXPECT_EQ(report.losses[0].file, folder_ + "/manifest.json");
  EXPECT_EQ(report.losses[0].records, 0u);
  EXPECT_NE(report.losses[0].reason.find("names none of the shards"), std::string::npos);
  EXPECT_NE(report.dataset_id, report.source_id);
  for (const char* split : {"train", ""}) {
    const Status status = Dataset::Open(folder_, split).status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_NE(status.message().find("of-00002.shard does not exist"), std::string::npos);
    EXPECT_NE(status.message().find(kNamesNone), std::string::npos) << status.message();
  }
  const VerifyReport verified = Verify(folder_, {}).value();
  ASSERT_FALSE(verified.sound());
  EXPECT_EQ(verified.findings[0].file, folder_ + "/manifest.json");
  EXPECT_EQ(verified.findings[0].message, kNamesNone);
}

TEST_F(SalvageFaults, ManifestOfAnotherPackingStillTellsOfMissingSplits) {
  const std::string other = EmptyFolder("salvage_packing");
  ASSERT_TRUE(WriteTestShard(other, PlanOf("train", 0, 1, 4), ImageAndLabel(), 5).ok());
  ASSERT_TRUE(WriteTestShard(other, PlanOf("val", 0, 1, 4), ImageAndLabel(), 4).ok());
  ASSERT_TRUE(WriteManifest(folder_, RebuildManifest(other).value()).ok());
  fs::remove(folder_ + "/val-00000-of-00001.shard");
  const SalvageReport report = Run();
  EXPECT_EQ(report.records, 18u);
  EXPECT_EQ(report.lost_records, 4u);
  ASSERT_EQ(report.losses.size(), 2u);
  EXPECT_EQ(report.losses[1].reason, "it tells of split val, of which no shard is there");
}

TEST_F(SalvageFaults, ShardOfANewerFormatIsNotReadAsAnOldOne) {
  for (const bool version : {false, true}) {
    std::string bytes = sound_;
    version ? SetU32(8, 2, &bytes) : SetU64(32, 1, &bytes);
    ResealSuperblock(&bytes);
    WriteBytes(shard_, bytes);
    const SalvageReport report = Run();
    EXPECT_EQ(report.records, 16u);
    ASSERT_EQ(report.losses.size(), 1u);
    EXPECT_EQ(report.losses[0].records, 6u);
    EXPECT_NE(report.losses[0].reason.find("needs a newer reader"), std::string::npos);
    EXPECT_NE(report.dataset_id, report.source_id);
    for (const std::string& path : {folder_, shard_}) {
      const VerifyReport verified = Verify(path, {}).value();
      ASSERT_EQ(verified.findings.size(), 1u);
      EXPECT_NE(verified.findings[0].message.find("needs a newer reader"), std::string::npos);
      EXPECT_TRUE(verified.needs_newer_reader());
      EXPECT_EQ(verified.blocks, path == folder_ ? 5u : 0u);
    }
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == ".shard") WriteBytes(entry.path(), bytes);
    }
    EXPECT_EQ(RunStatus().code(), StatusCode::kInvalidArgument);
    WriteTestDataset(folder_);
  }
}

TEST_F(SalvageFaults, GoesOnWithTheThreadsThatThereAre) {
  const NoThreads no_threads;
  EXPECT_TRUE(Run(64).losses.empty());
  VerifyOptions options;
  options.threads = 64;
  const auto report = Verify(folder_, options);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_TRUE(report->sound());
  EXPECT_EQ(report->records, 22u);
}

TEST_F(SalvageFaults, MisplacedBlockCostsNoOtherWithoutATable) {
  WriteSevenBlocks();
  constexpr uint64_t kBlock = 4 * 4096;
  const std::vector<std::vector<std::pair<uint64_t, uint64_t>>> moves = {
      {{6, 1}}, {{5, 0}}, {{1, 5}}, {{0, 6}}, {{5, 1}, {6, 2}}};
  for (const auto& move : moves) {
    std::string bytes = sound_;
    for (const auto& [from, to] : move) {
      bytes.replace(8192 + to * kBlock, kBlock, sound_, 8192 + from * kBlock, kBlock);
    }
    bytes[bytes.size() - 8192 + 70] ^= 1;  // footer
    bytes[bytes.size() - 4096 + 30] ^= 1;  // postscript
    WriteBytes(shard_, bytes);
    EXPECT_EQ(Run().records, 28u - 4 * move.size()) << move[0].first << move[0].second;
  }
}

TEST_F(SalvageFaults, FooterIsFoundWithoutAPostscript) {
  WriteSevenBlocks();
  for (int kind = 0; kind < 4; ++kind) {
    std::string bytes = sound_;
    if (kind == 0) bytes[bytes.size() - 4096 + 30] ^= 1;
    if (kind == 1) bytes += "behind the end";
    if (kind == 2) bytes += sound_;  // another footer follows
    if (kind == 3) bytes.resize(bytes.size() - 4096);
    WriteBytes(shard_, bytes);
    EXPECT_FALSE(Verify(folder_, {})->sound()) << kind;
    const SalvageReport report = Run();
    EXPECT_TRUE(report.losses.empty()) << kind;
    EXPECT_EQ(report.dataset_id, report.source_id) << kind;
    EXPECT_EQ(ReadBytes(out_ + "/train-00000-of-00001.shard"), sound_) << kind;
  }
}

TEST_F(SalvageFaults, FileThatCannotBeReadStopsInsteadOfBeingLost) {
  for (const std::string& path : {shard_, folder_ + "/manifest.json"}) {
    fs::permissions(path, fs::perms::none);
    {
      const NoPrivileges no_privileges;
      EXPECT_EQ(Verify(folder_, {}).status().code(), StatusCode::kIo);
      const Status status = RunStatus();
      EXPECT_EQ(status.code(), StatusCode::kIo);
      EXPECT_NE(status.message().find(path + ": Permission denied"), std::string::npos)
          << status.message();
      EXPECT_FALSE(fs::exists(out_));
    }
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  }
}

// Neither the old set nor the new one is damaged.
TEST_F(SalvageFaults, SetThatIsReplacedMeanwhileIsNotSalvaged) {
  proto::Manifest other = *ReadManifest(folder_);
  other.mutable_recipe()->set_layout("another");
  SalvageOptions options;
  options.threads = 1;
  bool done = false;
  options.progress = [&](uint64_t, uint64_t) {
    if (std::exchange(done, true)) return;
    EXPECT_TRUE(WriteManifest(folder_, other).ok());
    fs::resize_file(shard_, 4096);
  };
  Status status = Salvage(folder_, out_, options).status();
  EXPECT_EQ(status.code(), StatusCode::kIo) << status.ToString();
  EXPECT_NE(status.message().find("another data set took the place"), std::string::npos);
  fs::create_directory(folder_ + "/.shardmill-incoming");
  fs::rename(folder_ + "/manifest.json", folder_ + "/.shardmill-incoming/manifest.json");
  {
    const auto lock = FolderLock::TryAcquire(folder_);
    ASSERT_TRUE(lock.ok() && lock->has_value());
    status = RunStatus();
    EXPECT_EQ(status.code(), StatusCode::kNotFound) << status.ToString();
    EXPECT_NE(status.message().find("a pack with --overwrite is at work in"), std::string::npos);
    EXPECT_FALSE(fs::exists(out_));
  }
  EXPECT_TRUE(RunStatus().ok());
}

TEST_F(SalvageFaults, RenamedShardAloneIsAFinding) {
  const std::string renamed = folder_ + "/train-00002-of-00004.shard";
  fs::rename(shard_, renamed);
  const VerifyReport report = Verify(renamed, {}).value();
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_NE(report.findings[0].message.find("says that it is " + kName), std::string::npos);
  fs::rename(renamed, folder_ + "/any.name");
  EXPECT_TRUE(Verify(folder_ + "/any.name", {})->sound());
}

}  // namespace
}  // namespace shardmill
