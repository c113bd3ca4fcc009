// Packs that go on with what an earlier one left, and packs in slices.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "proto/manifest.pb.h"
#include "reader/base/folder_lock.h"
#include "reader/manifest.h"
#include "tests/tools/pack/pack_continue_fixture.h"
#include "tools/pack/pack_job.h"

namespace shardmill {
namespace {

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

TEST_F(PackContinueTest, WithoutAStateNothingIsTrustedAndTheLossIsTold) {
  ExpectCode(whole_, 0);
  for (const bool missing : {false, true}) {
    PackSlice(0, kShards - 1);
    out_.Write(".pack-state", " " + out_.Read(".pack-state"));
    options_.finish = true;
    ExpectError(StatusCode::kNotFound, ".pack-state is damaged");
    options_.finish = false;
    if (missing) fs::remove(out_.At(".pack-state"));
    ExpectNote(missing ? "there is no " : ".pack-state is damaged, so it is not known",
               "6 shards that are there are not kept");
    EXPECT_EQ(text_.find("kept"), std::string::npos) << text_;
    ExpectSameAsWhole();
    fs::remove_all(out_.path());
  }
}

TEST_F(PackContinueTest, ShardsOfOthersAreNotRemovedUnasked) {
  ExpectCode(whole_, 0);
  const TestFolder other(Name() + "-other");
  options_.crop = ImageSize{4, 4};
  ExpectCode(other, 0);
  const std::string foreign = other.Read("val-00000-of-00001.shard");
  options_.crop.reset();
  PackSlice(0, 2);
  const auto before = Contents(out_);
  const std::map<std::string, std::string> cases = {
      {"test-00000-of-00003.shard", whole_.Read(TrainShard(4))},  // a name of no shard of the set
      {"val-00000-of-00001.shard", foreign},
      {TrainShard(4), foreign.substr(0, 5000)},
      {TrainShard(1), "x" + foreign.substr(1)}};  // only the end says the id
  for (const auto& [file, content] : cases) {
    out_.Write(file, content);
    auto expected = before;
    expected[file] = content;
    ExpectError(StatusCode::kInvalidArgument, " holds " + file + ", which the pack");
    EXPECT_EQ(Contents(out_), expected);
    fs::remove(out_.At(file));
    if (before.count(file) > 0) out_.Write(file, before.at(file));
  }
  fs::create_directory(out_.At(TrainShard(4)));
  ExpectError(StatusCode::kInvalidArgument, " holds " + TrainShard(4));
  fs::remove(out_.At(TrainShard(4)));
  for (const auto& [file, content] : cases) out_.Write(file, content);
  options_.overwrite = true;
  ExpectNote("--overwrite removes 4 shards, such as test-00000-of-00003.shard", "");
  ExpectSameAsWhole();
}

TEST_F(PackContinueTest, OverwriteTellsWhichShardsOfOthersItWillRemove) {
  ExpectCode(out_, 0);
  out_.Write("test-00000-of-00001.shard", out_.Read("val-00000-of-00001.shard"));
  options_.crop = ImageSize{4, 4};
  ExpectCode(whole_, 0);
  options_.overwrite = true;
  fs::create_directory(out_.At("test-00000-of-00002.shard"));
  const auto before = Contents(out_);
  ExpectError(StatusCode::kInvalidArgument, "test-00000-of-00002.shard is a folder");
  EXPECT_EQ(Contents(out_), before);
  fs::remove(out_.At("test-00000-of-00002.shard"));
  ExpectNote("--overwrite will remove test-00000-of-00001.shard from", "");
  ExpectSameAsWhole();
}

TEST_F(PackContinueTest, LeftoversOfThisPackAreRemovedAndNoOthers) {
  ExpectCode(whole_, 0);
  PackSlice(0, 2);
  out_.Write(TrainShard(2), std::string(9000, 'x'));  // as a power cut may leave it
  out_.Write(TrainShard(3) + ".tmp-77", "cut");
  out_.Write("manifest.json.tmp-77", "cut");
  out_.Write("pack-report.html.tmp-77", "cut");
  out_.Write(TrainShard(4) + ".tmp-77-1", "cut");
  for (const char* mine : {"notes.txt", "manifest.json.tmp-notes", "pack-report.html.tmp-",
                           "train-00004-of-00005.shard.tmp-77-x"}) {
    out_.Write(mine, "of somebody");
  }
  out_.Write("test-00000-of-00001.shard.tmp-78", "of somebody");
  ExpectNote("1 shard that is there is damaged, or not what was packed",
             "2 of 6 shards are finished");
  auto expected = Contents(whole_);
  expected["manifest.json.tmp-notes"] = expected["pack-report.html.tmp-"] = "of somebody";
  expected["train-00004-of-00005.shard.tmp-77-x"] = "of somebody";
  expected["notes.txt"] = expected["test-00000-of-00001.shard.tmp-78"] = "of somebody";
  EXPECT_EQ(Contents(out_), expected);
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

// Of the same inputs by name and size, so that id, plan and size of the file are those of ours.
TEST_F(PackContinueTest, ShardOfOtherPixelsInThePlaceOfOursIsMadeAnew) {
  const auto write = [&](uint64_t photo) {
    std::string image = Png(Photo({8, 8}, photo));
    image.resize(1000);
    source_.Write(Input(4), image);
  };
  write(77);
  const TestFolder other(Name() + "-other");
  ExpectCode(other, 0);
  write(4);
  ExpectCode(whole_, 0);
  const std::string shard = TrainShard(ShardWith(Input(4)));
  ASSERT_EQ(other.Read(shard).size(), whole_.Read(shard).size());
  ASSERT_NE(other.Read(shard), whole_.Read(shard));
  for (const bool finish : {true, false}) {
    PackSlice(0, kShards - 1);
    out_.Write(shard, other.Read(shard));
    options_.finish = finish;
    if (finish) {
      ExpectError(StatusCode::kNotFound, "1 of 6 shards are missing");
    } else {
      ExpectNote("1 shard that is there is damaged, or not what was packed", "5 of 6 shards");
    }
    options_.finish = false;
  }
  ExpectSameAsWhole();
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

TEST_F(PackContinueTest, FinishSaysThatItNeedsOverwriteAsTheSlicesDid) {
  ExpectCode(out_, 0);
  const auto old_set = Contents(out_);
  options_.crop = ImageSize{4, 4};
  options_.shard_bytes = 2 * (4 * 4 * 3 + 1);
  ExpectCode(whole_, 0);
  options_.finish = true;
  ExpectError(StatusCode::kInvalidArgument, "make them first, with --overwrite and --shards");
  options_.finish = false;
  options_.overwrite = true;
  PackSlice(0, kShards - 1);
  options_.finish = true;
  options_.overwrite = false;
  ExpectError(StatusCode::kInvalidArgument, "finish them with --overwrite");
  options_.overwrite = true;
  options_.crop = ImageSize{5, 5};
  ExpectError(StatusCode::kInvalidArgument, "crop was 4x4, now it is 5x5");
  auto now = Contents(out_);
  for (const auto& [file, content] : old_set) EXPECT_EQ(now[file], content) << file;
  options_.crop = ImageSize{4, 4};
  ExpectCode(out_, 0);
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

// The launcher's variables, as rank `rank` of two of job 77 sees them.
class AsRank {
 public:
  explicit AsRank(int rank) {
    setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
    setenv("OMPI_COMM_WORLD_RANK", std::to_string(rank).c_str(), 1);
    setenv("OMPI_MCA_ess_base_jobid", "77", 1);
  }
  ~AsRank() {
    for (const char* name :
         {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_MCA_ess_base_jobid"}) {
      unsetenv(name);
    }
  }
};

TEST_F(PackContinueTest, RankThatWasFasterThanRankZeroIsNotMissed) {
  ExpectCode(whole_, 0);
  {
    const AsRank rank(1);
    ExpectCode(out_, 0);
  }
  EXPECT_TRUE(out_.Has(TrainShard(4)));
  EXPECT_FALSE(out_.Has("manifest.json"));
  const AsRank rank(0);
  ExpectNote("6 of 6 shards are finished and kept", "");
  EXPECT_EQ(notes_.find("rank 1"), std::string::npos) << notes_;
  ExpectSameAsWhole();
}

// Whoever enters the folder cleans it up, but not of the traces of this job.
TEST_F(PackContinueTest, RankThatDiedBeforeRankZeroCameIsNamed) {
  ExpectCode(whole_, 0);
  const std::string claim = ".claim-" + TrainShard(2);
  const auto leave_claim = [&](const std::string& job) {
    out_.Write(claim, "process 999999999 on nowhere, rank 1 of 2, job " + job + "\n");
    out_.Write(".rank-1", "came, job " + job + "\n");
  };
  leave_claim("77");
  {
    const AsRank rank(0);
    ExpectError(StatusCode::kUnavailable, "rank 1 of 2, job 77, ended before " + TrainShard(2));
    fs::remove(out_.At(claim));
    ExpectNote("rank 1 of 2 ended before all shards were finished", "the others made its shards");
    ExpectSameAsWhole();
  }
  // Of another job.
  fs::remove_all(out_.path());
  leave_claim("78");
  ExpectCode(out_, 0);
  ExpectSameAsWhole();
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
