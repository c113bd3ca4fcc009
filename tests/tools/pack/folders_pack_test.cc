// What the folders of any layout have in common: splits without labels, names that look alike.
#include <map>
#include <string>

#include "tests/tools/pack/pack_testing.h"

namespace shardmill {
namespace {

using FoldersPackTest = PackTest;

// One rule for all layouts: they are inputs that are left out unless they are asked for.
TEST_F(FoldersPackTest, TestImagesWithoutLabelsCountAlikeInEachLayout) {
  const std::string colors = RgbPng(kSize, {0x804080}), ids = GrayPng(kSize, {0, 1});
  struct Case {
    const char *layout, *image;
    std::string label, label_bytes;
    const char* test[2];
    std::map<std::string, std::string> texts;
  };
  const std::string table = "name,r,g,b\nroad,128,64,128\nsky,1,2,3\n";
  const std::string shape =
      R"({"shapes":[{"label":"a","points":[[0,0],[4,0],[4,3]],"shape_type":"polygon"}],)"
      R"("imagePath":"1.jpg","imageHeight":4,"imageWidth":6})";
  const std::string coco =
      R"({"images":[{"id":1,"file_name":"1.jpg","width":6,"height":4}],"categories":)"
      R"([{"id":1,"name":"a"}],"annotations":[{"id":1,"image_id":1,"category_id":1,"iscrowd":0,)"
      R"("area":9,"segmentation":[[0,0,4,0,4,3]]}]})";
  const Case cases[] = {
      {"suite",
       "train/1.jpg",
       "train_labels/1.png",
       colors,
       {"test/2.jpg", "test/3.jpg"},
       {{"class_dict.csv", table}}},
      {"camvid",
       "train/1.jpg",
       "trainannot/1.png",
       ids,
       {"test/2.jpg", "test/3.jpg"},
       {{"train.txt", "train/1.jpg trainannot/1.png\n"}, {"test.txt", "test/2.jpg\ntest/3.jpg\n"}}},
      {"camvid",
       "all/1.jpg",
       "labels/1_L.png",
       colors,
       {"all/2.jpg", "all/3.jpg"},
       {{"label_colors.txt", "128 64 128 road\n1 2 3 sky\n"},
        {"train.txt", "1\n"},
        {"test.txt", "2\n3\n"}}},
      {"camvid",
       "one/1.jpg",
       "labels/1_L.png",
       colors,
       {"test/2.jpg", "test/3.jpg"},
       {{"label_colors.txt", "128 64 128 road\n1 2 3 sky\n"}}},
      {"voc",
       "JPEGImages/1.jpg",
       "SegmentationClass/1.png",
       ids,
       {"JPEGImages/2.jpg", "JPEGImages/3.jpg"},
       {{"ImageSets/Segmentation/train.txt", "1\n"},
        {"ImageSets/Segmentation/test.txt", "2\n3\n"}}},
      {"cityscapes",
       "leftImg8bit/train/x/x_000000_000001_leftImg8bit.png",
       "gtFine/train/x/x_000000_000001_gtFine_labelIds.png",
       GrayPng(kSize, {7}),
       {"leftImg8bit/test/x/x_000000_000002_leftImg8bit.png",
        "leftImg8bit/test/x/x_000000_000003_leftImg8bit.png"},
       {}},
      {"kitti",
       "training/image_2/000001_10.png",
       "training/semantic/000001_10.png",
       GrayPng(kSize, {7}),
       {"testing/image_2/000002_10.png", "testing/image_2/000003_10.png"},
       {}},
      {"ade20k",
       "images/training/ADE_1.jpg",
       "annotations/training/ADE_1.png",
       ids,
       {"images/testing/ADE_2.jpg", "images/testing/ADE_3.jpg"},
       {}},
      {"coco-stuff",
       "images/train2017/1.jpg",
       "annotations/train2017/1.png",
       ids,
       {"images/test2017/2.jpg", "images/test2017/3.jpg"},
       {}},
      {"deepglobe",
       "train/1_sat.jpg",
       "train/1_mask.png",
       RgbPng(kSize, {0x00FFFF}),
       {"test/2_sat.jpg", "test/3_sat.jpg"},
       {}},
      {"list",
       "x/1.jpg",
       "masks/1.png",
       ids,
       {"x/2.jpg", "x/3.jpg"},
       {{"classes.txt", "a\nb\n"},
        {"train.txt", "x/1.jpg masks/1.png\n"},
        {"test.txt", "x/2.jpg\nx/3.jpg\n"}}},
      {"pairs",
       "images/train/1.jpg",
       "masks/train/1.png",
       ids,
       {"images/test/2.jpg", "images/test/3.jpg"},
       {{"classes.txt", "a\nb\n"}}},
      {"labelme", "train/1.jpg", "train/1.json", shape, {"test/2.jpg", "test/3.jpg"}, {}},
      {"coco",
       "train2017/1.jpg",
       "annotations/instances_train2017.json",
       coco,
       {"test2017/2.jpg", "test2017/3.jpg"},
       {}},
  };
  int number = 0;
  for (const Case& each : cases) {
    const std::string folder = std::to_string(number++) + "/";
    AddImage(folder + each.image);
    source_.Write(folder + each.label, each.label_bytes);
    for (const char* image : each.test) AddImage(folder + image);
    for (const auto& [path, text] : each.texts) source_.Write(folder + path, text);
    PackOptions packing = options_;
    options_.source = source_.At(folder);
    options_.layout.layout = each.layout;
    options_.overwrite = true;
    ExpectPacked();
    EXPECT_NE(out_.find("1 packed + 2 skipped = 3 inputs"), std::string::npos)
        << folder << each.layout << out_ << error_;
    EXPECT_NE(out_.find(std::string("skipped: ") + each.test[1]), std::string::npos) << out_;
    EXPECT_NE(out_.find(" has no labels: "), std::string::npos) << out_;
    options_.layout.splits = {"test"};
    ExpectPacked();
    EXPECT_EQ(ReadLabels("test").size(), 2u) << folder << each.layout << error_;
    options_ = packing;
  }
}

// Names that look alike: "Ünï" of composed and of decomposed letters.
TEST_F(FoldersPackTest, NamesThatDifferInTheirAccentsAreToldApart) {
  source_.Write("classes.txt", "a\nb\n");
  AddImage("images/1.jpg");
  source_.Write("masks/1.png", GrayPng(kSize, {0, 1}));
  AddImage("images/\xC3\x9Cn\xC3\xAF.jpg");
  source_.Write("masks/U\xCC\x88ni\xCC\x88.png", GrayPng(kSize, {0, 1}));
  ExpectError(StatusCode::kNotFound,
              "there is no label with this stem in masks; masks/U\xCC\x88ni\xCC\x88.png differs in "
              "how its accents are written");
}

TEST_F(FoldersPackTest, CategoryIdsAreForTheLayoutsOfCoco) {
  source_.Write("classes.txt", "a\nb\n");
  AddImage("images/1.jpg");
  source_.Write("masks/1.png", GrayPng(kSize, {0, 1}));
  options_.layout.keep_category_ids = true;
  ExpectError(StatusCode::kInvalidArgument,
              "--category-ids is for the layouts coco and coco-panoptic, not pairs");
}

}  // namespace
}  // namespace shardmill
