// Lists of pairs and of classes, in the forms that people write, packed as a user packs them.
#include "tests/tools/pack/pack_testing.h"

namespace shardmill {
namespace {

using Values = std::vector<int>;

class ListPackTest : public PackTest {
 protected:
  // Images that lie at `paths`, each with a label beside it that ends in _l.png.
  void AddPairs(const std::vector<std::string>& stems) {
    int id = 0;
    for (const std::string& stem : stems) {
      AddImage(stem + ".jpg");
      source_.Write(stem + "_l.png", GrayPng(kSize, {id++ % 2}));
    }
  }
  void ExpectLayout(const std::string& name) {
    ExpectPacked();
    EXPECT_NE(error_.find("taken for layout " + name + ": "), std::string::npos) << error_;
  }
  std::vector<std::string> Keys(const std::string& split) {
    std::vector<std::string> keys;
    for (const auto& [key, values] : ReadLabels(split)) keys.push_back(key);
    return keys;
  }
};

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
