// What must be proven before a record is taken: that the shard is of the set and of its schema. The
// id of a set does not tell, as inputs that changed at equal size give the same one.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "reader/base/checksum.h"
#include "reader/manifest.h"
#include "reader/verify.h"
#include "tests/reader/shard_testing.h"
#include "tools/salvage/salvage.h"

namespace shardmill {
namespace {

using namespace testing_shards;  // NOLINT: the fixture's verbs
namespace fs = std::filesystem;

constexpr uint64_t kPage = 4096;
constexpr uint64_t kBlock = 2 * kPage;  // the first
constexpr uint64_t kImages = kBlock + kPage;
constexpr uint64_t kImageBytes = 4 * 6 * 3;

class SalvageProof : public testing::Test {
 protected:
  void SetUp() override {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = EmptyFolder("salvage_proof_" + name);
    out_ = folder_ + "_out";
    fs::remove_all(out_);
    WriteTestDataset(folder_);
    shard_ = folder_ + "/" + kName;
    copy_ = folder_ + "/train-00000-of-00009.shard";
    sound_ = ReadBytes(shard_);
    second_ = kBlock + GetU64(kBlock + 64, sound_);
  }

  SalvageReport Run() const {
    fs::remove_all(out_);
    const auto report = Salvage(folder_, out_, {});
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    if (!report.ok()) return SalvageReport();
    EXPECT_TRUE(Verify(out_, {})->sound());
    return *report;
  }
  SalvageReport RunWith(const std::string& bytes) const {
    WriteBytes(shard_, bytes);
    return Run();
  }
  void ExpectAllIsSaved(const SalvageReport& report) const {
    EXPECT_TRUE(report.losses.empty());
    EXPECT_EQ(report.dataset_id, report.source_id);
    EXPECT_TRUE(ReadBytes(out_ + "/" + kName) == sound_);
  }
  static void ExpectTold(const SalvageReport& report, const std::string& reason) {
    EXPECT_NE(report.dataset_id, report.source_id);
    EXPECT_TRUE(std::any_of(report.losses.begin(), report.losses.end(), [&](const Loss& loss) {
      return loss.reason.find(reason) != std::string::npos;
    })) << reason;
  }

  // With the first block of a packing in which its first input had other content.
  std::string WithForeignBlock() const {
    std::string bytes = sound_;
    bytes[kImages] ^= 1;
    SetU64(kBlock + 128 + 2 * 32, Checksum64(bytes.data() + kImages, kImageBytes), &bytes);
    ResealBlock(kBlock, &bytes);
    return bytes;
  }
  // The shard of that packing; sound, and of the same name and id.
  std::string OfOtherPacking() const {
    std::string bytes = WithForeignBlock();
    ResealDigest({kBlock, second_}, &bytes);
    return bytes;
  }
  // Of the same sizes, as u16.
  static RecordSchema OtherSchema() {
    RecordSchema schema = ImageAndLabel();
    schema.fields[0] = {"image",     DType::kU16,   {2, 6, 3},
                        Codec::kRaw, Role::kTensor, LabelEncoding::kNone};
    return schema;
  }
  // The shard of the same keys in it.
  static std::string OfOtherSchema() {
    const std::string folder = EmptyFolder("salvage_proof_schema");
    EXPECT_TRUE(WriteTestShard(folder, PlanOf("train", 1, 3, 4), OtherSchema(), 6).ok());
    return ReadBytes(folder + "/" + kName);
  }
  static std::string Without(std::string bytes, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) {
      const uint64_t at = part == "superblock" ? 0
                          : part == "schema"   ? kPage
                          : part == "footer"   ? bytes.size() - 2 * kPage
                                               : bytes.size() - kPage;
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), kPage, '\0');
    }
    return bytes;
  }

  static inline const std::string kName = "train-00001-of-00003.shard";  // 4 and 2 records
  std::string folder_;
  std::string out_;
  std::string shard_;
  std::string copy_;
  std::string sound_;
  uint64_t second_ = 0;  // block
};

TEST_F(SalvageProof, LostSchemaAndPostscriptFollowFromTheRest) {
  ExpectAllIsSaved(RunWith(Without(sound_, {"schema", "postscript"})));
  ExpectAllIsSaved(RunWith(Without(sound_, {"schema"})));
}

TEST_F(SalvageProof, OtherPackingIsToldWithoutItsSchema) {
  const std::string other = OfOtherPacking();
  for (const std::vector<std::string>& parts : std::vector<std::vector<std::string>>{
           {}, {"schema"}, {"postscript"}, {"schema", "postscript"}}) {
    ExpectTold(RunWith(Without(other, parts)), "not the one that the manifest names");
  }
}

TEST_F(SalvageProof, BlocksOfOtherPackingUnderTheFooterOfTheShardAreTold) {
  const std::string folder = EmptyFolder("salvage_proof_blocks");
  ASSERT_TRUE(WriteTestShard(folder, PlanOf("train", 1, 3, 3), ImageAndLabel(), 6).ok());
  const std::string other = ReadBytes(folder + "/" + kName);
  ASSERT_EQ(other.size(), sound_.size());
  const uint64_t footer = sound_.size() - 2 * kPage;
  ExpectTold(RunWith(other.substr(0, footer) + sound_.substr(footer)), "not of one shard");
}

TEST_F(SalvageProof, RecordsOfAnotherSchemaAreLostWhateverElseIs) {
  const std::string other = OfOtherSchema();
  ASSERT_EQ(other.size(), sound_.size());
  for (const bool has_manifest : {true, false}) {
    if (!has_manifest) fs::remove(folder_ + "/manifest.json");
    for (const std::vector<std::string>& parts : std::vector<std::vector<std::string>>{
             {}, {"schema"}, {"schema", "postscript"}, {"schema", "footer", "postscript"}}) {
      const SalvageReport report = RunWith(Without(other, parts));
      EXPECT_EQ(report.records, 16u);
      ExpectTold(report, "another schema or recipe");
    }
    for (const std::vector<std::string>& parts : std::vector<std::vector<std::string>>{
             {"superblock"}, {"superblock", "schema"}, {"superblock", "schema", "postscript"}}) {
      const SalvageReport report = RunWith(Without(other, parts));
      EXPECT_EQ(report.records, 16u);
      ExpectTold(report, "nothing proves that its records are of the schema of the set");
    }
  }
}

TEST_F(SalvageProof, WithoutASuperblockSchemaOrManifestProveTheShape) {
  const std::vector<std::string> both = {"superblock", "schema"};
  EXPECT_EQ(RunWith(Without(sound_, both)).records, 22u);
  fs::remove(folder_ + "/manifest.json");
  EXPECT_EQ(RunWith(Without(sound_, {"superblock"})).records, 22u);
  const SalvageReport report = RunWith(Without(sound_, both));
  EXPECT_EQ(report.records, 16u);
  EXPECT_EQ(report.lost_records, 6u);
}

TEST_F(SalvageProof, ForeignBlockIsNoSoundOneWithoutTheSchema) {
  const std::string foreign = WithForeignBlock();
  for (const std::vector<std::string>& parts :
       std::vector<std::vector<std::string>>{{}, {"schema"}}) {
    const SalvageReport report = RunWith(Without(foreign, parts));
    EXPECT_EQ(report.records, 16u);
    ExpectTold(report, "one of its blocks may be that of another");
  }
  ExpectTold(RunWith(Without(foreign, {"postscript"})), "not the one that the manifest names");
  ExpectTold(RunWith(Without(foreign, {"schema", "postscript"})),
             "not the one that the manifest names");
  const SalvageReport report = RunWith(Without(foreign, {"superblock"}));
  ExpectTold(report, "the superblock is lost");
  ExpectTold(report, "the proof is lost that what is saved of blocks 0-1 is what was packed");
  EXPECT_EQ(report.unproven_records, 6u);
}

// The digest is made of sums, and these may still stand where the rest of their part is damaged.
TEST_F(SalvageProof, PartWhoseSumIsLeftDoesNotTakeTheProofAlong) {
  const uint64_t footer = sound_.size() - 2 * kPage;
  for (const bool has_manifest : {true, false}) {
    if (!has_manifest) fs::remove(folder_ + "/manifest.json");
    for (const uint64_t at : {uint64_t{200}, footer + 40, footer + 8, kBlock + 50, second_ + 50}) {
      std::string bytes = sound_;
      bytes[at] ^= 1;
      const SalvageReport report = RunWith(bytes);
      EXPECT_EQ(report.unproven_records, 0u) << at;
      EXPECT_EQ(report.records, at == kBlock + 50 ? 18u : at == second_ + 50 ? 20u : 22u) << at;
      // The same with a block of another packing.
      if (at == kBlock + 50) continue;
      bytes = WithForeignBlock();
      bytes[at] ^= 1;
      EXPECT_EQ(RunWith(bytes).unproven_records, at == second_ + 50 ? 4u : 6u) << at;
    }
  }
}

TEST_F(SalvageProof, WhatIsSavedWithoutAProofIsTold) {
  for (const uint64_t begin : {uint64_t{0}, kBlock, second_}) {
    std::string bytes = sound_;
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(begin), kPage, '\0');
    const SalvageReport report = RunWith(bytes);
    ExpectTold(report, std::string("the proof is lost that what is saved of block") +
                           (begin == 0        ? "s 0-1 is"
                            : begin == kBlock ? " 1 is"
                                              : " 0 is"));
    EXPECT_EQ(report.unproven_records, begin == 0 ? 6u : begin == kBlock ? 2u : 4u);
  }
  // Only the manifest has the digest; then nothing has.
  EXPECT_EQ(RunWith(Without(sound_, {"postscript"})).unproven_records, 0u);
  fs::remove(folder_ + "/manifest.json");
  const SalvageReport report = RunWith(Without(sound_, {"postscript"}));
  ExpectTold(report, "the proof is lost");
  EXPECT_EQ(report.unproven_records, 6u);
  EXPECT_EQ(report.records, 22u);
}

TEST_F(SalvageProof, CopiesOfAnotherSchemaAreNotUnited) {
  fs::remove(folder_ + "/manifest.json");
  const std::string other = OfOtherSchema();
  std::string one = other, two = other;
  one[kImages] ^= 1;
  two[kImages + kImageBytes] ^= 1;
  const std::vector<std::vector<std::string>> pairs = {
      {one, two}, {Without(other, {"schema"}), Without(other, {"superblock"})}};
  for (const std::vector<std::string>& pair : pairs) {
    WriteBytes(copy_, pair[1]);
    SalvageReport report = RunWith(pair[0]);
    EXPECT_EQ(report.records, 16u);
    ExpectTold(report, "another schema or recipe");
    // Nor do they go before the damaged shard of the set.
    std::string damaged = sound_;
    damaged[kImages] ^= 1;
    WriteBytes(folder_ + "/train-00008-of-00009.shard", damaged);
    report = Run();
    EXPECT_EQ(report.records, 21u);
    fs::remove(folder_ + "/train-00008-of-00009.shard");
  }
}

TEST_F(SalvageProof, WithoutAManifestMostShardsSayTheSchema) {
  fs::remove(folder_ + "/manifest.json");
  const std::string first = "train-00000-of-00003.shard";
  ASSERT_TRUE(fs::remove(folder_ + "/" + first));
  ASSERT_TRUE(WriteTestShard(folder_, PlanOf("train", 0, 3, 4), OtherSchema(), 5).ok());
  const SalvageReport report = Run();
  EXPECT_EQ(report.records, 22u - 5);
  EXPECT_EQ(report.lost_records, 5u);
  ExpectTold(report, "another schema or recipe");
}

TEST_F(SalvageProof, CopyThatVanishesBeforeTheUnionCostsNothingElse) {
  std::string one = sound_, two = sound_;
  one[kImages] ^= 1;
  two[kImages + kImageBytes] ^= 1;
  WriteBytes(shard_, one);
  WriteBytes(copy_, two);
  fs::remove_all(out_);
  SalvageOptions options;
  options.progress = [&](uint64_t done, uint64_t total) {
    if (2 * done >= total) fs::remove(copy_);  // all is verified, nothing is copied yet
  };
  const auto report = Salvage(folder_, out_, options);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->records, 21u);
  EXPECT_EQ(report->lost_records, 1u);
  EXPECT_FALSE(fs::exists(out_ + "/.mended"));
  ASSERT_EQ(report->remarks.size(), 2u);
  EXPECT_NE(report->remarks[0].find("could not be united with its copies"), std::string::npos);
  EXPECT_EQ(report->remarks[0].find(".mended"), std::string::npos) << report->remarks[0];
}

TEST_F(SalvageProof, OfFilesOfUnknownKinshipTheOneWithMoreRecordsIsTaken) {
  std::string later = sound_.substr(0, sound_.size() - 2 * kPage);
  later[kBlock + 50] ^= 1;
  const std::string former = sound_.substr(0, second_);
  fs::remove(folder_ + "/manifest.json");
  WriteBytes(copy_, former);
  EXPECT_EQ(RunWith(later).records, 16u + 4);
  WriteBytes(copy_, later);
  EXPECT_EQ(RunWith(former).records, 16u + 4);
}

TEST_F(SalvageProof, DigestInTheManifestProvesAUnionWithoutAPostscript) {
  std::string later = sound_.substr(0, sound_.size() - kPage);
  later[kBlock + 50] ^= 1;
  WriteBytes(copy_, sound_.substr(0, second_));
  ExpectAllIsSaved(RunWith(later));
}

}  // namespace
}  // namespace shardmill
