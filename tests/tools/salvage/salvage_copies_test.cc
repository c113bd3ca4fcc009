// What salvage takes from elsewhere than the shard itself: from other copies of it, from the
// manifest; and what it does about other salvages to the same folder.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/base/file.h"
#include "reader/base/folder_lock.h"
#include "reader/manifest.h"
#include "reader/verify.h"
#include "tests/reader/shard_testing.h"
#include "tools/salvage/salvage.h"

namespace shardmill {
namespace {

using namespace testing_shards;  // NOLINT: the fixture's verbs
namespace fs = std::filesystem;

constexpr char kMark[] = ".shardmill-salvage";

class SalvageCopies : public testing::Test {
 protected:
  void SetUp() override {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = EmptyFolder("salvage_copies_" + name);
    out_ = folder_ + "_out";
    fs::remove_all(out_);
    for (const std::string& remnant : Remnants()) fs::remove_all(remnant);
    WriteTestDataset(folder_);
    shard_ = folder_ + "/" + name_;
    copy_ = folder_ + "/train-00000-of-00009.shard";
    sound_ = ReadBytes(shard_);
    manifest_ = ReadManifest(folder_).value();
  }

  Result<SalvageReport> TryRun() const {
    fs::remove_all(out_);
    return Salvage(folder_, out_, {});
  }
  SalvageReport Run() const {
    const auto report = TryRun();
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    if (!report.ok()) return SalvageReport();
    EXPECT_TRUE(Verify(out_, {})->sound());
    return *report;
  }
  // Folders that are called like the new set while it is made.
  std::vector<std::string> Remnants() const {
    std::vector<std::string> remnants;
    for (const auto& entry : fs::directory_iterator(fs::path(out_).parent_path())) {
      const std::string name = entry.path().filename().string();
      const std::string prefix = FileName(out_) + ".tmp-";
      if (name.rfind(prefix, 0) == 0) remnants.push_back(out_ + name.substr(prefix.size() - 5));
    }
    return remnants;
  }
  static std::string Flipped(std::string bytes, const std::vector<uint64_t>& places) {
    for (const uint64_t at : places) bytes[at] ^= 1;
    return bytes;
  }
  std::vector<std::string> SkippedKeys(const std::string& folder) const {
    std::vector<std::string> keys;
    const proto::Manifest manifest = ReadManifest(folder).value();
    for (const proto::Split& split : manifest.splits()) {
      for (const proto::SkippedInput& skipped : split.skipped()) keys.push_back(skipped.key());
    }
    return keys;
  }
  // The folder becomes a set of one shard, of 6 records in 2 blocks.
  void KeepOneShard() {
    folder_ = EmptyFolder("salvage_copies_one");
    ASSERT_TRUE(WriteTestShard(folder_, PlanOf("train", 0, 1, 4), ImageAndLabel(), 6).ok());
    ASSERT_TRUE(WriteManifest(folder_, RebuildManifest(folder_).value()).ok());
    name_ = "train-00000-of-00001.shard";
    shard_ = folder_ + "/" + name_;
    copy_ = folder_ + "/train-00000-of-00009.shard";
    sound_ = ReadBytes(shard_);
  }
  void LoseFooter(uint32_t number) const {
    const std::string path = folder_ + "/train-0000" + std::to_string(number) + "-of-00003.shard";
    const std::string bytes = ReadBytes(path);
    WriteBytes(path, Flipped(bytes, {bytes.size() - 8192 + 70}));
  }

  std::string name_ = "train-00001-of-00003.shard";  // 6 records in 2 blocks
  std::string folder_;
  std::string out_;
  std::string shard_;
  std::string copy_;
  std::string sound_;
  proto::Manifest manifest_;
};

TEST_F(SalvageCopies, CopiesThatAreDamagedInDifferentPlacesAreUnited) {
  KeepOneShard();
  constexpr uint64_t kBlock = 8192, kImageBytes = 4 * 6 * 3;
  const uint64_t label = kBlock + GetU64(kBlock + 128 + 32 + 8, sound_);
  const uint64_t second = kBlock + GetU64(kBlock + 64, sound_);
  const std::map<std::string, uint64_t> parts = {
      {"superblock", 20},
      {"schema", 4096 + 3},
      {"header", kBlock + 50},
      {"image of record 2", kBlock + 4096 + 2 * kImageBytes},
      {"padding of images", kBlock + 4096 + 4 * kImageBytes + 1},
      {"offsets of labels", label + 3},
      {"label of record 1", label + 8 * 5 + GetU64(label + 8, sound_)},
      {"metadata", kBlock + GetU64(kBlock + 72, sound_) + 50},
      {"second header", second + 60},
      {"footer", sound_.size() - 8192 + 70},
      {"postscript", sound_.size() - 100}};
  bool swapped = false;
  int pair = 0;
  for (const auto& [one, at] : parts) {
    for (const auto& [other, other_at] : parts) {
      if (one >= other) continue;
      if (++pair % 2 == 0) continue;  // each part still meets several others
      swapped = !swapped;
      SCOPED_TRACE(one + " and " + other);
      WriteBytes(swapped ? copy_ : shard_, Flipped(sound_, {at}));
      WriteBytes(swapped ? shard_ : copy_, Flipped(sound_, {other_at}));
      const SalvageReport report = Run();
      EXPECT_TRUE(report.losses.empty());
      EXPECT_EQ(report.dataset_id, report.source_id);
      EXPECT_TRUE(ReadBytes(out_ + "/" + name_) == sound_);
      EXPECT_FALSE(fs::exists(out_ + "/.mended"));
      EXPECT_EQ(report.remarks.size(), 1u);
    }
  }
}

TEST_F(SalvageCopies, UnionIsToldAndWhatNoCopyHasIsLost) {
  constexpr uint64_t kImages = 8192 + 4096, kImageBytes = 4 * 6 * 3;
  WriteBytes(shard_, Flipped(sound_, {kImages, kImages + kImageBytes}));
  WriteBytes(copy_, Flipped(sound_, {kImages + kImageBytes, kImages + 2 * kImageBytes}));
  const SalvageReport report = Run();
  EXPECT_EQ(report.records, 21u);
  ASSERT_EQ(report.losses.size(), 1u);
  EXPECT_EQ(report.losses[0].record, 1u);
  EXPECT_EQ(report.losses[0].file.find(".mended"), std::string::npos) << report.losses[0].file;
  ASSERT_EQ(report.remarks.size(), 1u);
  EXPECT_NE(report.remarks[0].find("what was damaged in one was taken from the other"),
            std::string::npos)
      << report.remarks[0];
}

TEST_F(SalvageCopies, LaterHalfOfOneAndFormerHalfOfTheOtherAreUnited) {
  const uint64_t second = 8192 + GetU64(8192 + 64, sound_);
  WriteBytes(shard_, sound_.substr(0, second + 8192));  // cut in its second block
  WriteBytes(copy_, std::string(8192 + 4096, '\xAA') + sound_.substr(8192 + 4096));
  const SalvageReport report = Run();
  EXPECT_TRUE(report.losses.empty());
  EXPECT_TRUE(ReadBytes(out_ + "/" + name_) == sound_);
}

TEST_F(SalvageCopies, FilesOfWhichNothingSaysThatTheyAreCopiesAreNotUnited) {
  // Of the same place and schema, and most of its records are the same, but it is another shard.
  const std::string other = EmptyFolder("salvage_copies_other");
  ASSERT_TRUE(WriteTestShard(other, PlanOf("train", 1, 3, 4), ImageAndLabel(), 7).ok());
  WriteBytes(copy_, Flipped(ReadBytes(other + "/" + name_), {8192 + 4096 + 3 * 72}));
  WriteBytes(shard_, Flipped(sound_, {8192 + 4096}));
  SalvageReport report = Run();
  EXPECT_EQ(report.lost_records, 1u);
  ASSERT_EQ(report.remarks.size(), 1u);
  EXPECT_NE(report.remarks[0].find("left aside: it is not the one that the manifest names"),
            std::string::npos);
  // Two halves that have no part in common.
  const uint64_t second = 8192 + GetU64(8192 + 64, sound_);
  WriteBytes(shard_, sound_.substr(0, second));
  WriteBytes(copy_, std::string(second, '\xAA') + sound_.substr(second, 3 * 4096));
  report = Run();
  EXPECT_GT(report.lost_records, 0u);
  ASSERT_EQ(report.remarks.size(), 1u);
  EXPECT_NE(report.remarks[0].find("left aside"), std::string::npos);
}

TEST_F(SalvageCopies, InputsThatWereLeftOutAreTakenFromTheManifest) {
  const std::vector<std::string> all = SkippedKeys(folder_);
  ASSERT_EQ(all.size(), 4u);
  for (const std::vector<uint32_t>& footers :
       std::vector<std::vector<uint32_t>>{{0}, {1}, {2}, {0, 2}, {0, 1}, {0, 1, 2}}) {
    WriteTestDataset(folder_);
    for (const uint32_t number : footers) LoseFooter(number);
    const SalvageReport report = Run();
    EXPECT_EQ(SkippedKeys(out_), all);
    EXPECT_EQ(report.lost_records, 0u);
    ASSERT_EQ(report.losses.size(), footers.size());
    EXPECT_EQ(report.losses[0].reason.find("the footer is lost: what the manifest does not tell"),
              0u)
        << report.losses[0].reason;
    // Which of two neighbours left them out nothing tells.
    EXPECT_EQ(report.remarks.size(), footers.size() > 1 && footers[1] == 1 ? 1u : 0u);
  }
  // A shard that is gone had left out one, too.
  WriteTestDataset(folder_);
  fs::remove(shard_);
  EXPECT_EQ(Run().lost_records, 6u);
  EXPECT_EQ(SkippedKeys(out_), all);
  // Nobody knows it any more.
  WriteTestDataset(folder_);
  LoseFooter(1);
  fs::remove(folder_ + "/manifest.json");
  const SalvageReport report = Run();
  EXPECT_EQ(SkippedKeys(out_).size(), 3u);
  ASSERT_FALSE(report.losses.empty());
  EXPECT_EQ(report.losses.back().reason,
            "the footer is lost: which inputs were left out, and why, is not known");
}

TEST_F(SalvageCopies, WhatAKilledSalvageLeftIsRemoved) {
  fs::remove_all(out_);
  const pid_t child = fork();
  if (child == 0) {
    SalvageOptions options;
    options.progress = [](uint64_t done, uint64_t total) {
      if (2 * done > total) _exit(77);  // while it copies
    };
    (void)Salvage(folder_, out_, options).ok();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 77);
  const std::string remnant = out_ + ".tmp-" + std::to_string(child);
  ASSERT_EQ(Remnants(), std::vector<std::string>{remnant});
  fs::create_directory(out_ + ".tmp-1");  // stopped before anything was in it
  const SalvageReport report = Run();
  EXPECT_TRUE(Remnants().empty());
  ASSERT_EQ(report.remarks.size(), 1u);
  EXPECT_EQ(report.remarks[0].find(remnant + " was removed"), 0u) << report.remarks[0];
  EXPECT_NE(report.remarks[0].find("process " + std::to_string(child)), std::string::npos);
  EXPECT_FALSE(fs::exists(out_ + "/" + kMark));
}

TEST_F(SalvageCopies, LivingSalvageIsLeftAlone) {
  const std::string pending = out_ + ".tmp-1";
  fs::create_directory(pending);
  auto lock = FolderLock::TryAcquire(pending, LockKind::kAlone, kMark).value();
  ASSERT_TRUE(lock.has_value());
  const Status status = TryRun().status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  const std::string said =
      "another salvage is writing " + out_ + " (process " + std::to_string(getpid()) + " on ";
  EXPECT_EQ(status.message().find(said), 0u) << status.message();
  EXPECT_TRUE(fs::exists(pending + "/" + kMark));
  EXPECT_EQ(Remnants().size(), 1u);
}

TEST_F(SalvageCopies, RemnantMayBeTheSource) {
  const std::string source = out_ + ".tmp-5";
  fs::rename(folder_, source);
  WriteBytes(source + "/" + kMark, "process 5 on nowhere, a salvage\n");
  const auto report = Salvage(source, out_, {});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->records, 22u);
  EXPECT_TRUE(ReadBytes(source + "/" + name_) == sound_);
}

}  // namespace
}  // namespace shardmill
