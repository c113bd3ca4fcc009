#include <algorithm>
#include <filesystem>
#include <set>

#include "tests/tools/pack/layouts/layout_testing.h"

namespace shardmill {
namespace {

TEST_F(LayoutTest, SuitePairsByStemInSortedOrder) {
  folder_.Write("class_dict.csv", kTable);
  Write({"val/a.jpg", "val_labels/a.png", "train/b.PNG", "train/a.b.c.png", "train/sub/x.jpeg",
         "train_labels/a.b.c_L.png", "train_labels/b.png", "train_labels/sub/x_L.png"});
  InputSet set = Good();
  EXPECT_EQ(set.layout, "suite");
  EXPECT_TRUE(set.labels.colors_in_files);
  EXPECT_FALSE(set.labels.ignore.has_value());
  ASSERT_EQ(set.splits.size(), 2u);
  EXPECT_EQ(set.splits[0].name, "train");
  EXPECT_EQ(Keys(set.splits[0]),
            (std::vector<std::string>{"train/a.b.c.png", "train/b.PNG", "train/sub/x.jpeg"}));
  EXPECT_EQ(set.splits[0].samples[0].label.path, "train_labels/a.b.c_L.png");
  EXPECT_EQ(set.splits[0].samples[2].label.path, "train_labels/sub/x_L.png");
  EXPECT_EQ(set.classes[1].name, "road");
}

// Pairing by position would make pairs of equal counts here; by stem there is none.
TEST_F(LayoutTest, OrphansOfBothSidesAreReported) {
  folder_.Write("class_dict.csv", kTable);
  Write({"train/a.png", "train/b.png", "train_labels/b.png", "train_labels/c.png"});
  InputSet set = Good();
  EXPECT_EQ(Keys(set.splits[0]), std::vector<std::string>{"train/b.png"});
  ASSERT_EQ(set.splits[0].problems.size(), 2u);
  EXPECT_EQ(set.splits[0].problems[0].key, "train/a.png");
  EXPECT_EQ(set.splits[0].problems[1].key, "train_labels/c.png");
  EXPECT_EQ(set.splits[0].inputs(), 3u);
}

TEST_F(LayoutTest, EmptySplitIsRefusedUnlessOthersAreChosen) {
  folder_.Write("class_dict.csv", kTable);
  Write({"val/a.png", "val_labels/a.png"});
  folder_.MakeFolder("train");
  folder_.MakeFolder("train_labels");
  ExpectError(StatusCode::kNotFound, "split train has no input: its folder or list is empty");
  options_.splits = {"val"};
  EXPECT_EQ(Good().splits.size(), 1u);
  options_.splits = {"train", "val"};
  ExpectError(StatusCode::kNotFound, "split train has no input");
}

TEST_F(LayoutTest, EmptyClassFoldersOfTrainAreRefused) {
  Write({"val/cat/1.jpg"});
  folder_.MakeFolder("train/cat");
  options_.layout = "imagefolder";
  ExpectError(StatusCode::kNotFound, "split train has no input");
}

TEST_F(LayoutTest, SplitWithoutLabelsIsRefusedUnlessItIsTest) {
  folder_.Write("class_dict.csv", kTable);
  Write({"train/a.png", "train_labels/a.png", "test/b.png"});
  InputSet set = Good();
  EXPECT_EQ(set.splits.size(), 1u);
  const std::vector<std::string> notes = set.notes;
  EXPECT_EQ(std::count(notes.begin(), notes.end(),
                       "folder test left out: there is no test_labels beside it"),
            1);
  ASSERT_EQ(set.splits[0].problems.size(), 1u);
  EXPECT_EQ(set.splits[0].problems[0].key, "test/b.png");
  EXPECT_EQ(set.splits[0].problems[0].reason,
            "folder test has no labels: there is no test_labels beside it");
  EXPECT_TRUE(set.splits[0].problems[0].by_rule);
  Write({"val/c.png"});
  ExpectError(StatusCode::kNotFound, "folder val cannot be packed: there is no val_labels");
  options_.splits = {"train"};
  EXPECT_EQ(Good().splits.size(), 1u);
  options_.splits = {"test"};
  set = Good();
  ASSERT_EQ(set.splits.size(), 1u);
  EXPECT_EQ(set.splits[0].samples[0].key, "test/b.png");
  EXPECT_EQ(set.splits[0].samples[0].label.path, "");
  options_.splits = {"val"};
  ExpectError(StatusCode::kNotFound, "folder val cannot be packed");
}

// Of several layouts: images of a split, and no labels of it.
TEST_F(LayoutTest, FoldersOfOneSideAreNotPassedOver) {
  const std::vector<std::string> sets[] = {
      {"images/train/1.png", "masks/train/1.png", "images/val/2.png"},
      {"images/train/1.png", "masks/train/1.png", "masks/val/2.png"},
      {"train/images/1.png", "train/masks/1.png", "val/images/2.png"},
      {"images/training/ADE_1.jpg", "annotations/training/ADE_1.png",
       "images/validation/ADE_2.jpg"},
      {"images/train2017/1.jpg", "annotations/train2017/1.png", "images/val2017/2.jpg"},
      {"leftImg8bit/train/a/1_leftImg8bit.png", "gtFine/train/a/1_gtFine_labelIds.png",
       "leftImg8bit/val/a/2_leftImg8bit.png"},
      {"training/image_2/1.png", "training/semantic/1.png", "validation/image_2/2.png"},
  };
  for (const std::vector<std::string>& paths : sets) {
    TestFolder folder("one_side");
    // Pairs need a table of classes; the other layouts have their own.
    if (paths[1].find("masks/") != std::string::npos) folder.Write("class_dict.csv", kTable);
    for (const std::string& path : paths) folder.Write(path, "x");
    const Status status = ReadInputSet(folder.path(), options_).status();
    EXPECT_EQ(status.code(), StatusCode::kNotFound) << paths[2] << status.ToString();
    EXPECT_NE(status.message().find("cannot be packed"), std::string::npos) << status.message();
  }
}

TEST_F(LayoutTest, DeadLinksAreFailedInputs) {
  folder_.Write("class_dict.csv", kTable);
  Write({"train/a.png", "train/b.png", "train_labels/a.png", "val/c.png", "val_labels/c.png"});
  for (const char* path : {"train_labels/b.png", "val/d.png", "train/a.png.lock", "val/c"}) {
    std::filesystem::create_symlink("/nonexistent/annex", folder_.At(path));
  }
  InputSet set = Good();
  auto keys = [](const InputSplit& split) {
    std::vector<std::string> all;
    for (const Problem& problem : split.problems) {
      EXPECT_FALSE(problem.by_rule);
      all.push_back(problem.key);
    }
    return all;
  };
  // b is without its label, which cannot be read: both sides are told.
  EXPECT_EQ(keys(set.splits[0]),
            (std::vector<std::string>{"train/a.png.lock", "train/b.png", "train_labels/b.png"}));
  EXPECT_EQ(keys(set.splits[1]), (std::vector<std::string>{"val/c", "val/d.png"}));
  EXPECT_EQ(set.splits[1].problems[1].reason, "it is a link that leads to nothing");
  // A folder of nothing else.
  TestFolder dead("all_dead");
  std::filesystem::create_symlink("nowhere", dead.At("x.png"));
  const Status status = ReadInputSet(dead.path(), options_).status();
  EXPECT_NE(status.message().find("the first is x.png: it is a link that leads to nothing"),
            std::string::npos)
      << status.message();
}

TEST_F(LayoutTest, ListWithoutPartOfTheFilesKeepsThemInTheCount) {
  options_.layout = "camvid";
  Write({"1.png", "1l.png", "2.png", "2l.png"});
  folder_.Write("train.txt", "1.png 1l.png\n");
  const InputSet set = Good();
  ASSERT_EQ(set.splits[0].problems.size(), 2u);
  EXPECT_EQ(set.splits[0].problems[0].key, "2.png");
  EXPECT_EQ(set.splits[0].problems[1].key, "2l.png");
  EXPECT_TRUE(set.splits[0].problems[0].by_rule);
  EXPECT_EQ(set.splits[0].inputs(), 3u);
}

TEST_F(LayoutTest, NamedListIsForLayoutsOfLists) {
  folder_.Write("class_dict.csv", kTable);
  Write({"train/a.png", "train_labels/a.png"});
  folder_.Write("mine.txt", "train/a.png train_labels/a.png\n");
  options_.list = "mine.txt";
  EXPECT_EQ(Good().layout, "list");
  folder_.Write("mine.txt", "train/a.png road\n");
  EXPECT_EQ(Good().layout, "csv");
  options_.layout = "suite";
  ExpectError(StatusCode::kInvalidArgument, "--list is for the layouts list and csv, not suite");
}

TEST_F(LayoutTest, LineOfManyWordsIsRefused) {
  options_.layout = "camvid";
  Write({"1.png", "1l.png"});
  std::string line = "1.png 1l.png\n";
  for (int i = 0; i < 100000; ++i) line += "x ";
  folder_.Write("train.txt", line);
  ExpectError(StatusCode::kInvalidArgument, "train.txt: line 2: more than 100 words");
}

TEST_F(LayoutTest, EqualStemsAreRefused) {
  folder_.Write("class_dict.csv", kTable);
  Write({"train/a.png", "train/a.jpg", "train_labels/a.png"});
  ExpectError(StatusCode::kInvalidArgument, "train/a.png and train/a.jpg have the same stem");
}

TEST_F(LayoutTest, TwoCandidatesForALabelAreRefused) {
  folder_.Write("class_dict.csv", kTable);
  Write({"train/a.png", "train_labels/a.png", "train_labels/a_L.png"});
  ExpectError(StatusCode::kInvalidArgument, "could both be the label");
}

TEST_F(LayoutTest, SuiteWithoutTableSaysSo) {
  Write({"train/a.png", "train_labels/a.png"});
  ExpectError(StatusCode::kNotFound, "class_dict.csv");
}

TEST_F(LayoutTest, DamagedTableNamesFileAndLine) {
  folder_.Write("class_dict.csv", "name,r,g,b\nsky,0,0,999\n");
  Write({"train/a.png", "train_labels/a.png"});
  ExpectError(StatusCode::kInvalidArgument, "class_dict.csv: line 2");
}

TEST_F(LayoutTest, CamvidPathsAreRerooted) {
  Write({"train/1.png", "train/2.png", "trainannot/1.png", "trainannot/2.png", "deep/val/3.png",
         "valannot/3.png"});
  folder_.Write("train.txt",
                "/SegNet/CamVid/train/2.png /SegNet/CamVid/trainannot/2.png\r\n\r\n"
                "/SegNet/CamVid/train/1.png /SegNet/CamVid/trainannot/1.png\r\n");
  folder_.Write("val.txt", "C:\\data\\deep\\val\\3.png\tC:\\data\\valannot\\3.png");
  InputSet set = Good();
  EXPECT_EQ(set.layout, "camvid");
  EXPECT_EQ(set.labels.ignore, 11u);
  EXPECT_EQ(set.classes.size(), 11u);
  EXPECT_EQ(set.classes[10].name, "bicyclist");
  EXPECT_FALSE(set.labels.colors_in_files);
  EXPECT_EQ(Keys(set.splits[0]), (std::vector<std::string>{"train/1.png", "train/2.png"}));
  EXPECT_EQ(set.splits[0].samples[0].label.path, "trainannot/1.png");
  EXPECT_EQ(Keys(set.splits[1]), std::vector<std::string>{"deep/val/3.png"});
}

TEST_F(LayoutTest, CamvidTestImagesMayBeListedAlone) {
  Write({"train/1.png", "trainannot/1.png", "val/2.png", "valannot/2.png", "test/3.png"});
  folder_.Write("train.txt", "train/1.png trainannot/1.png\n");
  folder_.Write("val.txt", "val/2.png valannot/2.png\n");
  folder_.Write("test.txt", "/SegNet/CamVid/test/3.png\n");
  const std::vector<std::string> choices[] = {{}, {"train", "val"}};
  for (const std::vector<std::string>& splits : choices) {
    options_.splits = splits;
    const InputSet set = Good();
    EXPECT_EQ(set.layout, "camvid");
    ASSERT_EQ(set.splits.size(), 2u);
    EXPECT_EQ(set.splits[0].samples[0].label.path, "trainannot/1.png");
    EXPECT_EQ(set.classes.size(), 11u);
    EXPECT_EQ(std::count(set.notes.begin(), set.notes.end(),
                         "split test left out: test.txt names images alone"),
              splits.empty() ? 1 : 0);
  }
  options_.splits = {"train", "test"};
  const InputSet set = Good();
  ASSERT_EQ(set.splits.size(), 2u);
  EXPECT_EQ(Keys(set.splits[1]), std::vector<std::string>{"test/3.png"});
  EXPECT_EQ(set.splits[1].samples[0].label.path, "");
  Write({"testannot/4.png"});
  ExpectError(StatusCode::kInvalidArgument, "testannot/4.png may be one of them");
}

// Labels of test that the layout cannot use: as images without labels they would be lost silently.
TEST_F(LayoutTest, LabelsOfTestInAnotherFormAreNotPassedOver) {
  const std::vector<std::string> suite = {"train/a.png", "train_labels/a.png", "test/t0.png"};
  const std::vector<std::string> voc = {"JPEGImages/a.jpg", "JPEGImages/b.jpg",
                                        "SegmentationClass/a.png"};
  const std::vector<std::string> cityscapes = {"leftImg8bit/train/c/a_leftImg8bit.png",
                                               "gtFine/train/c/a_gtFine_labelIds.png",
                                               "leftImg8bit/test/c/b_leftImg8bit.png"};
  const std::pair<std::vector<std::string>, const char*> sets[] = {
      {suite, "test_labels/t0_L.tga"},  {suite, "Test_Labels/t0_L.png"},
      {suite, "labels/test/x.png"},     {suite, "labels/t0.png"},
      {suite, "more/t0_mask.mat"},      {voc, "SegmentationClass/b_mask.png"},
      {voc, "SegmentationClass/b.npy"}, {cityscapes, "gtFine/test/c/b_gtFine_color.png"}};
  options_.splits = {"test"};
  for (const auto& [paths, label] : sets) {
    TestFolder folder("other_form");
    if (paths == suite) folder.Write("class_dict.csv", kTable);
    if (paths == voc) folder.Write("ImageSets/Segmentation/train.txt", "a\n");
    if (paths == voc) folder.Write("ImageSets/Segmentation/test.txt", "b\n");
    for (const std::string& path : paths) folder.Write(path, "x");
    // No labels of these images.
    for (const char* path : {"labels/readme.txt", "more/t0_small.png", "train_labels/t0.tga"}) {
      folder.Write(path, "x");
    }
    const Result<InputSet> alone = ReadInputSet(folder.path(), options_);
    ASSERT_TRUE(alone.ok()) << alone.status().ToString();
    EXPECT_EQ(alone->splits[0].samples.size(), 1u);
    folder.Write(label, "x");
    const Status status = ReadInputSet(folder.path(), options_).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << label << status.ToString();
    EXPECT_NE(status.message().find(label + std::string(" may be one of them")), std::string::npos)
        << status.message();
  }
}

TEST_F(LayoutTest, ListsMayHoldBlanksInPaths) {
  options_.layout = "camvid";
  Write({"my dir/img 1.png", "my labels/img 1.png", "b.png", "c d.png"});
  folder_.Write("train.txt",
                "/data/my dir/img 1.png /data/my labels/img 1.png\n\"b.png\" \"c d.png\"\n");
  InputSet set = Good();
  EXPECT_EQ(Keys(set.splits[0]), (std::vector<std::string>{"b.png", "my dir/img 1.png"}));
  EXPECT_EQ(set.splits[0].samples[0].label.path, "c d.png");
}

TEST_F(LayoutTest, AmbiguousLinesAreRefused) {
  options_.layout = "camvid";
  Write({"a", "a b", "b c", "c"});
  folder_.Write("train.txt", "a b c\n");
  ExpectError(StatusCode::kInvalidArgument, "train.txt line 1 can be cut");
}

TEST_F(LayoutTest, MissingListedFilesAreProblems) {
  options_.layout = "camvid";
  Write({"train/1.png", "trainannot/1.png", "train/2.png"});
  folder_.Write("train.txt", "train/1.png trainannot/1.png\ntrain/2.png trainannot/2_Ids.png\n");
  InputSet set = Good();
  ASSERT_EQ(set.splits[0].problems.size(), 1u);
  EXPECT_EQ(set.splits[0].problems[0].key, "train/2.png");
  EXPECT_NE(set.splits[0].problems[0].reason.find("train.txt line 2"), std::string::npos);
  EXPECT_NE(set.splits[0].problems[0].reason.find("trainannot/2_Ids.png"), std::string::npos);
}

TEST_F(LayoutTest, MissingListedFileDoesNotExist) {
  options_.layout = "camvid";
  Write({"1.png", "1l.png"});
  folder_.Write("train.txt", "1.png 1l.png\n2.png 1l.png\n");
  InputSet set = Good();
  ASSERT_EQ(set.splits[0].problems.size(), 1u);
  EXPECT_EQ(set.splits[0].problems[0].reason,
            "train.txt line 2 names image 2.png, which does not exist in the source folder");
}

TEST_F(LayoutTest, ThirdWordOfAListIsNamed) {
  options_.layout = "camvid";
  Write({"1.png", "1l.png", "2.png", "2l.png"});
  folder_.Write("train.txt", "1.png 1l.png\n2.png 2l.png 7\n");
  InputSet set = Good();
  // The line, and the two files that it does not name.
  const std::vector<Problem>& problems = set.splits[0].problems;
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0].key, "2.png");
  EXPECT_TRUE(problems[0].by_rule);
  EXPECT_EQ(problems[1].reason.find("train.txt line 2 has too many words, 3 in "), 0u)
      << problems[1].reason;
  EXPECT_FALSE(problems[1].by_rule);
}

TEST_F(LayoutTest, ListsCannotLeaveTheFolder) {
  options_.layout = "camvid";
  TestFolder outside("outside");
  outside.Write("secret.png", "x");
  Write({"1.png", "1l.png"});
  folder_.Write("train.txt", "1.png 1l.png\n" + outside.At("secret.png") +
                                 " ../outside/secret.png\n/etc/passwd /etc/passwd\n");
  InputSet set = Good();
  EXPECT_EQ(set.splits[0].samples.size(), 1u);
  EXPECT_EQ(set.splits[0].problems.size(), 2u);
}

TEST_F(LayoutTest, ListedTwiceIsRefused) {
  options_.layout = "camvid";
  Write({"1.png", "1l.png"});
  folder_.Write("train.txt", "1.png 1l.png\n/x/1.png 1l.png\n");
  ExpectError(StatusCode::kInvalidArgument, "train.txt line 2 names 1.png, as line 1 does");
}

TEST_F(LayoutTest, SplitOfTwoSpellingsIsOne) {
  options_.layout = "csv";
  Write({"a.jpg", "b.jpg", "c.jpg"});
  folder_.Write("all.csv", "image,label,split\na.jpg,cat,train\nb.jpg,cat,Train\nc.jpg,cat,val\n");
  const InputSet set = Good();
  ASSERT_EQ(set.splits.size(), 2u);
  EXPECT_EQ(Keys(set.splits[0]), (std::vector<std::string>{"a.jpg", "b.jpg"}));
}

TEST_F(LayoutTest, ColourLabelsAreDividedByListsOfNames) {
  folder_.Write("label_colors.txt", "0 0 255 sky\n128 64 128 road\n");
  Write({"images/1.png", "images/2.png", "images/3.png", "images/4.png", "labels/1_L.png",
         "labels/2_L.png", "labels/3_L.png", "labels/4_L.png"});
  folder_.Write("train.txt", "1\n3\n9\n");
  folder_.Write("val.txt", "2.png\n");
  const InputSet set = Good();
  EXPECT_EQ(set.layout, "camvid");
  ASSERT_EQ(set.splits.size(), 2u);
  EXPECT_EQ(Keys(set.splits[0]), (std::vector<std::string>{"images/1.png", "images/3.png"}));
  EXPECT_EQ(Keys(set.splits[1]), std::vector<std::string>{"images/2.png"});
  const std::vector<Problem>& problems = set.splits[0].problems;
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0].key, "9");
  EXPECT_FALSE(problems[0].by_rule);
  EXPECT_EQ(problems[1].key, "images/4.png");
  EXPECT_TRUE(problems[1].by_rule);
}

TEST_F(LayoutTest, ConvertedMapsBesideCocoStuffAreNoLabels) {
  Write({"images/train2017/1.jpg", "annotations/train2017/1.png",
         "annotations/train2017/1_labelTrainIds.png"});
  const InputSet set = Good();
  EXPECT_EQ(set.layout, "coco-stuff");
  EXPECT_TRUE(set.splits[0].problems.empty());
  EXPECT_EQ(set.splits[0].samples[0].label.path, "annotations/train2017/1.png");
}

TEST_F(LayoutTest, AnImageInTwoSplitsIsRefused) {
  options_.layout = "camvid";
  Write({"1.png", "1l.png"});
  folder_.Write("train.txt", "1.png 1l.png\n");
  folder_.Write("val.txt", "1.png 1l.png\n");
  ExpectError(StatusCode::kInvalidArgument, "1.png stands in the splits train and val");
}

TEST_F(LayoutTest, ClassFoldersOfTrainNumberTheClassesOfAllSplits) {
  Write({"train/0/a.jpg", "train/90/a.jpg", "train/180/x/a.jpg", "test/180/b.JPG", "test/0/a.jpg"});
  folder_.MakeFolder("train/270");
  InputSet set = Good();
  EXPECT_EQ(set.layout, "imagefolder");
  EXPECT_EQ(set.task, Task::kClassification);
  ASSERT_EQ(set.classes.size(), 4u);
  EXPECT_EQ(set.classes[1].name, "180");
  EXPECT_EQ(set.classes[2].name, "270");  // empty, and keeps its id
  ASSERT_EQ(set.splits.size(), 2u);
  EXPECT_EQ(set.splits[1].name, "test");
  EXPECT_EQ(set.splits[1].samples[1].key, "test/180/b.JPG");
  EXPECT_EQ(set.splits[1].samples[1].class_id, 1u);
}

TEST_F(LayoutTest, NumbersInTheOrderOfTextAreNoted) {
  Write({"train/0/a.jpg", "train/2/a.jpg", "train/10/a.jpg"});
  const std::vector<std::string> notes = Good().notes;
  EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
    return note.find("and not the ids: 10 has another id") != std::string::npos;
  }));
}

TEST_F(LayoutTest, ClassUnknownToTheTableIsAnError) {
  Write({"train/a/1.jpg", "val/a/1.jpg", "val/b/1.jpg"});
  ExpectError(StatusCode::kInvalidArgument, "folder 'b' of val/b/1.jpg");
}

TEST_F(LayoutTest, SetWithoutSplitsIsDividedByKey) {
  for (int i = 0; i < 1000; ++i) {
    folder_.Write((i % 2 == 0 ? "cat/" : "dog/") + std::to_string(i) + ".jpg", "");
  }
  InputSet set = Good();
  ASSERT_EQ(set.splits.size(), 2u);
  EXPECT_EQ(set.splits[0].samples.size() + set.splits[1].samples.size(), 1000u);
  EXPECT_NEAR(static_cast<double>(set.splits[1].samples.size()), 100, 40);
  // A file that comes later moves no other one.
  std::vector<std::string> before = Keys(set.splits[1]);
  folder_.Write("dog/new.jpg", "");
  std::set<std::string> after;
  for (const std::string& key : Keys(Good().splits[1])) after.insert(key);
  for (const std::string& key : before) EXPECT_EQ(after.count(key), 1u);
}

TEST_F(LayoutTest, PairFoldersAreNoClasses) {
  Write({"images/1.png", "masks/1.png"});
  ExpectError(StatusCode::kNotFound, "give one with --classes FILE");
}

TEST_F(LayoutTest, UnknownFolderIsDescribed) {
  Write({"notes.md", "x.bmp", "sub/y.bmp"});
  ExpectError(StatusCode::kInvalidArgument, "2 .bmp");
  ExpectError(StatusCode::kInvalidArgument, "folders: sub");
  ExpectError(StatusCode::kInvalidArgument, "suite: train and train_labels");
}

TEST_F(LayoutTest, EmptyFolderIsNotFound) {
  ExpectError(StatusCode::kNotFound, "there are no files");
  Write({".hidden"});
  ExpectError(StatusCode::kNotFound, "but hidden ones");
}

TEST_F(LayoutTest, FolderOfTwoLayoutsIsNotGuessed) {
  folder_.Write("class_dict.csv", kTable);
  Write({"train/1.png", "train_labels/1.png"});
  Write({"trainannot/1.png"});
  folder_.Write("train.txt", "train/1.png trainannot/1.png\n");
  ExpectError(StatusCode::kInvalidArgument, "more than one layout");
  options_.layout = "suite";
  EXPECT_EQ(Good().layout, "suite");
}

TEST_F(LayoutTest, SplitsCanBeChosen) {
  folder_.Write("class_dict.csv", kTable);
  Write({"train/1.png", "train_labels/1.png", "val/2.png", "val_labels/2.png"});
  options_.splits = {"val"};
  InputSet set = Good();
  ASSERT_EQ(set.splits.size(), 1u);
  EXPECT_EQ(set.splits[0].name, "val");
  options_.splits = {"valid"};
  ExpectError(StatusCode::kInvalidArgument, "there is no split 'valid'; there are: train, val");
}

TEST_F(LayoutTest, IgnoreThatIsAClassIsRefused) {
  folder_.Write("class_dict.csv", kTable);
  Write({"train/1.png", "train_labels/1.png"});
  options_.ignore = 1;
  ExpectError(StatusCode::kInvalidArgument,
              "value 1 is both the class 'road' and the ignore value");
  options_.ignore = 2;
  EXPECT_EQ(Good().labels.ignore, 2u);
}

TEST_F(LayoutTest, ClassesFileTakesTheLayoutsPlace) {
  options_.layout = "camvid";
  Write({"1.png", "1l.png"});
  folder_.Write("train.txt", "1.png 1l.png\n");
  TestFolder tables("tables");
  tables.Write("names.csv", "name\none\ntwo\n");
  tables.Write("colors.csv", kTable);
  options_.classes_file = tables.At("names.csv");
  EXPECT_EQ(Good().classes.size(), 2u);
  EXPECT_FALSE(Good().labels.colors_in_files);
  options_.classes_file = tables.At("colors.csv");
  EXPECT_TRUE(Good().labels.colors_in_files);
}

}  // namespace
}  // namespace shardmill
