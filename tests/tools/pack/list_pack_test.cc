// Lists of pairs and of classes, in the forms that people write, packed as a user packs them.
#include <filesystem>

#include "tests/tools/pack/list_testing.h"
#include "tools/pack/layouts/layout.h"

namespace shardmill {
namespace {

using Values = std::vector<int>;

TEST_F(ListPackTest, CommasTabsAndBlanksMeanTheSame) {
  source_.Write("classes.txt", "a\nb\n");
  AddPairs({"x/a b", "x/c,d", "x/Ünï"});
  const char* forms[] = {
      "x/a b.jpg\tx/a b_l.png\nx/c,d.jpg\tx/c,d_l.png\nx/Ünï.jpg\tx/Ünï_l.png\n",
      "\xEF\xBB\xBFimage,label\r\nx/a b.jpg,x/a b_l.png\r\n\"x/c,d.jpg\",\"x/c,d_l.png\"\r\n"
      "x/Ünï.jpg,x/Ünï_l.png\r\n",
      "mask;path\nx/a b_l.png;x/a b.jpg\nx/c,d_l.png;x/c,d.jpg\nx/Ünï_l.png;x/Ünï.jpg",
      "/their/disk/x/a b.jpg   /their/disk/x/a b_l.png\n\"x/c,d.jpg\" \"x/c,d_l.png\"\n"
      "x/Ünï.jpg\tx/Ünï_l.png"};
  for (const char* form : forms) {
    source_.Write("train.csv", form);
    ExpectLayout("list");
    EXPECT_EQ(ReadLabels("train").size(), 3u) << form;
    EXPECT_EQ(FirstValues("x/c,d.jpg", 1), Values{1}) << form;
    EXPECT_EQ(FirstValues("x/Ünï.jpg", 1), Values{0}) << form;
  }
}

TEST_F(ListPackTest, FirstLineOfOneKnownWordNamesColumns) {
  source_.Write("classes.txt", "a\nb\n");
  AddPairs({"1", "2"});
  for (const char* header : {"foto,mask\n", "foto mask\n", "foto\tmask\n"}) {
    std::string list = header;
    const std::string separator(1, list[4]);
    for (const char* stem : {"1", "2"}) {
      list += std::string(stem) + ".jpg" + separator + stem + "_l.png\n";
    }
    source_.Write("train.csv", list);
    ExpectLayout("list");
    EXPECT_EQ(Keys("train"), (std::vector<std::string>{"1.jpg", "2.jpg"}));
    EXPECT_NE(error_.find("train.csv line 1 ('foto', 'mask') is taken for the names of its"),
              std::string::npos)
        << error_;
  }
  // What may be a path is a file that is missing, and so are words where nothing else is there.
  source_.Write("train.csv", "3.jpg,3_l.png\n1.jpg,1_l.png\n2.jpg,2_l.png\n");
  ExpectError(StatusCode::kNotFound, "train.csv line 1 names image 3.jpg, which does not exist");
  source_.Write("train.csv", "foto,etikett\n3.jpg,3_l.png\n");
  options_.layout.list = "train.csv";
  ExpectError(StatusCode::kNotFound, "train.csv line 1 names image foto, which does not exist");
}

TEST_F(ListPackTest, NamesOfTwoColumnsSayWhichIsTheLabel) {
  source_.Write("classes.txt", "a\nb\n");
  AddImage("im/0.jpg");
  source_.Write("lb/0.png", GrayPng(kSize, {1}));
  for (const char* header : {"seg,image", "gt_path,img_path", "ground_truth,image", "masks,images",
                             "mask_file,image_file", "segmentation,image", "semantic,rgb",
                             "annotations,images", "mask,photo", "gt,rgb", "LabelPath,ImagePath",
                             "label,file_name", "etikett,image", "mask,foto"}) {
    for (const char* separator : {",", " ", "\t"}) {
      std::string list = std::string(header) + "\nlb/0.png,im/0.jpg\n";
      for (size_t comma; (comma = list.find(',')) != std::string::npos;) {
        list.replace(comma, 1, separator[0] == ',' ? ";" : separator);
      }
      source_.Write("train.csv", list);
      const Result<InputSet> set = ReadInputSet(source_.path(), options_.layout);
      ASSERT_TRUE(set.ok()) << list << set.status().ToString();
      EXPECT_EQ(set->layout, "list");
      ASSERT_EQ(set->splits[0].samples.size(), 1u) << list;
      EXPECT_EQ(set->splits[0].samples[0].key, "im/0.jpg") << list;
      EXPECT_EQ(set->splits[0].samples[0].label.path, "lb/0.png") << list;
    }
  }
  for (const char* words : {"foto' and 'etikett", "image' and 'photo", "gt' and 'mask"}) {
    std::string header(words);
    header.replace(header.find('\''), 7, ",");
    source_.Write("train.csv", header + "\nlb/0.png,im/0.jpg\n");
    ExpectError(StatusCode::kInvalidArgument, "train.csv line 1 names its columns '" +
                                                  std::string(words) +
                                                  "', which do not say which of them is the label");
  }
}

TEST_F(ListPackTest, TwoColumnsForOneThingAreRefused) {
  source_.Write("classes.txt", "a\nb\n");
  AddImage("im/0.jpg");
  source_.Write("lb/0.png", GrayPng(kSize, {1}));
  options_.layout.layout = "list";
  options_.layout.list = "train.csv";
  const std::pair<const char*, const char*> mistakes[] = {
      {"image,label,label", "columns 2 ('label') and 3 ('label') could both be the one of the lab"},
      {"image,image,label", "columns 1 ('image') and 2 ('image') could both be the one of the ima"},
      {"path,image,mask", "columns 1 ('path') and 2 ('image') could both be the one of the images"},
      {"image,mask,label", "columns 2 ('mask') and 3 ('label') could both be the one of the label"},
      {"image,mask,split,set", "columns 3 ('split') and 4 ('set') could both be the one of the sp"},
  };
  for (const auto& [header, message] : mistakes) {
    source_.Write("train.csv", header + std::string("\nim/0.jpg,lb/0.png,lb/0.png\n"));
    ExpectError(StatusCode::kInvalidArgument, "train.csv: line 1: " + std::string(message));
  }
  // The number of an image is no second one.
  source_.Write("train.csv", "id,image,label\n7,im/0.jpg,lb/0.png\n");
  ExpectPacked();
  EXPECT_EQ(FirstValues("im/0.jpg", 1), Values{1});
}

// The training ids of Cityscapes must be made first; its raw ones must not be taken for them.
TEST_F(ListPackTest, RawIdsOfCityscapesNeedTheirMap) {
  std::string classes = "name\n";
  for (int i = 0; i < 19; ++i) classes += "c" + std::to_string(i) + "\n";
  source_.Write("classes.txt", classes);
  AddImage("1.jpg");
  source_.Write("1_labelIds.png", GrayPng(kSize, {7, 8, 0}));
  source_.Write("train.csv", "image,label\n1.jpg,1_labelTrainIds.png\n");
  options_.layout.layout = "list";
  ExpectError(StatusCode::kNotFound,
              "label 1_labelTrainIds.png, which does not exist in the source folder; "
              "1_labelIds.png is there");
  source_.Write("train.csv", "image,label\n1.jpg,1_labelIds.png\n");
  ExpectError(StatusCode::kInvalidArgument, "give --map cityscapes, or --map none if the values");
  options_.layout.map = "cityscapes";
  ExpectPacked();
  EXPECT_EQ(FirstValues("1.jpg", 3), (Values{0, 1, 255}));
  options_.layout.map = "none";
  ExpectPacked();
  EXPECT_EQ(FirstValues("1.jpg", 3), (Values{7, 8, 0}));
}

TEST_F(ListPackTest, SplitsOfAColumn) {
  source_.Write("classes.txt", "a\nb\n");
  AddPairs({"1", "2", "3"});
  source_.Write(
      "files.csv",
      "split,image,label\nval,1.jpg,1_l.png\ntraining,2.jpg,2_l.png\nval,3.jpg,3_l.png\n");
  ExpectLayout("list");
  EXPECT_EQ(Keys("val"), (std::vector<std::string>{"1.jpg", "3.jpg"}));
  EXPECT_EQ(ReadLabels("train").size(), 1u);
  EXPECT_EQ(ReadLabels("val").size(), 2u);
}

TEST_F(ListPackTest, EveryLineIsFoundOrReported) {
  source_.Write("classes.txt", "a\nb\n");
  AddPairs({"1"});
  source_.Write("my files.txt", "1.jpg 1_l.png\n2.jpg 2_labelTrainIds.png\n");
  options_.layout.layout = "list";
  options_.layout.list = "my files.txt";
  ExpectError(StatusCode::kNotFound,
              "2.jpg: my files.txt line 2 names image 2.jpg, which does not exist");
  EXPECT_TRUE(output_.Files().empty());
  options_.layout.list = "other.txt";
  ExpectError(StatusCode::kNotFound, "there is no list file other.txt");
}

TEST_F(ListPackTest, ClassesByNameComeFromTheList) {
  for (const char* image : {"pics/a 1.jpg", "pics/b.jpg", "pics/c.jpg"}) AddImage(image);
  source_.Write("train.csv", "filename,class\na 1,dog\nb,cat\n");
  source_.Write("val.csv", "filename,class\nc.jpg,dog\n");
  ExpectLayout("csv");
  EXPECT_EQ(FirstValues("pics/a 1.jpg", 1), Values{1});
  EXPECT_EQ(FirstValues("pics/b.jpg", 1), Values{0});
  EXPECT_EQ(FirstValues("pics/c.jpg", 1), Values{1});
  EXPECT_EQ(ClassNames(), (std::vector<std::string>{"cat", "dog"}));
}

// "path label" lines with blanks in paths, as list converters expect and break at.
TEST_F(ListPackTest, NumbersAreIdsAndTheLastBlankCuts) {
  for (const char* image : {"my dir/img 1.jpg", "2.jpg", "3.jpg"}) AddImage(image);
  source_.Write("train.txt", "my dir/img 1.jpg 3\n2.jpg   0\n");
  source_.Write("val.txt", "3.jpg 1\n");
  ExpectLayout("csv");
  EXPECT_EQ(FirstValues("my dir/img 1.jpg", 1), Values{3});
  EXPECT_EQ(FirstValues("2.jpg", 1), Values{0});
  EXPECT_EQ(ClassNames().size(), 4u);
  // Names for the ids, and an id beyond them.
  TestFolder tables("tables");
  tables.Write("names.txt", "a\nb\nc\n");
  options_.layout.classes_file = tables.At("names.txt");
  ExpectError(StatusCode::kInvalidArgument,
              "train.txt line 1: '3' is neither the name nor the id of a class of the 3");
}

TEST_F(ListPackTest, ImageNamedTwiceOrAmbiguousIsFound) {
  for (const char* image : {"x/1.jpg", "y/1.jpg", "z/2.jpg"}) AddImage(image);
  source_.Write("train.txt", "2.jpg 0\nz/2.jpg 0\n");
  ExpectError(StatusCode::kInvalidArgument,
              "train.txt line 2 names z/2.jpg, as train.txt line 1 does");
  source_.Write("train.txt", "2.jpg 0\n1.jpg 0\n");
  ExpectError(StatusCode::kNotFound,
              "train.txt line 2 names image 1.jpg, which does not exist in "
              "the source folder, or more than once");
}

TEST_F(ListPackTest, MissingFileIsNotExchangedForAnotherOfItsName) {
  for (const char* image : {"dog/1.jpg", "cat/2.jpg"}) AddImage(image);
  source_.Write("train.csv", "path,class\ncat/2.jpg,cat\ncat/1.jpg,cat\n");
  ExpectError(StatusCode::kNotFound,
              "train.csv line 3 names image cat/1.jpg, which does not exist");
  // The folder val is there, so that val/labels/3.png means no file of labels.
  source_.Write("classes.txt", "a\nb\n");
  AddImage("val/images/3.jpg");
  source_.Write("labels/3.png", GrayPng(kSize, {1}));
  source_.Write("train.csv", "image,label\nval/images/3.jpg,val/labels/3.png\n");
  options_.layout.layout = "list";
  options_.layout.list = "train.csv";
  ExpectError(StatusCode::kNotFound, "val/labels/3.png, which does not exist");
}

TEST_F(ListPackTest, RelativePathKeepsItsFolders) {
  AddImage("001.jpg");
  AddImage("cat/002.jpg");
  options_.layout.list = "labels.csv";
  source_.Write("labels.csv", "file,label\ndog/001.jpg,dog\ncat/002.jpg,cat\n");
  ExpectError(StatusCode::kNotFound,
              "labels.csv line 2 names image dog/001.jpg, which does not exist");
  // Where /disk is the source folder, /disk/dog/001.jpg is not there.
  for (const char* lines : {"/disk/dog/001.jpg,dog\n/disk/cat/002.jpg,cat\n",
                            "/disk/cat/002.jpg,cat\n/disk/dog/001.jpg,dog\n"}) {
    source_.Write("labels.csv", std::string("file,label\n") + lines);
    ExpectError(StatusCode::kInvalidArgument, "labels.csv line 3 names /disk/");
    ExpectError(StatusCode::kInvalidArgument,
                "means the source folder, and by labels.csv line 2 it is");
  }
  source_.Write("labels.csv", "file,label\n/disk/001.jpg,dog\ns3://set/cat/002.jpg,cat\n");
  ExpectPacked();
  EXPECT_EQ(FirstValues("cat/002.jpg", 1), Values{0});
  EXPECT_EQ(FirstValues("001.jpg", 1), Values{1});
  source_.Write("classes.txt", "a\nb\n");
  AddPairs({"im/0", "im/1"});
  for (const char* folder : {"siteC/", "../../x/", "..\\"}) {
    for (const char* whole : {"im/0.jpg", "im/0_l.png"}) {
      std::string line = "im/0.jpg,im/0_l.png\n";
      line.insert(line.find(whole), folder);
      source_.Write("labels.csv", "image,label\nim/1.jpg,./im/1_l.png\n" + line);
      ExpectError(StatusCode::kNotFound, std::string("labels.csv line 3 names ") +
                                             (whole[4] == '.' ? "image " : "label ") + folder +
                                             whole + ", which does not exist");
    }
  }
}

TEST_F(ListPackTest, MalformedLineIsNamed) {
  source_.Write("classes.txt", "a\nb\n");
  AddPairs({"1", "2", "3"});
  const std::string good = "1.jpg,1_l.png\n";
  const std::pair<std::string, std::string> mistakes[] = {
      {"\"2.jpg,2_l.png\n", "line 2: a double quote is not closed"},
      {"2.jpg\n", "line 2: 1 fields, and the first line has 2"},
      {"2.jpg,\n", "line 2: expected an image and its label"},
      {"2.jpg,2_l.png,7\n", "line 2: 3 fields, and the first line has 2"}};
  for (const auto& [line, message] : mistakes) {
    source_.Write("train.csv", good);
    source_.Write("val.csv", "3.jpg,3_l.png\n" + line);
    ExpectError(StatusCode::kInvalidArgument, "val.csv: " + message);
    source_.Write("val.csv", line + "3.jpg,3_l.png\n");
    ExpectError(StatusCode::kInvalidArgument, "val.csv: line ");
    // Nothing of it can be read: the name alone says that it is the list of val.
    source_.Write("val.csv", "\"" + line);
    ExpectError(StatusCode::kInvalidArgument, "val.csv: line 1: ");
    // In the only list.
    std::filesystem::remove(source_.At("val.csv"));
    source_.Write("train.csv", good + line);
    ExpectError(StatusCode::kInvalidArgument, "train.csv: " + message);
  }
  source_.Write("train.csv", good);
  source_.Write("val.csv", std::string("i\0m\0", 4));
  ExpectError(StatusCode::kInvalidArgument, "val.csv: this is no text in UTF-8 (it holds zero");
  source_.Write("val.csv", std::string("\xFF\xFEi\0m\0", 6));
  ExpectError(StatusCode::kInvalidArgument, "val.csv: this is no text in UTF-8 (it is UTF-16)");
}

// Beside folders that another layout would read.
TEST_F(ListPackTest, MalformedListIsNotPassedOverForAnotherLayout) {
  source_.Write("classes.txt", "a\nb\n");
  AddImage("images/1.jpg");
  source_.Write("masks/1.png", GrayPng(kSize, {0, 1}));
  source_.Write("train.csv", "images/1.jpg,masks/1.png\n\"images/2.jpg\n");
  ExpectError(StatusCode::kInvalidArgument, "list: train.csv lists image and label paths");
  source_.Write("train.csv", "\"images/1.jpg,masks/1.png\n");
  ExpectError(StatusCode::kInvalidArgument, "train.csv may be the list of a split");
  ExpectError(StatusCode::kInvalidArgument, "the folder looks like layout pairs");
  source_.Write("train.csv", std::string("i\0m\0", 4));
  ExpectError(StatusCode::kInvalidArgument, "this is no text in UTF-8");
  options_.layout.layout = "pairs";
  ExpectPacked();
  EXPECT_NE(error_.find("layout pairs does not read train.csv"), std::string::npos) << error_;
}

TEST_F(ListPackTest, ListThatLeadsNowhereIsNotPassedOver) {
  source_.Write("classes.txt", "a\nb\n");
  AddImage("images/1.jpg");
  source_.Write("masks/1.png", GrayPng(kSize, {0, 1}));
  source_.Write("train.csv", "image,label\nelsewhere/1.jpg,elsewhere/1.png\n");
  ExpectError(StatusCode::kInvalidArgument,
              "train.csv lists images that are not in this folder, such as elsewhere/1.jpg");
  options_.layout.layout = "pairs";
  ExpectPacked();
}

TEST_F(ListPackTest, ListsOfImagesAloneAreNotPassedOver) {
  source_.Write("classes.txt", "a\nb\n");
  for (const char* stem : {"1", "2", "3"}) {
    AddImage(std::string("images/") + stem + ".jpg");
    source_.Write(std::string("masks/") + stem + ".png", GrayPng(kSize, {0, 1}));
  }
  source_.Write("train.txt", "images/1.jpg\nimages/2.jpg\n");
  ExpectError(StatusCode::kInvalidArgument,
              "train.txt lists images of this folder, and the folder looks like layout pairs");
  ExpectError(StatusCode::kInvalidArgument, "write lists with a label behind each image");
  // For the test split it is usual; it stays out of the others.
  source_.Write("train.txt", "images/1.jpg masks/1.png\nimages/2.jpg masks/2.png\n");
  source_.Write("test.txt", "images/3.jpg\n");
  options_.layout.layout = "list";
  ExpectPacked();
  EXPECT_NE(error_.find("split test left out: test.txt names images alone"), std::string::npos);
  EXPECT_EQ(ReadLabels().size(), 2u);
}

TEST_F(ListPackTest, TestImagesListedAloneArePackedWhenAskedFor) {
  source_.Write("classes.txt", "a\nb\n");
  AddPairs({"1"});
  AddImage("pics/3 a.jpg");
  source_.Write("train.csv", "1.jpg,1_l.png\n");
  options_.layout.splits = {"test"};
  for (const char* list : {"image\npics/3 a.jpg\n", "\"pics/3 a.jpg\"\n/disk/1.jpg\n"}) {
    source_.Write("test.csv", list);
    if (list[0] == '"') std::filesystem::remove(source_.At("1_l.png"));
    ExpectPacked();
    EXPECT_EQ(ReadLabels("test")["pics/3 a.jpg"], Values(24, 255)) << list;
    EXPECT_EQ(ReadLabels("test").size(), list[0] == '"' ? 2u : 1u);
  }
  source_.Write("test.csv", "pics/3 a.jpg\npics/9.jpg\n");
  ExpectError(StatusCode::kNotFound, "test.csv line 2 names image pics/9.jpg, which does not");
  source_.Write("train.csv", "1.jpg,0\n");
  ExpectError(StatusCode::kNotFound, "list test.csv cannot be packed: it names images alone");
}

TEST_F(ListPackTest, LabelsThatAreNotThereAreNoClasses) {
  source_.Write("classes.txt", "a\nb\n");
  AddImage("1.jpg");
  AddImage("2.jpg");
  source_.Write("train.txt", "1.jpg 1_labelTrainIds.png\n2.jpg 2_labelTrainIds.png\n");
  ExpectError(StatusCode::kNotFound,
              "train.txt line 1 names label 1_labelTrainIds.png, which does not exist");
  options_.layout.layout = "csv";
  options_.layout.list = "train.txt";
  options_.layout.classes_file.reset();
  ExpectError(StatusCode::kInvalidArgument, "looks like the path of a label");
}

TEST_F(ListPackTest, FilesThatNoLineNamesAreCounted) {
  source_.Write("classes.txt", "a\nb\n");
  AddPairs({"1", "2", "3", "4"});
  source_.Write("train.txt", "1.jpg 1_l.png\n");
  source_.Write("val.txt", "2.jpg 2_l.png\n");
  ExpectLayout("list");
  EXPECT_NE(out_.find("2 packed + 4 skipped = 6 inputs"), std::string::npos) << out_;
  EXPECT_NE(out_.find("skipped: 3.jpg: no list names it"), std::string::npos) << out_;
  EXPECT_NE(error_.find("4 files left out (no list names it): 3.jpg, 3_l.png, 4.jpg, …"),
            std::string::npos)
      << error_;
  // Lists of classes, and a choice of splits.
  source_.Write("train.txt", "1.jpg 0\n");
  source_.Write("val.txt", "2.jpg 1\n");
  ExpectLayout("csv");
  EXPECT_NE(out_.find("2 packed + 6 skipped = 8 inputs"), std::string::npos) << out_;
  options_.layout.splits = {"val"};
  ExpectPacked();
  EXPECT_NE(out_.find("1 packed + 0 skipped = 1 input"), std::string::npos) << out_;
}

TEST_F(ListPackTest, EmptyListIsRefusedUnlessItsSplitIsNotWanted) {
  source_.Write("classes.txt", "a\nb\n");
  AddPairs({"1", "2"});
  for (const char* empty : {"", "\xEF\xBB\xBF\r\n", "image,label\n"}) {
    for (const char* good : {"1.jpg,1_l.png\n", "1.jpg,0\n"}) {
      options_.layout.splits.clear();
      source_.Write("val.csv", good);
      source_.Write("train.csv", empty);
      ExpectError(StatusCode::kNotFound, "split train has no input");
      options_.layout.splits = {"val"};
      ExpectPacked();
      EXPECT_EQ(ReadLabels().size(), 1u);
    }
  }
}

TEST_F(ListPackTest, ColumnsAreCountedAndSplitsNeeded) {
  source_.Write("classes.txt", "a\nb\n");
  AddPairs({"c", "c,d"});
  // Cut at its comma, "c,d.jpg" would be the image c with the class d.jpg.
  source_.Write("train.csv", "c.jpg,0\nc,d.jpg,1\n");
  ExpectError(StatusCode::kInvalidArgument,
              "train.csv: line 2: 3 fields, and the first line has 2; put quotes around");
  source_.Write("train.csv", "c.jpg,0,\n\"c,d.jpg\",1,,\n");  // what spreadsheets leave behind
  ExpectLayout("csv");
  EXPECT_EQ(FirstValues("c,d.jpg", 1), Values{1});
  // One column per class: the second is not what the image shows.
  source_.Write("train.csv", "c.jpg,1,0\n\"c,d.jpg\",0,1\n");
  ExpectError(StatusCode::kInvalidArgument,
              "train.csv: line 1: 3 fields; name the columns in a first line");
  source_.Write("train.csv", "image,label,split\nc.jpg,c_l.png,train\n\"c,d.jpg\",c_l.png,\n");
  ExpectError(StatusCode::kInvalidArgument, "train.csv: line 3: its column of splits is empty");
}

TEST_F(ListPackTest, DoubtfulLabelsAreNoted) {
  source_.Write("classes.txt", "a\nb\n");
  AddPairs({"1", "2"});
  source_.Write("train.txt", "1.jpg 1_l.png\n2.jpg 1_l.png\n");
  ExpectLayout("list");
  EXPECT_NE(error_.find("1 file named as the label of more than one image: 1_l.png"),
            std::string::npos)
      << error_;
  source_.Write("train.txt", "1.jpg 1_l.png\n2_l.png 2_l.png\n");
  ExpectError(StatusCode::kInvalidArgument, "2_l.png is both the image and the label of one pair");
  source_.Write("train.txt", "1.jpg Cat\n2.jpg cat\n");
  ExpectLayout("csv");
  EXPECT_NE(error_.find("classes 'Cat' and 'cat' differ in upper and lower case alone"),
            std::string::npos);
}

// Kaggle names columns as it likes, and images without their extension.
TEST_F(ListPackTest, FirstLineWithoutItsImageNamesColumns) {
  for (const char* image : {"train/ab0.jpg", "train/ab1.jpg", "train/ab2.jpg"}) AddImage(image);
  for (const char* columns : {"id,breed", "image_id,species"}) {
    source_.Write("labels.csv", columns + std::string("\nab0,pug\nab1,boxer\nab2,pug\n"));
    options_.layout.layout = "csv";
    options_.layout.list = "labels.csv";
    ExpectPacked();
    EXPECT_EQ(FirstValues("train/ab0.jpg", 1), Values{1});
    EXPECT_EQ(FirstValues("train/ab1.jpg", 1), Values{0});
    EXPECT_EQ(ClassNames(), (std::vector<std::string>{"boxer", "pug"})) << columns;
    EXPECT_NE(error_.find("is taken for the names of its columns"), std::string::npos) << error_;
  }
  source_.Write("labels.csv", "gone.jpg,cat\nab0,pug\nab1,boxer\n");
  ExpectError(StatusCode::kNotFound, "labels.csv line 1 names image gone.jpg, which does not");
}

TEST_F(ListPackTest, NoClassComesFromALineThatIsSkipped) {
  for (const char* image : {"a.jpg", "b.jpg"}) AddImage(image);
  source_.Write("train.csv", "image,label\na.jpg,dog\ngone.jpg,ant\nb.jpg,elk\n");
  options_.on_error.skip = true;
  EXPECT_TRUE(Pack().ok());
  EXPECT_EQ(FirstValues("b.jpg", 1), Values{1});
  EXPECT_EQ(ClassNames(), (std::vector<std::string>{"dog", "elk"}));
}

TEST_F(ListPackTest, WholeNumbersAreIdsHoweverTheyAreWritten) {
  for (const char* image : {"a.jpg", "b.jpg", "c.jpg"}) AddImage(image);
  for (const char* lines : {"a,1.0\nb,2.0\nc,4.0\n", "a,1\nb,02\nc,4.\n"}) {
    source_.Write("train.csv", std::string("image,label\n") + lines);
    ExpectPacked();
    EXPECT_EQ(FirstValues("a.jpg", 1), Values{1});
    EXPECT_EQ(FirstValues("b.jpg", 1), Values{2});
    EXPECT_EQ(FirstValues("c.jpg", 1), Values{4});
    EXPECT_EQ(ClassNames().size(), 5u) << lines;
  }
  for (const char* id : {"-1", "65535", "70000", "4294967296", "99999999999999999999"}) {
    source_.Write("train.csv", "image,label\na,0\nb," + std::string(id) + "\n");
    ExpectError(StatusCode::kInvalidArgument, "all labels are numbers, which are class ids, and '" +
                                                  std::string(id) + "' is none");
  }
  for (const char* missing : {"NaN", "nan", "<NA>", "null"}) {
    for (const char* other : {"0", "dog"}) {
      source_.Write("train.csv", std::string("image,label\na,") + other + "\nb," + missing + "\n");
      ExpectError(StatusCode::kInvalidArgument, "train.csv line 3: '" + std::string(missing) +
                                                    "' stands for a class that is missing");
    }
  }
}

TEST_F(ListPackTest, LineWithoutALabelIsRefused) {
  AddImage("1.jpg");
  AddImage("2.jpg");
  source_.Write("train.txt", "1.jpg 0\n2.jpg\n");
  options_.layout.layout = "csv";
  options_.layout.list = "train.txt";
  ExpectError(StatusCode::kInvalidArgument, "train.txt: line 2: expected an image and its label");
}

}  // namespace
}  // namespace shardmill
