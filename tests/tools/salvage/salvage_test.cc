#include "tools/salvage/salvage.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "reader/base/input_file.h"
#include "reader/block_format.h"
#include "reader/manifest.h"
#include "reader/shard_reader.h"
#include "reader/shard_writer.h"
#include "reader/verify.h"
#include "tests/reader/shard_testing.h"

namespace shardmill {
namespace {

using namespace testing_shards;  // NOLINT: the fixture's verbs
namespace fs = std::filesystem;

// Parts of a shard, as [begin, end) in the file.
using Ranges = std::vector<std::pair<uint64_t, uint64_t>>;

class SalvageTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = EmptyFolder("salvage_" + name);
    out_ = folder_ + "_out";
    fs::remove_all(out_);
    WriteTestDataset(folder_);
    for (const std::string& file : kFiles) sound_[file] = ReadBytes(folder_ + "/" + file);
    sound_["manifest.json"] = ReadBytes(folder_ + "/manifest.json");
    for (const std::string& file : kFiles) FindRecords(file);
  }

  void Restore() const {
    for (const auto& [file, bytes] : sound_) WriteBytes(folder_ + "/" + file, bytes);
    fs::remove_all(out_);
  }
  void Change(const std::string& file, const std::function<void(std::string*)>& change) const {
    std::string bytes = ReadBytes(folder_ + "/" + file);
    change(&bytes);
    WriteBytes(folder_ + "/" + file, bytes);
  }

  SalvageReport Run(int threads = 1, FileAccess access = FileAccess::kMapped) const {
    fs::remove_all(out_);
    SalvageOptions options;
    options.threads = threads;
    options.access = access;
    const auto report = Salvage(folder_, out_, options);
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    return report.ok() ? *report : SalvageReport();
  }

  // The keys in the new set, which must be intact and hold what was written under those keys.
  std::set<std::string> SavedKeys() const {
    std::set<std::string> keys;
    const auto verified = Verify(out_, {});
    EXPECT_TRUE(verified.ok() && verified->sound());
    for (const std::string& file : kFiles) {
      const auto reader = ShardReader::Open(out_ + "/" + file, ChecksumPolicy::kAlways);
      EXPECT_TRUE(reader.ok()) << reader.status().ToString();
      if (!reader.ok()) continue;
      for (uint64_t i = 0; i < (*reader)->records(); ++i) keys.insert(CheckedKey(**reader, i));
    }
    return keys;
  }

  // Whether anything proves that the records of the shard are of the schema of the set.
  bool SchemaIsProven(const std::string& file, const std::string& now) const {
    const std::string& sound = sound_.at(file);
    if (now.substr(0, 4096) == sound.substr(0, 4096)) return true;
    if (now.size() >= 8192 && now.compare(4096, 4096, sound, 4096, 4096) == 0) return true;
    const uint64_t end = sound.size() - 4096;  // the manifest names the digest in the postscript
    return fs::exists(folder_ + "/manifest.json") && now.size() == sound.size() &&
           now.compare(end, 4096, sound, end, 4096) == 0;
  }

  // The keys of records none of whose bytes differs from those that were written.
  std::set<std::string> UndamagedKeys() const {
    std::set<std::string> keys;
    for (const auto& [key, place] : records_) {
      const std::string path = folder_ + "/" + place.file;
      if (!fs::exists(path)) continue;
      const std::string& sound = sound_.at(place.file);
      const std::string now = ReadBytes(path);
      bool same = now.size() >= place.block_end && SchemaIsProven(place.file, now);
      for (const auto& [begin, end] : place.ranges) {
        same = same && now.compare(begin, end - begin, sound, begin, end - begin) == 0;
      }
      if (same) keys.insert(key);
    }
    return keys;
  }

  void ExpectExactlyTheUndamaged(const SalvageReport& report, const std::string& what) const {
    const std::set<std::string> saved = SavedKeys();
    EXPECT_EQ(saved, UndamagedKeys()) << what;
    EXPECT_EQ(report.records, saved.size()) << what;
    const uint64_t known = report.records + report.lost_records;
    EXPECT_LE(known, records_.size()) << what;
    if (!report.lost_uncounted) {
      EXPECT_EQ(known, records_.size()) << what;
    }
    EXPECT_TRUE(saved.size() == records_.size() || !report.losses.empty()) << what;
  }

  static constexpr uint64_t kImageBytes = 4 * 6 * 3;
  const std::vector<std::string> kFiles = {
      "train-00000-of-00003.shard", "train-00001-of-00003.shard", "train-00002-of-00003.shard",
      "val-00000-of-00001.shard"};
  std::string folder_;
  std::string out_;
  std::map<std::string, std::string> sound_;

 private:
  struct Place {
    std::string file;
    uint64_t block_end = 0;
    Ranges ranges;
  };

  static std::string CheckedKey(const ShardReader& reader, uint64_t record) {
    const std::string key = reader.ReadMeta(record).value().key();
    const size_t first = key.find('/');
    const size_t second = key.find('/', first + 1);
    const auto shard = static_cast<uint32_t>(std::stoul(key.substr(first + 1)));
    const uint64_t number = std::stoul(key.substr(second + 1));
    EXPECT_EQ(
        KeyOf(reader.path().find("/val-") == std::string::npos ? "train" : "val", shard, number),
        key);
    ReadScratch scratch;
    for (int field = 0; field < 2; ++field) {
      const std::vector<uint8_t> expected =
          TensorOf(reader.schema().fields[static_cast<size_t>(field)], shard, number);
      std::vector<uint8_t> found(expected.size());
      EXPECT_TRUE(reader.Read(record, field, found.data(), found.size(), &scratch).ok());
      EXPECT_EQ(found, expected) << key;
    }
    return key;
  }

  // Which bytes each record needs: the header of its block, the offsets of the labels, the
  // metadata region, its image and its label.
  void FindRecords(const std::string& file) {
    const std::string path = folder_ + "/" + file;
    const auto reader = ShardReader::Open(path, ChecksumPolicy::kOff).value();
    const auto input = InputFile::Open(path).value();
    for (uint32_t b = 0; b < reader->block_count(); ++b) {
      const auto block = reader->block(b);
      const BlockHeader header = ReadBlockHeader(*input, block.offset, block.bytes).value();
      const uint64_t table = block.offset + header.fields[1].offset;
      const uint64_t table_bytes = RegionTableBytes(block.records, 0);
      const uint64_t meta = block.offset + header.meta_offset;
      for (uint32_t i = 0; i < block.records; ++i) {
        const uint64_t image = block.offset + header.fields[0].offset + i * kImageBytes;
        const uint64_t begin = GetU64(table + 8 * i, sound_[file]);
        const uint64_t end = GetU64(table + 8 * i + 8, sound_[file]);
        records_[reader->ReadMeta(block.first_record + i).value().key()] = {
            file,
            block.offset + block.bytes,
            {{block.offset, block.offset + header.header_bytes},
             {table, table + table_bytes},
             {meta, meta + header.meta_bytes},
             {image, image + kImageBytes},
             {table + table_bytes + begin, table + table_bytes + end}}};
      }
    }
  }

  std::map<std::string, Place> records_;
};

TEST_F(SalvageTest, SoundSetIsCopiedByteForByte) {
  const SalvageReport report = Run(2);
  EXPECT_TRUE(report.losses.empty());
  EXPECT_EQ(report.dataset_id, report.source_id);
  for (const auto& [file, bytes] : sound_) EXPECT_EQ(ReadBytes(out_ + "/" + file), bytes) << file;
}

TEST_F(SalvageTest, MissingDamagedOrForeignManifestCostsNoRecordButTheId) {
  for (const std::string& manifest : {std::string(), std::string("{"), std::string("stale")}) {
    Restore();
    const std::string path = folder_ + "/manifest.json";
    fs::remove(path);
    if (manifest == "stale") {
      proto::Manifest other = ParseManifest(sound_["manifest.json"]).value();
      other.set_dataset_id(std::string(32, '7'));
      ASSERT_TRUE(WriteManifest(folder_, other).ok());
    } else if (!manifest.empty()) {
      WriteBytes(path, manifest);
    }
    const SalvageReport report = Run();
    EXPECT_FALSE(report.has_manifest) << manifest;
    EXPECT_EQ(report.lost_records, 0u);
    EXPECT_FALSE(report.lost_uncounted);
    ASSERT_EQ(report.losses.size(), 1u) << manifest;
    EXPECT_EQ(report.losses[0].file, path);
    EXPECT_NE(report.losses[0].reason.find("splits of which no shard is left are not known"),
              std::string::npos);
    EXPECT_EQ(SavedKeys().size(), 22u) << manifest;
    // A split may have been there of which no file is left.
    EXPECT_NE(report.dataset_id, report.source_id) << manifest;
  }
}

TEST_F(SalvageTest, OfSeveralFilesOfAShardTheBestIsTaken) {
  const std::string& file = kFiles[1];
  // Before and behind the other in order of names.
  for (const char* copy : {"train-00000-of-00009.shard", "train-00008-of-00009.shard"}) {
    for (const bool damaged_is_copy : {false, true}) {
      for (const size_t at : {size_t{8192 + 4096}, size_t{20}, sound_[file].size() - 100}) {
        Restore();
        fs::copy_file(folder_ + "/" + file, folder_ + "/" + copy,
                      fs::copy_options::overwrite_existing);
        Change(damaged_is_copy ? copy : file, [at](std::string* bytes) { (*bytes)[at] ^= 1; });
        const SalvageReport report = Run();
        EXPECT_TRUE(report.losses.empty());
        EXPECT_EQ(report.dataset_id, report.source_id);
        EXPECT_EQ(ReadBytes(out_ + "/" + file), sound_[file]) << copy << at;
        ASSERT_EQ(report.remarks.size(), 1u);
        EXPECT_NE(report.remarks[0].find("left aside"), std::string::npos) << report.remarks[0];
      }
    }
    fs::remove(folder_ + "/" + copy);
  }
}

TEST_F(SalvageTest, WhatFooterAndSuperblockSaidIsNamedAsLost) {
  const std::string& file = kFiles[0];
  std::set<Digest> ids;
  for (const auto& [at, part] : {std::pair(sound_[file].size() - 8192 + 70, "the footer is lost"),
                                 std::pair(size_t{60}, "the superblock is lost")}) {
    Restore();
    Change(file, [at = at](std::string* bytes) { (*bytes)[at] ^= 1; });
    const SalvageReport report = Run();
    EXPECT_EQ(SavedKeys().size(), 22u);
    ASSERT_EQ(report.losses.size(), 1u) << part;
    EXPECT_EQ(report.losses[0].records, 0u);
    EXPECT_EQ(report.losses[0].file, folder_ + "/" + file);
    EXPECT_EQ(report.losses[0].reason.substr(0, std::string(part).size()), part);
    EXPECT_EQ(report.lost_records, 0u);
    EXPECT_NE(report.dataset_id, report.source_id);
    ids.insert(report.dataset_id);
  }
  EXPECT_EQ(ids.size(), 2u);
}

TEST_F(SalvageTest, LinksFoldersAndAnEmptyShardThatIsMissingAreTold) {
  fs::rename(folder_ + "/" + kFiles[0], folder_ + "/elsewhere");
  fs::create_symlink("elsewhere", folder_ + "/" + kFiles[0]);
  fs::remove(folder_ + "/" + kFiles[1]);
  fs::create_directory(folder_ + "/" + kFiles[1]);
  SalvageReport report = Run();
  ASSERT_EQ(report.remarks.size(), 3u);
  EXPECT_EQ(report.remarks[0], folder_ + "/" + kFiles[0] + " is not a regular file; left aside");
  EXPECT_EQ(report.losses.size(), 2u);
  // A shard without records says which inputs were left out.
  const std::string folder = EmptyFolder("salvage_no_records");
  for (uint32_t k = 0; k < 2; ++k) {
    ASSERT_TRUE(WriteTestShard(folder, PlanOf("train", k, 2, 4), ImageAndLabel(), 3 * k).ok());
  }
  ASSERT_TRUE(WriteManifest(folder, RebuildManifest(folder).value()).ok());
  fs::remove(folder + "/train-00000-of-00002.shard");
  fs::remove_all(out_);
  report = Salvage(folder, out_, {}).value();
  ASSERT_EQ(report.losses.size(), 1u);
  EXPECT_EQ(report.losses[0].reason, "the shard is missing");
}

TEST_F(SalvageTest, RemnantOfAnEarlierSalvageIsNotInTheWay) {
  const std::string remnant = out_ + ".tmp-" + std::to_string(getpid());
  fs::create_directory(remnant);
  WriteBytes(remnant + "/x", "of somebody");
  const SalvageReport report = Run();
  EXPECT_TRUE(report.losses.empty());
  ASSERT_EQ(report.remarks.size(), 1u);
  EXPECT_EQ(report.remarks[0].find(remnant + " is left as it is"), 0u) << report.remarks[0];
  EXPECT_TRUE(Verify(out_, {})->sound());
  EXPECT_EQ(ReadBytes(remnant + "/x"), "of somebody");
  EXPECT_FALSE(fs::exists(remnant + "-1"));
  fs::remove_all(remnant);
}

TEST_F(SalvageTest, ManifestInOrderSaysWhichSetIsSaved) {
  // More foreign shards than own ones.
  const std::string foreign = EmptyFolder("salvage_foreign");
  for (uint32_t k = 0; k < 6; ++k) {
    ShardPlan plan = PlanOf("train", k, 6, 4);
    plan.dataset_id = Digest128("another data set");
    const auto result = WriteTestShard(foreign, plan, ImageAndLabel(), 5);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    fs::copy_file(foreign + "/" + result->file, folder_ + "/" + result->file);
  }
  const SalvageReport report = Run();
  EXPECT_TRUE(report.losses.empty());
  EXPECT_EQ(report.remarks.size(), 6u);
  EXPECT_EQ(ReadBytes(out_ + "/manifest.json"), sound_["manifest.json"]);
}

TEST_F(SalvageTest, AnyDamageLeavesExactlyTheUndamagedRecords) {
  std::mt19937_64 random(20);
  for (int round = 0; round < 40; ++round) {
    Restore();
    std::string what = "round " + std::to_string(round);
    if (random() % 3 == 0) fs::remove(folder_ + "/manifest.json");
    for (uint64_t damages = 1 + random() % 4; damages > 0; --damages) {
      // Two shards stay whole, so that something still says what a record is.
      const std::string& file = kFiles[random() % 2 == 0 ? 1 : 3];
      const uint64_t kind = random() % 8;
      what += ", " + file + " kind " + std::to_string(kind);
      Change(file, [&](std::string* bytes) {
        const size_t at = bytes->empty() ? 0 : random() % bytes->size();
        if (bytes->empty()) return;
        if (kind == 0) bytes->resize(at);
        if (kind == 1) bytes->replace(0, std::min<size_t>(4096, bytes->size()), 4096, 'x');
        if (kind == 2 && at + 4096 <= bytes->size()) bytes->replace(at, 4096, 4096, '\xAA');
        if (kind == 3) (*bytes)[bytes->size() - 1 - at % 4096 % bytes->size()] ^= 1;
        if (kind >= 4) (*bytes)[at] = static_cast<char>((*bytes)[at] ^ (1 << random() % 8));
      });
    }
    const SalvageReport report =
        Run(round % 2 == 0 ? 1 : 3, round % 5 == 0 ? FileAccess::kPread : FileAccess::kMapped);
    ExpectExactlyTheUndamaged(report, what);
    if (HasFailure()) return;
  }
}

TEST_F(SalvageTest, CutAnywhereKeepsTheBlocksBefore) {
  const std::string& file = kFiles[2];  // two blocks
  for (uint64_t bytes = 0; bytes < sound_[file].size(); bytes += 6 * 1024) {
    Restore();
    fs::resize_file(folder_ + "/" + file, bytes);
    ExpectExactlyTheUndamaged(Run(), std::to_string(bytes));
  }
}

TEST_F(SalvageTest, BlockBehindALostHeaderIsFoundWithoutATable) {
  const std::string& file = kFiles[2];
  fs::remove(folder_ + "/manifest.json");
  Change(file, [](std::string* bytes) {
    (*bytes)[8192 + 50] ^= 1;             // header of block 0
    bytes->resize(bytes->size() - 8192);  // footer and postscript
    (*bytes)[20] ^= 1;                    // superblock
  });
  const SalvageReport report = Run();
  ExpectExactlyTheUndamaged(report, "");
  EXPECT_EQ(report.records, 22u - 4u);
  EXPECT_TRUE(report.lost_uncounted);
}

TEST_F(SalvageTest, LossesNameShardBlockRecordAndKey) {
  Change(kFiles[1], [](std::string* bytes) {
    (*bytes)[8192 + 4096 + 2 * kImageBytes] ^= 1;  // image of record 2
    (*bytes)[8192 + 2 * 4096 + 3] ^= 1;            // offsets of the labels of block 0
    (*bytes)[8192 + 4 * 4096 + 3 * 4096] ^= 1;     // metadata of block 1
  });
  fs::remove(folder_ + "/" + kFiles[3]);
  const SalvageReport report = Run();
  ASSERT_EQ(report.losses.size(), 6u);
  for (uint64_t i = 0; i < 4; ++i) {
    const Loss& loss = report.losses[i];
    EXPECT_EQ(loss.file, folder_ + "/" + kFiles[1]);
    EXPECT_EQ(loss.block, 0u);
    EXPECT_EQ(loss.record, i);
    EXPECT_EQ(loss.key, KeyOf("train", 1, i));
    EXPECT_NE(loss.reason.find("label: the offsets"), std::string::npos) << loss.reason;
  }
  EXPECT_EQ(report.losses[4].block, 1u);
  EXPECT_EQ(report.losses[4].record, 4u);
  EXPECT_EQ(report.losses[4].records, 2u);
  EXPECT_EQ(report.losses[4].key, "");
  EXPECT_EQ(report.losses[5].file, folder_ + "/" + kFiles[3]);
  EXPECT_EQ(report.losses[5].records, 4u);
  EXPECT_EQ(report.lost_records, 10u);
  // A shard of which nothing is left is there, and empty.
  EXPECT_EQ(ShardReader::Open(out_ + "/" + kFiles[3], ChecksumPolicy::kOff).value()->records(), 0u);
}

TEST_F(SalvageTest, NewIdAndStatisticsFollowFromWhatWasSaved) {
  const auto flip_image = [&](uint64_t record) {
    Restore();
    Change(kFiles[0],
           [&](std::string* bytes) { (*bytes)[8192 + 4096 + record * kImageBytes] ^= 1; });
  };
  flip_image(1);
  const SalvageReport one = Run(1);
  const std::string bytes = ReadBytes(out_ + "/" + kFiles[0]);
  const SalvageReport again = Run(4);
  EXPECT_EQ(ReadBytes(out_ + "/" + kFiles[0]), bytes);
  EXPECT_EQ(one.dataset_id, again.dataset_id);
  EXPECT_NE(one.dataset_id, one.source_id);
  const proto::Manifest manifest = ReadManifest(out_).value();
  EXPECT_EQ(manifest.dataset_id(), DigestToHex(one.dataset_id));
  const auto shard = ShardReader::Open(out_ + "/" + kFiles[0], ChecksumPolicy::kOff).value();
  // The test's own numbers are made up; those of the damaged shard are counted.
  EXPECT_EQ(shard->summary().statistics().records(), 4u);
  EXPECT_EQ(shard->summary().statistics().image_pixels(), 4u * 24);
  EXPECT_EQ(shard->summary().skipped_size(), 1);
  flip_image(2);
  EXPECT_NE(Run().dataset_id, one.dataset_id);
}

TEST_F(SalvageTest, DisplacedBlocksAreLost) {
  // Both blocks of four records have the same size and shape.
  const std::string folder = EmptyFolder("salvage_displaced");
  const auto swap_blocks = [](std::string* a, std::string* b, uint64_t from, uint64_t to) {
    for (uint64_t i = 0; i < 4 * 4096; ++i) std::swap((*a)[from + i], (*b)[to + i]);
  };
  std::string other = ReadBytes(folder_ + "/" + kFiles[1]);
  Change(kFiles[2], [&](std::string* bytes) { swap_blocks(bytes, &other, 8192, 8192); });
  WriteBytes(folder_ + "/" + kFiles[1], other);
  SalvageReport report = Run();
  EXPECT_EQ(report.records, 22u - 8u);
  SavedKeys();
  // Between two splits, in the same place: the header names another split.
  Restore();
  other = ReadBytes(folder_ + "/" + kFiles[3]);
  Change(kFiles[0], [&](std::string* bytes) { swap_blocks(bytes, &other, 8192, 8192); });
  WriteBytes(folder_ + "/" + kFiles[3], other);
  EXPECT_FALSE(Verify(folder_, {})->sound());
  report = Run();
  EXPECT_EQ(report.records, 22u - 4u - 4u);
  SavedKeys();
}

TEST_F(SalvageTest, RepeatedKeyIsSavedOnce) {
  const std::string folder = EmptyFolder("salvage_repeated");
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
  auto report = Salvage(folder, out_, {});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->records, 9u);
  ASSERT_EQ(report->losses.size(), 1u);
  EXPECT_EQ(report->losses[0].key, "train/0/3.png");
  EXPECT_TRUE(Verify(out_, {})->sound());
  // When the first of the two is damaged, the second is the one.
  const std::string first = folder + "/train-00000-of-00002.shard";
  std::string bytes = ReadBytes(first);
  bytes[8192 + 4096 + 3 * kImageBytes] ^= 1;
  WriteBytes(first, bytes);
  fs::remove_all(out_);
  report = Salvage(folder, out_, {});
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->records, 9u);
  ASSERT_EQ(report->losses.size(), 1u);
  EXPECT_EQ(report->losses[0].file, first);
}

TEST_F(SalvageTest, RefusesWhatItCannotDoAndLeavesNothing) {
  fs::create_directory(out_);
  EXPECT_EQ(Salvage(folder_, out_, {}).status().code(), StatusCode::kInvalidArgument);
  fs::remove(out_);
  EXPECT_EQ(Salvage(folder_ + "/none", out_, {}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Salvage(EmptyFolder("salvage_empty"), out_, {}).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(Salvage(folder_ + "/" + kFiles[0], out_, {}).status().code(),
            StatusCode::kInvalidArgument);
  SalvageOptions options;
  int asked = 0;
  options.cancelled = [&] { return ++asked == 12; };  // while shards are copied
  EXPECT_EQ(Salvage(folder_, out_, options).status().code(), StatusCode::kCancelled);
  EXPECT_GE(asked, 12);
  // Nothing says any more what a record is.
  fs::remove(folder_ + "/manifest.json");
  for (const std::string& file : kFiles) {
    Change(file, [](std::string* bytes) { (*bytes)[4096] ^= 1; });
  }
  EXPECT_EQ(Salvage(folder_, out_, {}).status().code(), StatusCode::kDataLoss);
  for (const auto& entry : fs::directory_iterator(fs::path(out_).parent_path())) {
    EXPECT_EQ(entry.path().string().find(out_), std::string::npos) << entry.path();
  }
}

}  // namespace
}  // namespace shardmill
