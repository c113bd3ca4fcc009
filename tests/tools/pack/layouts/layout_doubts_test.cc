// Folders that look like classes and may be something else, and those that fit nothing.
#include <algorithm>
#include <filesystem>

#include "tests/tools/pack/layouts/layout_testing.h"

namespace shardmill {
namespace {

using LayoutDoubtsTest = LayoutTest;

// What looks like classes by its folders, and is something else.
TEST_F(LayoutDoubtsTest, HalvesOfPairsAreNoClasses) {
  const std::vector<std::string> sets[] = {
      {"img_dir/train/1.jpg", "img_dir/val/2.jpg", "ann_dir/train/1.png", "ann_dir/val/2.png"},
      {"Train/Urban/images_png/1.png", "Train/Urban/masks_png/1.png",
       "Train/Rural/images_png/2.png", "Train/Rural/masks_png/2.png"},
      {"data/images/1.jpg", "data/masks/1.png"},
      {"dataset/train/images/1.jpg", "dataset/train/masks/1.png", "dataset/val/images/2.jpg",
       "dataset/val/masks/2.png"},
      {"a/image_2/1.png", "a/gt_image_2/1.png"},
      {"original_images/1.jpg", "label_images_semantic/1.png"},
      {"photos/1.jpg", "ground_truth/1.png"},
      {"2d_images/1.tif", "2d_masks/1.tif"},
      {"train/x/1.jpg", "train_masks/x/1.png"},
      {"data/1.jpg", "data/1_mask.png", "data/2.jpg", "data/2_mask.png"},
      {"x/JPEGImages/1.jpg", "x/SegmentationClass/1.png", "x/ImageSets/Segmentation/train.txt"},
      {"a/b/leftImg8bit/train/c/1_leftImg8bit.png", "a/b/gtFine/train/c/1_gtFine_labelIds.png"},
      {"x/CamVid/train/1.png", "x/CamVid/train_labels/1.png", "x/CamVid/class_dict.csv"},
      {"cat/1.jpg", "dog/1.jpg", "annotations/1.xml"},
      {"cat/1.jpg", "dog/1.jpg", "labels.json"},
      {"cat/1.jpg", "dog/1.jpg", "classes.csv"},
  };
  for (const std::vector<std::string>& paths : sets) {
    TestFolder folder("halves");
    for (const std::string& path : paths) folder.Write(path, "x");
    const Result<InputSet> set = ReadInputSet(folder.path(), options_);
    EXPECT_NE(set.status().code(), StatusCode::kOk) << paths[0];
    const std::string& text = set.status().message();
    EXPECT_TRUE(text.find("But ") != std::string::npos || text.find("Near is") != std::string::npos)
        << text;
    EXPECT_NE(text.find("say --layout"), std::string::npos) << text;
  }
}

TEST_F(LayoutDoubtsTest, GrayFilesOfTheSameNamesAreNoClass) {
  for (const char* name : {"1", "2", "3"}) {
    folder_.Write(std::string("scenes/") + name + ".jpg", Jpeg(Photo({4, 4}, 1), 90));
    folder_.Write(std::string("areas/") + name + ".png",
                  Png(MakeImage({4, 4}, 1, [](int, int, int) { return 1; })));
  }
  ExpectError(StatusCode::kInvalidArgument, "--images scenes --labels areas");
  // Both gray, as digits are.
  for (const char* name : {"1", "2", "3"}) {
    std::filesystem::remove(folder_.At(std::string("scenes/") + name + ".jpg"));
    folder_.Write(std::string("scenes/") + name + ".png",
                  Png(MakeImage({4, 4}, 1, [](int, int, int) { return 1; })));
  }
  EXPECT_EQ(Good().layout, "imagefolder");
}

TEST_F(LayoutDoubtsTest, GrayFileOfTheNameOfAnImageIsNoImageOfAClass) {
  folder_.Write("pictures/1.jpg", Jpeg(Photo({4, 4}, 1), 90));
  folder_.Write("pictures/1.png", Png(MakeImage({4, 4}, 1, [](int, int, int) { return 1; })));
  ExpectError(StatusCode::kInvalidArgument, "pictures/1.png has the name of pictures/1.jpg");
}

TEST_F(LayoutDoubtsTest, FoldersNamedLikeLabelsWithTheNamesOfImagesAreNoClass) {
  Write({"top/area1.tif", "top/area2.tif", "gts_for_participants/area1.tif",
         "gts_for_participants/area2.tif"});
  ExpectError(StatusCode::kInvalidArgument, "--images top --labels gts_for_participants");
}

TEST_F(LayoutDoubtsTest, PartsOfASetOfImagesAreNoClasses) {
  Write({"H_images_part_1/1.jpg", "H_images_part_2/2.jpg"});
  ExpectError(StatusCode::kInvalidArgument,
              "folder H_images_part_1, as all others, is named like images");
  TestFolder alone("alone");
  alone.Write("train_images/1.jpg", "x");
  const Status status = ReadInputSet(alone.path(), options_).status();
  EXPECT_NE(status.message().find("folder train_images"), std::string::npos) << status.message();
}

TEST_F(LayoutDoubtsTest, HalvesInSeveralSplitsAreAdvisedForTrainAndQuoted) {
  Write({"test/org img/1.jpg", "test/label img/1.png", "train/org img/1.jpg",
         "train/label img/1.png"});
  ExpectError(StatusCode::kInvalidArgument,
              "--images \"train/org img\" --labels \"train/label img\" --classes FILE for these "
              "alone; there are 2 such folders");
}

TEST_F(LayoutDoubtsTest, RunLengthsAndLabelsThatNeverRepeatAreNoClasses) {
  Write({"train/1.jpg", "train/2.jpg", "train_masks/1_mask.gif", "train_masks/2_mask.gif"});
  folder_.Write("train_masks.csv", "img,rle_mask\n1.jpg,179 40 195 20\n2.jpg,3 4\n");
  ExpectError(StatusCode::kInvalidArgument, "line 2 of train_masks.csv has '179 40 195 20'");
  TestFolder distinct("distinct");
  std::string list = "image,label\n";
  for (int i = 10; i < 22; ++i) {
    const std::string name = "i/" + std::to_string(i) + ".jpg";
    distinct.Write(name, "x");
    list += name + ",label " + std::to_string(i) + "a\n";
  }
  distinct.Write("train.csv", list);
  EXPECT_NE(ReadInputSet(distinct.path(), options_)
                .status()
                .message()
                .find("each of the 12 lines of train.csv has a label of its own, as 'label 10a'"),
            std::string::npos);
  options_.layout = "csv";
  EXPECT_TRUE(ReadInputSet(distinct.path(), options_).ok());
}

TEST_F(LayoutDoubtsTest, ClassesThatAreDoubtedCanBeAskedFor) {
  Write({"photos/1.jpg", "ground_truth/1.png"});
  ExpectError(StatusCode::kInvalidArgument,
              "--layout pairs --images photos --labels ground_truth --classes FILE");
  ExpectError(StatusCode::kInvalidArgument, "say --layout imagefolder");
  options_.layout = "imagefolder";
  EXPECT_EQ(Good().classes.size(), 2u);
}

// Advice for one of them would lose the others, or pack the test split as train.
TEST_F(LayoutDoubtsTest, LabelsBesideImagesInFoldersOfSplitsAreAdvisedForAllOfThem) {
  for (const std::string split : {"test", "train", "valid"}) {
    Write({split + "/1.jpg", split + "/1_mask.png"});
    folder_.Write(split + "/_classes.csv", "Pixel Value, Class\n0, background\n1, leaf\n");
  }
  ExpectError(StatusCode::kInvalidArgument, "say --layout pairs --images . --labels . --classes " +
                                                folder_.At("test/_classes.csv") +
                                                " --label-suffix=_mask");
}

TEST_F(LayoutDoubtsTest, NamesOfRealClassesAreNotDoubted) {
  Write({"with_mask/1.jpg", "without_mask/1.jpg", "test_tube/1.jpg", "ann/1.jpg", "seg/1.jpg"});
  folder_.Write("README.txt", "text");
  EXPECT_EQ(Good().classes.size(), 5u);
}

TEST_F(LayoutDoubtsTest, ClassTableInTheOrderOfTheFoldersIsNoDoubt) {
  Write({"cat/1.jpg", "dog/1.jpg"});
  folder_.Write("classes.txt", "cat\ndog\n");
  EXPECT_EQ(Good().layout, "imagefolder");
  folder_.Write("classes.txt", "dog\ncat\n");
  ExpectError(StatusCode::kInvalidArgument, "classes.txt looks like a class table");
  options_.classes_file = folder_.At("classes.txt");
  EXPECT_EQ(Good().classes[0].name, "dog");
}

TEST_F(LayoutDoubtsTest, SplitsOfUnusualNamesAreNoClasses) {
  const std::vector<std::string> sets[] = {
      {"training_set/cat/1.jpg", "test_set/cat/2.jpg"},
      {"seg_train/sea/1.jpg", "seg_test/sea/2.jpg", "seg_pred/3.jpg"},
      {"train_set/cat/1.jpg", "val_set/cat/2.jpg"},
      {"train/cat/1.jpg", "dev/cat/2.jpg"},
      {"train/cat/1.jpg", "evaluation/cat/2.jpg"},
      {"first/cat/1.jpg", "first/dog/1.jpg", "second/cat/2.jpg", "second/dog/2.jpg"},
  };
  for (const std::vector<std::string>& paths : sets) {
    TestFolder folder("unusual");
    for (const std::string& path : paths) folder.Write(path, "x");
    const Status status = ReadInputSet(folder.path(), options_).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << paths[0];
    EXPECT_NE(status.message().find("rename the folders of splits"), std::string::npos)
        << status.message();
  }
}

TEST_F(LayoutDoubtsTest, ClassFoldersBesideAListOfAnotherSplitAreNotLost) {
  Write({"train/n01/1.JPEG", "train/n02/2.JPEG", "val/3.JPEG", "val/4.JPEG"});
  folder_.Write("val.txt", "3.JPEG 0\n4.JPEG 1\n");
  ExpectError(StatusCode::kInvalidArgument, "Say --layout imagefolder --split train");
  options_.layout = "imagefolder";
  ExpectError(StatusCode::kNotFound,
              "folder val cannot be packed: its files lie in no folders of "
              "classes (val/CLASS/…)");
  options_.splits = {"train"};
  EXPECT_EQ(Good().splits[0].samples.size(), 2u);
}

TEST_F(LayoutDoubtsTest, FoldersThatAreNoSplitAreCounted) {
  Write({"train/cat/1.jpg", "test/2.jpg", "test1/3.jpg", "other/cat/4.jpg"});
  const InputSet set = Good();
  ASSERT_EQ(set.splits.size(), 1u);
  std::vector<std::string> keys;
  for (const Problem& problem : set.splits[0].problems) {
    EXPECT_TRUE(problem.by_rule);
    keys.push_back(problem.key);
  }
  EXPECT_EQ(keys, (std::vector<std::string>{"other/cat/4.jpg", "test/2.jpg", "test1/3.jpg"}));
}

TEST_F(LayoutDoubtsTest, ImagesOfForeignFormatsFail) {
  Write({"train/a/1.jfif", "train/a/2.jpe", "train/a/3.heic", "train/a/4.AVIF", "train/a/5.MPO",
         "train/a/6.txt"});
  const InputSet set = Good();
  EXPECT_EQ(Keys(set.splits[0]), (std::vector<std::string>{"train/a/1.jfif", "train/a/2.jpe"}));
  ASSERT_EQ(set.splits[0].problems.size(), 3u);
  EXPECT_EQ(set.splits[0].problems[1].key, "train/a/4.AVIF");
  EXPECT_FALSE(set.splits[0].problems[1].by_rule);
}

TEST_F(LayoutDoubtsTest, LabelsOfASplitWithoutImagesAreRefused) {
  folder_.Write("class_dict.csv", kTable);
  Write({"train/a.png", "train_labels/a.png", "val_labels/b.png"});
  ExpectError(StatusCode::kNotFound, "folder val_labels cannot be packed: there is no folder val");
  options_.splits = {"train"};
  EXPECT_EQ(Good().splits.size(), 1u);
}

TEST_F(LayoutDoubtsTest, NearestLayoutsSayWhyTheyDoNotFit) {
  const std::pair<std::vector<std::string>, std::string> sets[] = {
      {{"train/cat/1.jpg", "train/loose.jpg"},
       "train/loose.jpg lies beside the folders of classes"},
      {{"train/1.jpg", "bus/2.jpg"}, "if it is a class beside bus"},
      {{"train/1.jpg", "train_masks/1.gif"}, "--images train --labels train_masks"},
      {{"train/1.png", "trainannot/1.png", "val/2.png", "valannot/2.png"},
       "--images train --labels trainannot"},
      {{"1.jpg", "2.jpg"}, "the images lie in no folders of classes"},
  };
  for (const auto& [paths, reason] : sets) {
    TestFolder folder("near");
    for (const std::string& path : paths) folder.Write(path, "x");
    const Status status = ReadInputSet(folder.path(), options_).status();
    EXPECT_NE(status.message().find(reason), std::string::npos) << status.message();
  }
}

TEST_F(LayoutDoubtsTest, OutputWithinTheSourceIsNoClass) {
  Write({"cat/1.jpg", "dog/2.jpg", "bin/old/train-00000-of-00001.shard", "bin/old/manifest.json"});
  options_.output = folder_.At("a/b/new");
  folder_.MakeFolder("a/b/new");
  folder_.Write("apart/.pack-state", "x");
  const InputSet set = Good();
  ASSERT_EQ(set.classes.size(), 2u);
  EXPECT_EQ(set.classes[0].name, "cat");
  const std::vector<std::string> notes = set.notes;
  for (const char* note : {"the output folder is no input, and was left out: a/b/new",
                           "a folder of shards is no input, and was left out: bin/old",
                           "a folder of shards is no input, and was left out: apart"}) {
    EXPECT_EQ(std::count(notes.begin(), notes.end(), note), 1) << note;
  }
}

}  // namespace
}  // namespace shardmill
