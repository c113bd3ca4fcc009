// Where the paths of lists lead, and which of two columns is the label.
#include <filesystem>

#include "tests/tools/pack/list_testing.h"

namespace shardmill {
namespace {

using ListPathsTest = ListPackTest;

// Well-known lists are written for the folder above the set, or for a folder of their makers.
TEST_F(ListPathsTest, PathsThatBeginWithTheSourceFolderLeadIntoIt) {
  source_.Write("classes.txt", "a\nb\n");
  AddPairs({"train/1", "train/2"});
  const std::filesystem::path root = source_.path();
  const std::string name = root.filename().string();
  const std::string above = root.parent_path().filename().string() + "/" + name;
  for (const std::string& start : {name, "./" + name, above, root.string(), "/SegNet/" + name}) {
    const std::string begin = start + "/train/";
    source_.Write("train.txt", begin + "1.jpg " + begin + "1_l.png\ntrain/2.jpg train/2_l.png\n");
    ExpectLayout("list");
    EXPECT_EQ(Keys("train"), (std::vector<std::string>{"train/1.jpg", "train/2.jpg"})) << start;
    const std::string told =
        start.substr(start[0] == '.' ? 2 : 0) + "/: taken for the source folder";
    EXPECT_NE(error_.find("train.txt line 1 begins with " + told), std::string::npos) << error_;
    source_.Write("train.txt", begin + "1.jpg 1\ntrain/2.jpg 0\n");
    ExpectLayout("csv");
    EXPECT_EQ(Keys("train"), (std::vector<std::string>{"train/1.jpg", "train/2.jpg"})) << start;
  }
  // Where there is a folder of this name, it is meant.
  AddImage(name + "/train/2.jpg");
  source_.Write("train.txt", "train/1.jpg 1\n" + name + "/train/1.jpg 0\n");
  ExpectError(StatusCode::kNotFound, "names image " + name + "/train/1.jpg, which does not exist");
}

// As programs of the other kind of machine put them together.
TEST_F(ListPathsTest, SeparatorsOfTwoKindsInOnePathAreUnderstood) {
  source_.Write("classes.txt", "a\nb\n");
  AddPairs({"train/1"});
  for (const std::string begin :
       {"C:/data/set/train\\", "C:\\data\\set/train\\", "./train\\", ".\\train/"}) {
    source_.Write("train.txt", begin + "1.jpg " + begin + "1_l.png\n");
    ExpectLayout("list");
    EXPECT_EQ(Keys("train"), std::vector<std::string>{"train/1.jpg"}) << begin;
  }
  source_.Write("train.txt", "train\\1.jpg train/x\\1_l.png\n");
  options_.layout.layout = "list";
  options_.layout.list = "train.txt";
  ExpectError(StatusCode::kNotFound, "names label train/x\\1_l.png, which does not exist");
}

// Without names of columns, the image comes first.
TEST_F(ListPathsTest, ExchangedColumnsAreNoticed) {
  source_.Write("classes.txt", "a\nb\n");
  for (const char* stem : {"1", "2"}) {
    source_.Write(std::string("im/") + stem + ".png", GrayPng(kSize, {0, 1}));
    source_.Write(std::string("masks/") + stem + ".png", GrayPng(kSize, {0, 1}));
    source_.Write(std::string("x/") + stem + ".png", GrayPng(kSize, {0, 1}));
    AddImage(std::string("jpg/") + stem + ".jpg");
  }
  const std::string masks = "masks/1.png im/1.png\nmasks/2.png im/2.png\n";
  source_.Write("train.txt", masks);
  ExpectError(StatusCode::kInvalidArgument,
              "the image is masks/1.png and its label im/1.png: they seem to be exchanged");
  source_.Write("train.txt", "label image\n" + masks);
  ExpectPacked();
  EXPECT_EQ(Keys("train"), (std::vector<std::string>{"im/1.png", "im/2.png"}));
  source_.Write("train.txt", "image label\n" + masks);
  ExpectPacked();
  EXPECT_EQ(Keys("train"), (std::vector<std::string>{"masks/1.png", "masks/2.png"}));
  source_.Write("train.txt", "x/1.png jpg/1.jpg\nx/2.png jpg/2.jpg\n");
  ExpectError(StatusCode::kInvalidArgument, "its label jpg/1.jpg: they seem to be exchanged");
  source_.Write("train.txt", "x/1.png im/1.png\nx/2.png im/2.png\n");
  ExpectPacked();
  EXPECT_NE(error_.find("train.txt does not name its columns: the first is taken for the images, "
                        "so that the image is x/1.png and its label im/1.png"),
            std::string::npos)
      << error_;
  source_.Write("train.txt", "a jpg/1.jpg\nb jpg/2.jpg\n");
  options_.layout.layout = "csv";
  options_.layout.list = "train.txt";
  ExpectError(StatusCode::kNotFound, "jpg/1.jpg does: are the two columns exchanged?");
}

TEST_F(ListPathsTest, MissingFileIsNamedWithWhatIsThere) {
  source_.Write("classes.txt", "a\nb\n");
  AddPairs({"train/1", "train/2"});
  source_.Write("train.txt", "train/1.jpg train/1_l.png\nmy set/train/2.jpg\ttrain/2_l.png\n");
  ExpectError(StatusCode::kNotFound,
              "train.txt line 2 names image my set/train/2.jpg, which does not exist in the source "
              "folder; train/2.jpg does: if it is meant, take my set/ off the paths");
  source_.Write("train.txt", "train/1.jpg train/1_l.png\n/my/train/3.jpg train/2_l.png\n");
  ExpectError(StatusCode::kNotFound, "and neither does what is left without its first folders");
}

TEST_F(ListPathsTest, ColumnOfYesAndNoGivesTheSplits) {
  source_.Write("classes.txt", "a\nb\n");
  AddPairs({"1", "2", "3"});
  source_.Write("files.csv",
                "image,label,is_valid\n1.jpg,1_l.png,True\n2.jpg,2_l.png,false\n3.jpg,3_l.png,0\n");
  ExpectLayout("list");
  EXPECT_EQ(Keys("val"), (std::vector<std::string>{"1.jpg"}));
  EXPECT_EQ(ReadLabels("train").size(), 2u);
  source_.Write("files.csv", "image,label,is_train\n1.jpg,1_l.png,1\n2.jpg,2_l.png,maybe\n");
  options_.overwrite = true;
  ExpectError(StatusCode::kInvalidArgument, "line 3: 'maybe' is neither True nor False");
}

}  // namespace
}  // namespace shardmill
