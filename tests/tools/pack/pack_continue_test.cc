// Packs that go on with what an earlier one left, and packs in slices.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "proto/manifest.pb.h"
#include "reader/base/folder_lock.h"
#include "reader/manifest.h"
#include "tests/tools/pack/image_files.h"
#include "tools/pack/pack_job.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kShards = 6;  // of the set below: 5 of train, 1 of val

// 10 images of train and 2 of val, two to a shard.
class PackContinueTest : public testing::Test {
 protected:
  PackContinueTest()
      : source_(Name() + "-source"), whole_(Name() + "-whole"), out_(Name() + "-out") {
    FillSource(source_);
    options_.source = source_.path();
    options_.quiet = true;
    options_.jobs = 2;
    options_.shard_bytes = 2 * (8 * 8 * 3 + 1);
    options_.block_bytes = 200;
  }
  static std::string Name() {
    return testing::UnitTest::GetInstance()->current_test_info()->name();
  }
  static std::string Input(uint64_t i) {
    return (i < 10 ? "train/" : "val/") + std::string(i % 2 == 0 ? "a/" : "b/") +
           std::to_string(i) + ".png";
  }
  static void FillSource(const TestFolder& folder) {
    for (uint64_t i = 0; i < 12; ++i) folder.Write(Input(i), Png(Photo({8, 8}, i)));
  }

  Result<int> Pack(const TestFolder& output) {
    options_.output = output.path();
    testing::internal::CaptureStdout();
    Result<int> result = RunPackJob(options_, ReportStyle::kText);
    text_ = testing::internal::GetCapturedStdout();
    return result;
  }
  void ExpectCode(const TestFolder& output, int code) {
    const Result<int> result = Pack(output);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    EXPECT_EQ(*result, code);
  }
  void ExpectError(StatusCode code, const std::string& part) {
    const Status status = Pack(out_).status();
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
  void PackSlice(uint64_t first, uint64_t last) {
    options_.slice = ShardSlice{first, last};
    const Result<int> result = Pack(out_);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    options_.slice.reset();
  }

  static std::map<std::string, std::string> Contents(const TestFolder& folder) {
    std::map<std::string, std::string> contents;
    for (const std::string& file : folder.Files()) contents[file] = folder.Read(file);
    contents.erase("pack-report.html");  // for people: it names the source folder
    return contents;
  }
  void ExpectSameAsWhole() { EXPECT_EQ(Contents(out_), Contents(whole_)); }
  ino_t Inode(const std::string& file) {
    struct stat info = {};
    EXPECT_EQ(stat(out_.At(file).c_str(), &info), 0) << file;
    return info.st_ino;
  }
  static std::string TrainShard(int number) {
    return "train-0000" + std::to_string(number) + "-of-00005.shard";
  }
  void Touch(const std::string& input) {
    const auto time = fs::last_write_time(source_.At(input));
    fs::last_write_time(source_.At(input), time + std::chrono::seconds(1));
  }
  // The shard with this input, by the key that its record metadata holds.
  int ShardWith(const std::string& input) {
    for (int k = 0; k < 5; ++k) {
      if (whole_.Read(TrainShard(k)).find(input) != std::string::npos) return k;
    }
    ADD_FAILURE() << input;
    return 0;
  }

  TestFolder source_, whole_, out_;
  PackOptions options_;
  std::string text_;
};

TEST_F(PackContinueTest, FinishedShardsAreKeptAndTheRestIsMade) {
  ExpectCode(whole_, 0);
  ASSERT_EQ(Contents(whole_).size(), kShards + 1);
  PackSlice(1, 2);
  EXPECT_NE(text_.find("4 of 6 shards of the set are still missing"), std::string::npos) << text_;
  EXPECT_FALSE(out_.Has("manifest.json"));
  const ino_t first = Inode(TrainShard(1)), second = Inode(TrainShard(2));
  ExpectCode(out_, 0);
  EXPECT_NE(text_.find("12 packed + 0 skipped = 12 inputs"), std::string::npos) << text_;
  EXPECT_NE(text_.find("2 of 6 shards kept from an earlier run"), std::string::npos) << text_;
  EXPECT_EQ(Inode(TrainShard(1)), first);
  EXPECT_EQ(Inode(TrainShard(2)), second);
  ExpectSameAsWhole();
}

TEST_F(PackContinueTest, ShardOfAnInputThatChangedIsMadeAnew) {
  ExpectCode(whole_, 0);
  PackSlice(0, kShards - 1);
  const int touched = ShardWith(Input(4));
  std::map<int, ino_t> before;
  for (int k = 0; k < 5; ++k) before[k] = Inode(TrainShard(k));
  // Both old shards stay open, so that a new file cannot get the number of an old one.
  fs::create_hard_link(out_.At(TrainShard(touched)), source_.At(".old"));
  Touch(Input(4));
  ExpectCode(out_, 0);
  EXPECT_NE(text_.find("5 of 6 shards kept"), std::string::npos) << text_;
  for (int k = 0; k < 5; ++k) EXPECT_EQ(Inode(TrainShard(k)) == before[k], k != touched) << k;
  ExpectSameAsWhole();
}

TEST_F(PackContinueTest, ShardThatDoesNotFitIsMadeAnew) {
  ExpectCode(whole_, 0);
  PackSlice(0, kShards - 1);
  out_.Write(TrainShard(0), out_.Read(TrainShard(1)));
  std::string damaged = out_.Read(TrainShard(2));
  damaged[2 * 4096 + 40] ^= 1;  // the header of the first block
  out_.Write(TrainShard(2), damaged);
  out_.Write(TrainShard(3), out_.Read(TrainShard(3)).substr(0, 5000));
  damaged = out_.Read(TrainShard(4));
  damaged[3 * 4096] ^= 1;  // a pixel
  out_.Write(TrainShard(4), damaged);
  ExpectCode(out_, 0);
  EXPECT_NE(text_.find("2 of 6 shards kept"), std::string::npos) << text_;
  ExpectSameAsWhole();
}

TEST_F(PackContinueTest, WithoutAStateNothingIsTrusted) {
  ExpectCode(whole_, 0);
  PackSlice(0, kShards - 1);
  out_.Write(".pack-state", out_.Read(".pack-state") + " ");
  ExpectCode(out_, 0);
  EXPECT_EQ(text_.find("kept"), std::string::npos) << text_;
  ExpectSameAsWhole();
}

TEST_F(PackContinueTest, OtherOptionsOrInputsAreRefusedByName) {
  PackSlice(0, 1);
  const auto before = Contents(out_);
  options_.crop = ImageSize{4, 4};
  ExpectError(StatusCode::kInvalidArgument, "crop was none, now it is 4x4");
  options_.crop.reset();
  options_.max_pixels = 12345;
  ExpectError(StatusCode::kInvalidArgument, "max-pixels was 268435456, now it is 12345");
  options_.max_pixels = PackOptions().max_pixels;
  source_.Write(Input(3), Png(Photo({8, 8}, 77)) + std::string(9, '\0'));
  ExpectError(StatusCode::kInvalidArgument, Input(3) + " had ");
  ExpectError(StatusCode::kInvalidArgument, "--overwrite");
  EXPECT_EQ(Contents(out_), before);
  source_.Write(Input(3), Png(Photo({8, 8}, 3)));
  options_.crop = ImageSize{4, 4};
  ExpectCode(whole_, 0);
  options_.overwrite = true;
  ExpectCode(out_, 0);
  ExpectSameAsWhole();
}

// What was skipped before the kill counts as if it had been skipped now.
TEST_F(PackContinueTest, SkippedInputsOfKeptShardsCount) {
  source_.Write(Input(2), "no image");
  source_.Write(Input(5), "");
  options_.on_error.skip = true;
  ExpectCode(whole_, 6);
  EXPECT_NE(text_.find("10 packed + 2 skipped = 12 inputs"), std::string::npos) << text_;
  PackSlice(0, kShards - 2);
  ExpectCode(out_, 6);
  EXPECT_NE(text_.find("10 packed + 2 skipped = 12 inputs"), std::string::npos) << text_;
  EXPECT_NE(text_.find("5 of 6 shards kept"), std::string::npos) << text_;
  EXPECT_NE(text_.find("skipped: " + Input(2)), std::string::npos) << text_;
  ExpectSameAsWhole();
}

TEST_F(PackContinueTest, ShardsWithSkippedInputsAreNotKeptWhereNoneMayBe) {
  source_.Write(Input(2), "no image");
  options_.on_error.skip = true;
  options_.slice = ShardSlice{0, kShards - 1};
  ExpectCode(out_, 6);
  options_.slice.reset();
  options_.on_error.skip = false;
  options_.resize = ResizeRule{};
  EXPECT_FALSE(Pack(out_).ok());
  options_.resize.reset();
  ExpectError(StatusCode::kDataLoss, Input(2));
}

// An --overwrite that was stopped leaves the old set as it was and is gone on with.
TEST_F(PackContinueTest, StoppedOverwriteIsGoneOnWith) {
  ExpectCode(out_, 0);
  const auto old_set = Contents(out_);
  options_.crop = ImageSize{4, 4};
  options_.shard_bytes = 2 * (4 * 4 * 3 + 1);
  ExpectCode(whole_, 0);
  options_.overwrite = true;
  PackSlice(0, 2);
  auto now = Contents(out_);
  for (const auto& [file, content] : old_set) EXPECT_EQ(now[file], content) << file;
  ExpectCode(out_, 0);
  EXPECT_NE(text_.find("3 of 6 shards kept"), std::string::npos) << text_;
  ExpectSameAsWhole();
}

// The moment after the old shards were removed, while the new ones are moved to their place.
TEST_F(PackContinueTest, ReplacementThatWasCutIsFinished) {
  ExpectCode(out_, 0);
  options_.crop = ImageSize{4, 4};
  options_.shard_bytes = 2 * (4 * 4 * 3 + 1);
  ExpectCode(whole_, 0);
  options_.overwrite = true;
  PackSlice(0, kShards - 1);
  fs::remove(out_.At("manifest.json"));
  for (int k = 0; k < 5; ++k) fs::remove(out_.At(TrainShard(k)));
  fs::remove(out_.At("val-00000-of-00001.shard"));
  const std::string incoming = ".shardmill-incoming/";
  out_.Write(incoming + ".moving", "");
  fs::rename(out_.At(incoming + TrainShard(3)), out_.At(TrainShard(3)));
  options_.overwrite = false;
  ExpectError(StatusCode::kInvalidArgument, "a pack with --overwrite was stopped");
  options_.overwrite = true;
  ExpectCode(out_, 0);
  EXPECT_NE(text_.find("6 of 6 shards kept"), std::string::npos) << text_;
  ExpectSameAsWhole();
}

// The moment between the manifest and the removal of the state.
TEST_F(PackContinueTest, CompleteSetWithItsStateIsFinishedOnce) {
  ExpectCode(whole_, 0);
  PackSlice(0, kShards - 1);
  fs::copy_file(whole_.At("manifest.json"), out_.At("manifest.json"));
  ExpectCode(out_, 0);
  ExpectSameAsWhole();
  ExpectError(StatusCode::kInvalidArgument, "holds a data set already");
}

TEST_F(PackContinueTest, SlicesAndFinishMakeTheSameSet) {
  ExpectCode(whole_, 0);
  options_.finish = true;
  ExpectError(StatusCode::kNotFound, "holds no unfinished data set");
  options_.finish = false;
  PackSlice(4, 5);
  PackSlice(0, 2);
  options_.finish = true;
  ExpectError(StatusCode::kNotFound, TrainShard(3) + ": --shards 3");
  options_.finish = false;
  PackSlice(2, 3);
  EXPECT_NE(text_.find("all 6 shards of the set are there"), std::string::npos) << text_;
  options_.finish = true;
  ExpectCode(out_, 0);
  EXPECT_NE(text_.find("12 packed + 0 skipped"), std::string::npos) << text_;
  ExpectSameAsWhole();
}

TEST_F(PackContinueTest, FinishRefusesShardsOfChangedInputsAndRemovesNothing) {
  PackSlice(0, kShards - 1);
  Touch(Input(1));
  const auto before = Contents(out_);
  options_.finish = true;
  ExpectError(StatusCode::kNotFound, "1 of 6 shards are missing");
  EXPECT_EQ(Contents(out_), before);
}

TEST_F(PackContinueTest, SliceBeyondThePlanIsRefused) {
  options_.slice = ShardSlice{4, kShards};
  ExpectError(StatusCode::kInvalidArgument, "the plan has 6 shards, 0 to 5");
}

TEST_F(PackContinueTest, WholePackRefusesWhileOthersShareTheFolder) {
  PackSlice(0, 0);
  const auto lock = FolderLock::TryAcquire(out_.path(), LockKind::kShared);
  ASSERT_TRUE(lock.ok() && lock->has_value());
  ExpectError(StatusCode::kInvalidArgument, "(process " + std::to_string(getpid()));
  PackSlice(1, 1);
  EXPECT_TRUE(out_.Has(TrainShard(1)));
}

TEST_F(PackContinueTest, ShardThatAnotherProcessHasClaimedIsLeftToIt) {
  PackSlice(0, 0);
  const auto shared = FolderLock::TryAcquire(out_.path(), LockKind::kShared);
  const auto claim =
      FolderLock::TryAcquire(out_.path(), LockKind::kAlone, ".claim-" + TrainShard(2));
  ASSERT_TRUE(claim.ok() && claim->has_value());
  PackSlice(1, 3);
  EXPECT_TRUE(out_.Has(TrainShard(1)));
  EXPECT_FALSE(out_.Has(TrainShard(2)));
  EXPECT_TRUE(out_.Has(TrainShard(3)));
}

// Another folder, other times, files made in another order, other numbers of threads: same bytes.
TEST_F(PackContinueTest, BytesDependOnTheInputsAlone) {
  ExpectCode(whole_, 0);
  const TestFolder elsewhere(Name() + "-elsewhere/below/other");
  for (uint64_t i = 12; i-- > 0;) {
    elsewhere.Write(Input(i), Png(Photo({8, 8}, i)));
    const auto time = fs::last_write_time(elsewhere.At(Input(i)));
    fs::last_write_time(elsewhere.At(Input(i)), time - std::chrono::hours(1000 + i % 3));
  }
  options_.source = elsewhere.path() + "/";
  for (int jobs : {1, 2, 5}) {
    options_.jobs = jobs;
    fs::remove_all(out_.path());
    ExpectCode(out_, 0);
    ExpectSameAsWhole();
  }
}

}  // namespace
}  // namespace shardmill
