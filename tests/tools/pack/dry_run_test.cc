// Packs that are only tried.
#include <gtest/gtest.h>

#include "tests/tools/pack/pack_fixture.h"
#include "tools/pack/trial.h"

namespace shardmill {
namespace {

class DryRun : public PackFixture {
 protected:
  DryRun() { options_.dry_run = true; }
  void ExpectText(const std::string& text) {
    EXPECT_NE(out_.find(text), std::string::npos) << text << " is not in:\n" << out_;
  }
};

TEST_F(DryRun, PrintsThePlanAndWritesNothing) {
  for (uint64_t i = 0; i < 100; ++i) AddScene("train", "s" + std::to_string(i), {16, 16}, i);
  AddScene("val", "v", {16, 16}, 1);
  options_.label_codec = Codec::kRaw;
  options_.shard_bytes = 40 * 16 * 16 * 4;
  ExpectCode(0);
  ExpectText("plan: 101 inputs");
  ExpectText("train: 100 records in 3 shards (numbers 0-2), 100 KiB uncompressed");
  // Raw records are all of one size, so the estimate is exact.
  ExpectText("about 101 KiB in ");
  ExpectText("64 inputs tried tell; all of them can be packed");
  EXPECT_TRUE(output_.Files().empty());
}

TEST_F(DryRun, NamesWhatWouldStopThePack) {
  for (uint64_t i = 0; i < 5; ++i) AddScene("train", "s" + std::to_string(i), {16, 16}, i);
  AddPair("train", "t.png", Png(Photo({16, 16}, 1)), Png(GrayLabel({8, 8}, RandomIds({8, 8}, 1))));
  ExpectError(StatusCode::kDataLoss,
              "1 of the 6 inputs tried cannot be packed; the first: train/t.png: the image is");
  ExpectText("problem: train/t.png: the image is 16 high × 16 wide");
  options_.on_error = {true, 0};
  ExpectCode(6);
  options_.on_error = {true, 1};
  ExpectCode(0);
  EXPECT_TRUE(output_.Files().empty());
}

// A header may claim any size, and it is the only input of that size that the plan knows of.
TEST_F(DryRun, ImageAboveTheLimitIsNamedAndItsSizeDoesNotEnterThePlan) {
  for (uint64_t i = 0; i < 100; ++i) AddScene("train", "s" + std::to_string(i), {16, 16}, i);
  AddScene("train", "t", {40, 40}, 1);  // the last, which is not among the inputs tried
  options_.max_pixels = 40 * 40 - 1;
  options_.label_codec = Codec::kRaw;
  options_.shard_bytes = 40 * 16 * 16 * 4;
  options_.on_error = {true, 0};
  ExpectCode(6);
  ExpectText("train: 101 records in 3 shards (numbers 0-2), 101 KiB uncompressed");
  ExpectText("records of 16 high × 16 wide");
  ExpectText("65 inputs tried tell; 1 cannot be packed");
  ExpectText("problem: train/t.png: 40 high × 40 wide is more than --max-pixels 1599");
  options_.on_error = {true, 1};
  ExpectCode(0);
  options_.on_error = {false, 0};
  ExpectError(StatusCode::kDataLoss,
              "1 of the 65 inputs tried cannot be packed; the first: train/t");
}

TEST_F(DryRun, TilesAreCountedBeforeAnythingIsDecoded) {
  AddScene("train", "a", {16, 16}, 1);
  AddScene("train", "b", {40, 24}, 2);
  options_.crop = ImageSize{16, 16};
  options_.crop_mode = CropMode::kTile;
  ExpectCode(0);
  ExpectText("train: 7 records in 1 shard");
}

}  // namespace
}  // namespace shardmill
