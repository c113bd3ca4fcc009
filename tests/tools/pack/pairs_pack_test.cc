// Two folders of images and labels: which name belongs to which, and what is not guessed.
#include "tests/tools/pack/layout_fixture.h"

namespace shardmill {
namespace {

using Values = std::vector<int>;
using PairsPackTest = LayoutPackTest;

TEST_F(PairsPackTest, PairsFollowPrefixAndSuffix) {
  source_.Write("classes.json",
                "[{\"name\": \"ground\", \"color\": \"#000000\"}, {\"name\": \"tree\", \"color\": "
                "[0, 255, 0]}]");
  AddMany("images/img_", ".jpg", "masks/seg_", "_mask.png", RgbPng(kSize, {0x00FF00, 0}));
  ExpectLayout("pairs");
  EXPECT_EQ(CommonValues(2), (Values{1, 0}));
  EXPECT_NE(error_.find("img_NAME and seg_NAME_mask"), std::string::npos) << error_;
  AddImage("images/other.jpg");  // now the names have nothing in common
  ExpectError(StatusCode::kNotFound, "there is no label with this stem");
  options_.layout.layout = "pairs";
  options_.layout.pairs = {"images", "masks", "img_", "", "seg_", "_mask"};
  ExpectPacked();
  EXPECT_EQ(CommonValues(2), (Values{1, 0}));
  EXPECT_NE(error_.find("1 not named img_… left out in images, the last one images/other.jpg"),
            std::string::npos)
      << error_;
}

// Numbers tell cameras and years apart.
TEST_F(PairsPackTest, PairsWhoseNamesDifferInNumbersAreNotGuessed) {
  source_.Write("classes.txt", "a\nb\n");
  for (const char* name : {"a", "b"}) {
    AddImage(std::string("images/cam_1_") + name + ".png");
    source_.Write(std::string("masks/cam_2_") + name + "_m.png", GrayPng(kSize, {0, 1}));
  }
  ExpectError(
      StatusCode::kInvalidArgument,
      "cam_1_NAME and cam_2_NAME_m differ in numbers, so that they may not belong together");
  options_.layout.layout = "pairs";
  options_.layout.pairs = {"./images/", source_.At("masks"), "cam_1_", "", "cam_2_", "_m"};
  ExpectPacked();
  EXPECT_EQ(ReadLabels().size(), 2u);
}

TEST_F(PairsPackTest, OnePairIsTakenByTheNumberThatItShares) {
  source_.Write("classes.txt", "a\nb\n");
  AddImage("images/frame_1.png");
  source_.Write("masks/mask_1.png", GrayPng(kSize, {0, 1}));
  ExpectPacked();
  EXPECT_EQ(ReadLabels().size(), 1u);
}

TEST_F(PairsPackTest, TwoFoldersThatCouldHoldTheLabelsAreNotChosenFrom) {
  source_.Write("classes.txt", "a\nb\n");
  for (const char* split : {"training", "test"}) {
    const std::string folder = split + std::string("/");
    AddImage(folder + "images/1.png");
    source_.Write(folder + "1st_manual/1.png", GrayPng(kSize, {0, 1}));
    source_.Write(folder + "mask/1.png", GrayPng(kSize, {1, 1}));
  }
  ExpectError(StatusCode::kInvalidArgument,
              "the folders test/1st_manual and test/mask could both hold the labels");
  options_.layout.layout = "pairs";
  options_.layout.pairs = {"training/images", "training/1st_manual", "", "", "", ""};
  ExpectPacked();
  EXPECT_EQ(FirstValues("training/images/1.png", 2), (Values{0, 1}));
}

TEST_F(PairsPackTest, LabelsInTheFolderOfTheImagesAreToldByTheirPrefix) {
  source_.Write("classes.txt", "a\nb\n");
  for (const char* name : {"1", "2"}) {
    AddImage(std::string("d/") + name + ".png");
    source_.Write(std::string("d/mask_") + name + ".png", GrayPng(kSize, {0, 1}));
  }
  options_.layout.layout = "pairs";
  options_.layout.pairs = {"d", "d", "", "", "mask_", ""};
  ExpectPacked();
  EXPECT_EQ(ReadLabels().size(), 2u);
  EXPECT_NE(out_.find("2 packed + 0 skipped = 2 inputs"), std::string::npos) << out_;
}

TEST_F(PairsPackTest, TestFolderWithImagesAloneIsPackedWhenAskedFor) {
  source_.Write("classes.txt", "a\nb\n");
  for (const char* split : {"train", "val", "test"}) {
    AddImage(std::string(split) + "/images/1.png");
    if (split == std::string("test")) continue;
    source_.Write(std::string(split) + "/masks/1.png", GrayPng(kSize, {0, 1}));
  }
  ExpectLayout("pairs");
  EXPECT_NE(out_.find("2 packed + 1 skipped = 3 inputs"), std::string::npos) << out_;
  options_.layout.splits = {"train", "test"};
  ExpectPacked();
  EXPECT_EQ(ReadLabels("test")["test/images/1.png"], Values(24, 255));
}

TEST_F(PairsPackTest, PairsInOneFolderAndInSplits) {
  source_.Write("names.csv", "name\na\nb\n");
  for (const char* split : {"train", "val"}) {
    AddImage(std::string(split) + "/x.1.JPG");
    source_.Write(std::string(split) + "/x.1.label.PNG", GrayPng(kSize, {0, 1}));
  }
  options_.layout.classes_file = source_.At("names.csv");
  options_.layout.pairs = {".", ".", "", "", "", ".label"};
  options_.layout.layout = "pairs";
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/x.1.JPG", 2), (Values{0, 1}));
}

TEST_F(PairsPackTest, PairsWhoseStemsDifferInCaseAreNamed) {
  source_.Write("classes.txt", "a\nb\n");
  AddImage("images/Img1.jpg");
  AddImage("images/img2.jpg");
  source_.Write("masks/img1.png", GrayPng(kSize, {0, 1}));
  source_.Write("masks/img2.png", GrayPng(kSize, {0, 1}));
  ExpectError(StatusCode::kNotFound, "masks/img1.png differs in upper and lower case");
}

TEST_F(PairsPackTest, PairsBesideTheSplitsAreNotLeftOutUnasked) {
  source_.Write("classes.txt", "a\nb\n");
  for (const char* split : {"train_val", "TEST"}) {
    AddImage(std::string(split) + "/images/1.jpg");
    source_.Write(std::string(split) + "/masks/1.png", GrayPng(kSize, {0, 1}));
  }
  ExpectError(StatusCode::kInvalidArgument,
              "folder train_val holds images and labels as the splits do, and would be left out");
  options_.layout.splits = {"test"};
  ExpectPacked();
  EXPECT_EQ(ReadLabels().size(), 1u);
}

TEST_F(PairsPackTest, PairsWithoutAClassTableSaySo) {
  AddImage("images/a.jpg");
  source_.Write("masks/a.png", GrayPng(kSize, {0, 1}));
  ExpectError(StatusCode::kNotFound, "give one with --classes FILE");
}

}  // namespace
}  // namespace shardmill
