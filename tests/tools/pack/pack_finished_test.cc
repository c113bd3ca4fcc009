// Packs into a folder that holds the whole set already.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "tests/tools/pack/pack_continue_fixture.h"

namespace shardmill {
namespace {

// The moment between the manifest and the removal of the state.
TEST_F(PackContinueTest, CompleteSetWithItsStateIsFinishedOnce) {
  ExpectCode(whole_, 0);
  PackSlice(0, kShards - 1);
  fs::copy_file(whole_.At("manifest.json"), out_.At("manifest.json"));
  out_.Write("pack-report.html.tmp-77", "cut");
  ExpectCode(out_, 0);
  EXPECT_TRUE(out_.Has("pack-report.html"));
  ExpectSameAsWhole();
}

// Killed between the removal of the state and its own end, or merely given once more.
TEST_F(PackContinueTest, FinishedSetIsLeftAsItIsByTheSameCommand) {
  ExpectCode(whole_, 0);
  ExpectCode(out_, 0);
  const std::string report = out_.Read("pack-report.html");
  for (const bool finish : {false, true}) {
    const ino_t first = Inode(TrainShard(0)), manifest = Inode("manifest.json");
    out_.Write(".shardmill-lock", "process 999999999 on nowhere, a whole pack\n");
    out_.Write("manifest.json.tmp-77", "cut");
    options_.finish = finish;
    ExpectNote("holds this data set already, complete", "nothing is to be done");
    EXPECT_EQ(notes_.find("going on with"), std::string::npos) << notes_;
    EXPECT_NE(text_.find("12 packed + 0 skipped = 12 inputs"), std::string::npos) << text_;
    EXPECT_NE(text_.find("6 of 6 shards kept from an earlier run"), std::string::npos) << text_;
    EXPECT_NE(text_.find("report: " + out_.At("pack-report.html")), std::string::npos) << text_;
    EXPECT_EQ(Inode(TrainShard(0)), first);
    EXPECT_EQ(Inode("manifest.json"), manifest);
    EXPECT_EQ(out_.Read("pack-report.html"), report);
    ExpectSameAsWhole();
  }
}

TEST_F(PackContinueTest, SkippedInputsOfAFinishedSetCountAgain) {
  source_.Write(Input(2), "no image");
  options_.on_error.skip = true;
  ExpectCode(out_, 6);
  ExpectCode(out_, 6);
  EXPECT_NE(text_.find("11 packed + 1 skipped = 12 inputs"), std::string::npos) << text_;
  options_.on_error.limit = 1;
  ExpectCode(out_, 0);
  options_.on_error = ErrorPolicy();
  ExpectError(StatusCode::kInvalidArgument, "holds a data set already; replace it");
}

TEST_F(PackContinueTest, FinishedSetOfAnotherCommandIsRefused) {
  ExpectCode(out_, 0);
  const auto before = Contents(out_);
  const auto expect_refused = [&](const std::string& part) {
    ExpectError(StatusCode::kInvalidArgument, "holds a data set already" + part);
    EXPECT_EQ(Contents(out_), before);
  };
  options_.crop = ImageSize{4, 4};
  expect_refused("; replace it");
  options_.crop.reset();
  options_.shard_bytes *= 2;  // the id stays
  expect_refused("; replace it");
  options_.shard_bytes /= 2;
  options_.max_pixels = 12345;
  expect_refused("; replace it");
  options_.max_pixels = PackOptions().max_pixels;
  options_.slice = ShardSlice{0, 1};
  expect_refused("; replace it");
  options_.slice.reset();
  const auto made = fs::last_write_time(out_.At(TrainShard(4)));
  fs::last_write_time(source_.At(Input(4)), made + std::chrono::seconds(1));
  expect_refused(", and " + Input(4) +
                 " was changed, or copied there, since it was packed; replace it");
  // An old file that takes the place of an input is another one.
  fs::last_write_time(source_.At(Input(4)), made - std::chrono::seconds(100));
  expect_refused(", and " + Input(4) + " was changed, or copied there, since it was packed");
  const std::string shard = out_.Read(TrainShard(1));
  out_.Write(TrainShard(1), shard.substr(0, shard.size() - 4096));
  ExpectError(StatusCode::kInvalidArgument, "holds a data set already; replace it");
}

// Between the manifest and the removal of the state; what changed since must not cost the set.
TEST_F(PackContinueTest, CompleteSetWithItsStateIsKeptWhenAnInputChanged) {
  PackSlice(0, kShards - 1);
  const std::string state = out_.Read(".pack-state");
  ExpectCode(out_, 0);
  const auto before = Contents(out_);
  out_.Write(".pack-state", state);
  const std::string image = source_.Read(Input(3));
  source_.Write(Input(3), std::string(image.size(), 'x'));
  Touch(Input(3));
  ExpectError(StatusCode::kInvalidArgument, "holds a data set already");
  options_.overwrite = true;
  ExpectError(StatusCode::kDataLoss, Input(3));
  EXPECT_EQ(Contents(out_), before);
}

// Nothing the old set's own command says must depend on what was begun beside it.
TEST_F(PackContinueTest, FinishedSetIsKnownBesideAStoppedReplacement) {
  ExpectCode(out_, 0);
  const std::string manifest = out_.Read("manifest.json");
  options_.crop = ImageSize{4, 4};
  options_.overwrite = true;
  PackSlice(0, 1);
  options_.overwrite = false;
  options_.crop.reset();
  ExpectNote("holds this data set already, complete",
             "A pack with --overwrite that was to replace it was stopped: the command that began");
  options_.crop = ImageSize{5, 5};
  ExpectError(StatusCode::kInvalidArgument, "choose another folder. A pack with --overwrite that");
  EXPECT_EQ(out_.Read("manifest.json"), manifest);
  options_.crop = ImageSize{4, 4};
  options_.overwrite = true;
  ExpectCode(out_, 0);
  EXPECT_NE(out_.Read("manifest.json"), manifest);
}

// The command that began it is this one already.
TEST_F(PackContinueTest, UnfinishedSetOfChangedInputsSaysWhatCanHelp) {
  PackSlice(0, 1);
  source_.Write(Input(3), Png(Photo({9, 9}, 3)));
  ExpectError(StatusCode::kInvalidArgument,
              "Unless these inputs become again what they were, pack");
  options_.overwrite = true;
  ExpectCode(out_, 0);
  options_.overwrite = false;
}

}  // namespace
}  // namespace shardmill
