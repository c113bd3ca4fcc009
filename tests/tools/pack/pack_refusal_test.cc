// Packs that are refused before anything is written.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/tools/pack/image_files.h"
#include "tools/pack/pack_job.h"

namespace shardmill {
namespace {

// A source folder in the suite layout, with one pair.
class PackRefusalTest : public testing::Test {
 protected:
  PackRefusalTest() : source_(Name() + "-source"), output_(Name() + "-output") {
    source_.Write("class_dict.csv", "name,r,g,b\nsky,0,0,255\nroad,128,64,128\n");
    source_.Write("train_labels/a.png", "");
    options_.source = source_.path();
    options_.output = output_.path();
    options_.quiet = true;
  }
  static std::string Name() {
    return testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  void ExpectError(StatusCode code, const std::string& text) {
    Status status = RunPackJob(options_, ReportStyle::kText).status();
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
  }

  TestFolder source_, output_;
  PackOptions options_;
};

TEST_F(PackRefusalTest, ReasonIsGivenWhenNoImageCanBeRead) {
  source_.Write("train/a.png", "");
  ExpectError(StatusCode::kDataLoss,
              "none of the 1 images can be read; the first: train/a.png: this is an empty file");
  source_.Write("train/a.png", Jpeg(Photo({9, 9}, 1), 90));
  options_.max_pixels = 80;
  ExpectError(StatusCode::kInvalidArgument, "train/a.png: 9 high × 9 wide is more than");
}

// That a split gets nothing follows from it.
TEST_F(PackRefusalTest, OrphansAreNamedBeforeEmptySplits) {
  source_.Write("train/b.png", Png(Photo({4, 4}, 1)));
  options_.split_rule.by = SplitRule::By::kRatio;
  options_.split_rule.shares = *ParseShares("train=1");
  ExpectError(StatusCode::kNotFound, "2 of 2 inputs cannot be packed:\n  train/b.png: ");
  options_.on_error.skip = true;
  ExpectError(StatusCode::kNotFound, "none of the 2 inputs can be packed; the first: train/b.png");
}

TEST_F(PackRefusalTest, SourceFolderIsNoOutputUnderAnyName) {
  source_.Write("train/a.png", Png(Photo({4, 4}, 1)));
  const std::vector<std::string> before = source_.Files();
  const std::string link = output_.At("link");
  std::filesystem::create_directory_symlink(source_.path(), link);
  for (const std::string& output : {source_.path(), source_.path() + "/train/..", link}) {
    options_.output = output;
    ExpectError(StatusCode::kInvalidArgument, "is the source folder itself");
  }
  EXPECT_EQ(source_.Files(), before);
}

}  // namespace
}  // namespace shardmill
