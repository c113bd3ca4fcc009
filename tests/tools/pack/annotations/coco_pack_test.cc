// COCO's files, packed as a user packs them.
#include <filesystem>

#include "tests/tools/pack/annotations/annotation_pack.h"

namespace shardmill {
namespace {

using Values = std::vector<int>;

class CocoTest : public AnnotationPackTest {
 protected:
  CocoTest() {
    AddImage("images/train2017/a.jpg");
    AddImage("images/train2017/empty.jpg");
    AddImage("images/val2017/b.jpg");
    // The small cat stands before the large dog in the file, and lies above it all the same.
    annotations_ = R"({"id": 1, "image_id": 9, "category_id": 3, "iscrowd": 0,
                       "segmentation": [[1, 0, 3, 0, 3, 1, 1, 1], [-5, 3, 2, 3, 2, 9, -5, 9]]},
                      {"id": 2, "image_id": 9, "category_id": 7, "iscrowd": 0,
                       "segmentation": [[0, 0, 6, 0, 6, 2, 0, 2]]},
                      {"id": 3, "image_id": 9, "category_id": 3, "iscrowd": 1,
                       "segmentation": {"size": [4, 6], "counts": [20, 4]}},
                      {"id": 4, "image_id": 77, "category_id": 3, "segmentation": []})";
    Write();
  }
  void Write() {
    const std::string categories =
        R"("categories": [{"id": 7, "name": "dog"}, {"id": 3, "name": "cat"}])";
    source_.Write("annotations/instances_train2017.json",
                  R"({"images": [{"id": 9, "file_name": "a.jpg", "height": 4, "width": 6},
                                 {"id": 8, "file_name": "empty.jpg", "height": 4, "width": 6}],
                      "annotations": [)" +
                      annotations_ + "], " + categories + "}");
    source_.Write("annotations/instances_val2017.json",
                  R"({"images": [{"id": 1, "file_name": "b.jpg", "height": 4, "width": 6}],
                      "annotations": [{"image_id": 1, "category_id": 7, "segmentation":
                        {"size": [4, 6], "counts": "<48"}}], )" +
                      categories + "}");
  }
  std::string annotations_;
};

TEST_F(CocoTest, PolygonsAndMasksAreDrawn) {
  ExpectLayout("coco");
  EXPECT_EQ(ReadLabels()["images/train2017/a.jpg"],
            (Values{2, 1, 1, 2, 2, 2,     //
                    2, 2, 2, 2, 2, 2,     //
                    0, 0, 0, 0, 0, 1,     // the crowd lies lowest
                    1, 1, 0, 0, 0, 1}));  // what is outside the image is cut off
  EXPECT_EQ(ReadLabels()["images/train2017/empty.jpg"], Values(24, 0));
  // "<48" is 12, 4 and 8: the column of pixels 12 … 15.
  EXPECT_EQ(FirstValues("images/val2017/b.jpg", 6), (Values{0, 0, 0, 2, 0, 0}));
  EXPECT_EQ(ClassNames(), (std::vector<std::string>{"background", "cat", "dog"}));
  EXPECT_EQ(RecipeOption("map"), "3 1; 7 2");
  EXPECT_NE(error_.find("1 of 4 annotations are of images that it does not list"),
            std::string::npos);
}

// As tools write them, one for each part of a project.
TEST_F(CocoTest, FilesWhoseNamesAreNoSplitsAreDividedTogether) {
  for (const char* split : {"train2017", "val2017"}) {
    const std::string path = "annotations/instances_" + std::string(split) + ".json";
    source_.Write("annotations/instances_cam" + std::string(split).substr(0, 1) + ".json",
                  source_.Read(path));
    std::filesystem::remove(source_.At(path));
  }
  for (const char* name : {"train2017/a", "train2017/empty", "val2017/b"}) {
    const std::string path = std::string("images/") + name + ".jpg";
    source_.Write("images/" + path.substr(path.rfind('/') + 1), source_.Read(path));
    std::filesystem::remove(source_.At(path));
  }
  std::filesystem::remove(source_.At("images/train2017"));
  std::filesystem::remove(source_.At("images/val2017"));
  ExpectLayout("coco");
  EXPECT_EQ(ReadLabels().size(), 3u);
  EXPECT_NE(error_.find("the folder has no splits: made train and val 90/10"), std::string::npos)
      << error_;
}

TEST_F(CocoTest, IdsThatAreTextAreNamed) {
  annotations_ = R"({"id": 1, "image_id": "9", "category_id": 3, "segmentation": []})";
  Write();
  options_.layout.layout = "coco";
  ExpectError(StatusCode::kInvalidArgument, "the image_id of an annotation is text; write it as a");
}

TEST_F(CocoTest, CutFileIsDamage) {
  const std::string path = "annotations/instances_train2017.json";
  const std::string json = source_.Read(path);
  source_.Write(path, json.substr(0, json.size() / 2));
  options_.layout.layout = "coco";
  ExpectError(StatusCode::kDataLoss, path + ": this is no JSON");
}

TEST_F(CocoTest, OptionsForLabelImagesAreRefused) {
  options_.layout.map = "none";
  ExpectError(StatusCode::kInvalidArgument,
              "--map FILE may give each category id, a number, a class");
  options_.layout.map.reset();
  options_.layout.label_tolerance = 3;
  ExpectError(StatusCode::kInvalidArgument, "have no meaning for them");
  options_.layout.label_tolerance.reset();
  TestFolder maps("category_maps");
  maps.Write("map.txt", "3 1\n7 ignore\n");
  options_.layout.map = maps.At("map.txt");
  ExpectPacked();
  EXPECT_EQ(FirstValues("images/train2017/a.jpg", 3), (Values{255, 1, 1}));
}

TEST_F(CocoTest, CategoriesAreComparedByName) {
  source_.Write(
      "annotations/instances_val2017.json",
      R"({"images": [], "categories": [{"id": 7, "name": "cat"}, {"id": 3, "name": "dog"}]})");
  ExpectError(StatusCode::kInvalidArgument,
              "annotations/instances_val2017.json: its categories differ");
  Write();
  TestFolder tables("coco_tables");
  tables.Write("classes.csv", "name,r,g,b\nbackground,0,0,0\ndog,9,0,0\ncat,0,9,0\n");
  options_.layout.classes_file = tables.At("classes.csv");
  ExpectError(StatusCode::kInvalidArgument,
              "its categories make class 1 cat, the class table says dog");
  tables.Write("classes.csv", "name,r,g,b\nbackground,0,0,0\ncat,0,9,0\ndog,9,0,0\n");
  ExpectPacked();
  EXPECT_EQ(FirstValues("images/train2017/a.jpg", 3), (Values{2, 1, 1}));
}

TEST_F(CocoTest, CategoriesOfOneNameAreRefused) {
  const std::string image = R"({"images": [{"id": 1, "file_name": "b.jpg", "height": 4,
                                "width": 6}], "annotations": [{"image_id": 1, "category_id": 5,
                                "segmentation": [[0, 0, 1, 0, 1, 4, 0, 4]]}], "categories": )";
  std::filesystem::remove(source_.At("annotations/instances_train2017.json"));
  auto with = [&](const std::string& categories) {
    source_.Write("annotations/instances_val2017.json", image + categories + "}");
  };
  with(R"([{"id": 5, "name": "cat"}, {"id": 2, "name": "cat"}])");
  ExpectError(StatusCode::kInvalidArgument, "categories 2 and 5 have one name, 'cat'");
  // Unless the user says which class each of them is.
  TestFolder tables("one_name");
  tables.Write("classes.csv", "name\nbackground\nanimal\n");
  tables.Write("map.txt", "2 animal\n5 animal\n");
  options_.layout.classes_file = tables.At("classes.csv");
  options_.layout.map = tables.At("map.txt");
  ExpectPacked();
  EXPECT_EQ(FirstValues("images/val2017/b.jpg", 2), (Values{1, 0}));
  options_.layout.classes_file.reset();
  options_.layout.map.reset();
  with(R"([{"id": 5, "name": "cat"}, {"id": 2}])");
  ExpectError(StatusCode::kInvalidArgument, "category 2 has no usable name");
  with(R"([{"id": 5, "name": "cat"}, {"id": 2, "name": "Cat"}])");
  ExpectPacked();
  EXPECT_NE(error_.find("differ in upper and lower case alone"), std::string::npos) << error_;
}

// An area of the background's category is what no area covers.
TEST_F(CocoTest, CategoryOfTheBackgroundIsTheBackground) {
  source_.Write("annotations/instances_val2017.json",
                R"({"images": [{"id": 1, "file_name": "b.jpg", "height": 4, "width": 6}],
                    "annotations": [
                      {"image_id": 1, "category_id": 4, "segmentation": [[0,0,6,0,6,4,0,4]]},
                      {"image_id": 1, "category_id": 9, "segmentation": [[0,0,1,0,1,4,0,4]]}],
                    "categories": [{"id": 4, "name": "dog"}, {"id": 9, "name": "Background"}]})");
  std::filesystem::remove(source_.At("annotations/instances_train2017.json"));
  ExpectPacked();
  EXPECT_EQ(FirstValues("images/val2017/b.jpg", 2), (Values{0, 1}));
  EXPECT_EQ(ClassNames(), (std::vector<std::string>{"Background", "dog"}));
  options_.layout.keep_category_ids = true;
  ExpectPacked();
  EXPECT_EQ(FirstValues("images/val2017/b.jpg", 2), (Values{9, 4}));
  EXPECT_EQ(ClassNames()[9], "Background");
}

TEST_F(CocoTest, CategoryIdsCanBeKept) {
  options_.layout.keep_category_ids = true;
  ExpectPacked();
  EXPECT_EQ(FirstValues("images/train2017/a.jpg", 3), (Values{7, 3, 3}));
  EXPECT_EQ(ClassNames()[3], "cat");
  EXPECT_EQ(ClassNames()[5], "unused 5");
}

TEST_F(CocoTest, MissingImagesAndOtherCategoriesAreFound) {
  std::filesystem::remove(source_.At("images/train2017/empty.jpg"));
  ExpectError(StatusCode::kNotFound,
              "empty.jpg: annotations/instances_train2017.json names it, but there is no such");
  AddImage("images/train2017/empty.jpg");
  source_.Write("annotations/instances_val2017.json",
                R"({"images": [], "categories": [{"id": 3, "name": "cat"}]})");
  ExpectError(StatusCode::kInvalidArgument,
              "annotations/instances_val2017.json: its categories differ");
}

// An object that is annotated and would be drawn as nothing.
TEST_F(CocoTest, LostOutlinesStopAndEmptyAreasAreCounted) {
  auto with = [this](const std::string& segmentation) {
    annotations_ = R"({"image_id": 9, "category_id": 3, "segmentation": )" + segmentation + "}";
    Write();
  };
  for (const auto& [segmentation, message] : std::vector<std::pair<std::string, std::string>>{
           {"[]", "the segmentation is empty, so the object has no outline"},
           {"[[]]", "a polygon of 0 points has no area"},
           {"[[1, 2, 3, 4]]", "a polygon of 2 points has no area"}}) {
    with(segmentation);
    ExpectError(StatusCode::kDataLoss, message);
  }
  for (const char* segmentation : {R"({"size": [4, 6], "counts": [24]})", "[[1, 1, 1, 1, 1, 1]]",
                                   "[[1, 1, 1.2, 1, 1.2, 1.2]]", "[[20, 20, 30, 20, 30, 30]]"}) {
    with(segmentation);
    ExpectPacked();
    EXPECT_NE(out_.find("annotations: 1 shape left out, which cover no pixel"), std::string::npos)
        << segmentation << out_;
    EXPECT_EQ(ReadLabels()["images/train2017/a.jpg"], Values(24, 0));
  }
  EXPECT_NE(error_.find("train2017.json: 1 of 2 images have no annotation and are background"),
            std::string::npos)
      << error_;
}

// Written as true, or as a fraction, a crowd would lie above what it surrounds.
TEST_F(CocoTest, CrowdsAreCrowdsHoweverTheyAreWritten) {
  const std::string small = R"({"image_id": 9, "category_id": 7, "segmentation":
                                [[0, 0, 6, 0, 6, 4, 0, 4]]})";
  for (const char* crowd : {"1", "true", "1.0"}) {
    annotations_ = small + R"(, {"image_id": 9, "category_id": 3, "iscrowd": )" + crowd +
                   R"(, "segmentation": {"size": [4, 6], "counts": [20, 4]}})";
    Write();
    ExpectPacked();
    EXPECT_EQ(ReadLabels()["images/train2017/a.jpg"], Values(24, 2)) << crowd;
  }
  for (const char* crowd : {"2", "-1", "\"yes\"", "0.5"}) {
    annotations_ = small + R"(, {"image_id": 9, "category_id": 3, "iscrowd": )" + crowd +
                   R"(, "segmentation": {"size": [4, 6], "counts": [20, 4]}})";
    Write();
    ExpectError(StatusCode::kDataLoss, "iscrowd is neither 0 nor 1");
  }
}

TEST_F(CocoTest, ImagesThatNoFileNamesAreCounted) {
  AddImage("images/val2017/c.jpg");
  AddImage("other/d.jpg");
  ExpectLayout("coco");
  EXPECT_NE(out_.find("3 packed + 1 skipped = 4 inputs"), std::string::npos) << out_;
  EXPECT_NE(out_.find("skipped: images/val2017/c.jpg: no annotation file names it"),
            std::string::npos);
  EXPECT_NE(error_.find("1 file not read, as layout coco has no use for them: other/d.jpg"),
            std::string::npos)
      << error_;
}

TEST_F(CocoTest, MapNeedsAClassForTheBackground) {
  TestFolder tables("background_tables");
  tables.Write("classes.csv", "name\ncat\ndog\n");
  tables.Write("map.txt", "3 cat\n7 dog\n");
  options_.layout.classes_file = tables.At("classes.csv");
  options_.layout.map = tables.At("map.txt");
  ExpectError(StatusCode::kInvalidArgument, "has no class 'background' for the pixels");
  tables.Write("classes.csv", "name\ncat\ndog\nBackground\n");
  ExpectPacked();
  EXPECT_EQ(ReadLabels()["images/train2017/empty.jpg"], Values(24, 2));
  tables.Write("map.txt", "#000003 cat\n");
  ExpectError(StatusCode::kInvalidArgument, "--map FILE may give each category id, a number");
}

TEST_F(CocoTest, SizeOfTheImageIsCompared) {
  source_.Write("images/train2017/a.jpg", Jpeg(Photo({6, 4}, 1), 90));
  options_.crop = kSize;
  ExpectError(StatusCode::kDataLoss, "the sides are exchanged");
}

TEST_F(CocoTest, DamagedPolygonNamesTheFile) {
  annotations_ = R"({"image_id": 9, "category_id": 3, "segmentation": [[1, 2, 3]]})";
  Write();
  ExpectError(StatusCode::kDataLoss,
              "images/train2017/a.jpg: label annotations/instances_train2017.json: annotation: a "
              "polygon is no list of pairs");
}

TEST_F(AnnotationPackTest, CocoFilesMayLieBesideTheImages) {
  for (const char* split : {"train", "valid"}) {
    const std::string folder = split;
    AddImage(folder + "/x_jpg.rf.0a1b.jpg");
    source_.Write(folder + "/_annotations.coco.json",
                  R"({"images": [{"id": 0, "file_name": "x_jpg.rf.0a1b.jpg", "height": 4,
                      "width": 6}], "categories": [{"id": 1, "name": "leaf"}], "annotations":
                      [{"image_id": 0, "category_id": 1, "segmentation": [[0,0,1,0,1,1,0,1]]}]})");
  }
  ExpectLayout("coco");
  EXPECT_EQ(FirstValues("valid/x_jpg.rf.0a1b.jpg", 2), (Values{1, 0}));
  EXPECT_EQ(ReadLabels("val").size(), 1u);
}

TEST_F(AnnotationPackTest, CocoImageBesideItsFileIsMeantAndTwoElsewhereAreRefused) {
  const auto write = [this](const std::string& path) {
    source_.Write(path, R"({"images": [{"id": 0, "file_name": "a.jpg", "height": 4, "width": 6}],
                            "categories": [{"id": 1, "name": "leaf"}], "annotations": []})");
  };
  AddImage("train/a.jpg");
  AddImage("B/train/a.jpg");
  write("B/train/_annotations.coco.json");
  options_.layout.layout = "coco";
  ExpectPacked();
  EXPECT_EQ(ReadLabels("train").count("B/train/a.jpg"), 1u);
  EXPECT_EQ(ReadLabels("train").size(), 1u);
  std::filesystem::remove(source_.At("B/train/_annotations.coco.json"));
  write("annotations/instances_train.json");
  AddImage("images/a.jpg");
  ExpectError(
      StatusCode::kNotFound,
      "annotations/instances_train.json names it, and may mean train/a.jpg or images/a.jpg");
}

// As programs name images on Windows, from the folder that they run in, or of their own machine.
TEST_F(AnnotationPackTest, CocoImagesOfOtherMachinesAreFound) {
  AddImage("images/a.jpg");
  AddImage("images/sub/b.jpg");
  for (const auto& [a, b] : std::vector<std::pair<std::string, std::string>>{
           {R"(images\\a.jpg)", R"(images\\sub\\b.jpg)"},
           {"./a.jpg", R"(sub\\b.jpg)"},
           {"/home/x/images/a.jpg", R"(C:\\x/images\\sub/b.jpg)"}}) {
    source_.Write("annotations/instances_train.json", R"({"images": [{"id": 0, "file_name": ")" +
                                                          a + R"(", "height": 4, "width": 6},
                                 {"id": 1, "file_name": ")" +
                                                          b + R"(", "height": 4, "width": 6}],
                      "categories": [{"id": 1, "name": "leaf"}], "annotations": []})");
    options_.layout.layout = "coco";
    options_.overwrite = true;
    ExpectPacked();
    EXPECT_EQ(ReadLabels("train").size(), 2u) << a;
    EXPECT_EQ(ReadLabels("train").count("images/sub/b.jpg"), 1u) << b;
  }
}

TEST_F(AnnotationPackTest, CocoFileOfAnotherNameIsToBeRenamed) {
  AddImage("images/a.jpg");
  source_.Write("annotations/result.json", "{}");
  options_.layout.layout = "coco";
  ExpectError(StatusCode::kNotFound,
              "if annotations/result.json is one, call it instances_train.json or");
}

TEST_F(AnnotationPackTest, CocoTestFileWithoutAnnotationsIsUnlabelled) {
  const auto write = [this](const std::string& split, const std::string& lists) {
    AddImage(split + "/a.jpg");
    source_.Write("annotations/instances_" + split + ".json",
                  R"({"images": [{"id": 0, "file_name": "a.jpg", "height": 4, "width": 6}],
                      "categories": [{"id": 1, "name": "leaf"}])" +
                      lists + "}");
  };
  write("train", R"(, "annotations": [])");
  write("test", "");
  ExpectPacked();
  EXPECT_TRUE(ReadLabels("test").empty());
  EXPECT_NE(error_.find("split test left out: annotations/instances_test.json has no list"),
            std::string::npos)
      << error_;
  options_.layout.splits = {"test"};
  ExpectPacked();
  EXPECT_EQ(ReadLabels("test").at("test/a.jpg"), Values(24, 255));
  EXPECT_EQ(manifest_.ignore(), 255u);
  options_.layout.splits.clear();
  write("train", R"(, "anotations": [])");
  ExpectError(StatusCode::kInvalidArgument,
              "annotations/instances_train.json: there is no list 'annotations'");
}

class PanopticTest : public AnnotationPackTest {
 protected:
  void AddSplit(const std::string& split, const std::vector<uint32_t>& colors) {
    AddImage("images/" + split + "/a.jpg");
    source_.Write("annotations/panoptic_" + split + "/a.png", RgbPng(kSize, colors));
    source_.Write("annotations/panoptic_" + split + ".json",
                  R"({"images": [{"id": 9, "file_name": "a.jpg"}], "annotations": [
                      {"image_id": 9, "file_name": "a.png", "segments_info": [
                        {"id": 8, "category_id": 3}, {"id": 197121, "category_id": 7}]}],
                      "categories": [{"id": 7, "name": "sky", "isthing": 0},
                                     {"id": 3, "name": "cat", "isthing": 1}]})");
  }
};

TEST_F(PanopticTest, SegmentsBecomeClasses) {
  // 197121 = 1 + 2 * 256 + 3 * 65536.
  AddSplit("train2017", {0x000000, 0x080000, 0x010203});
  AddSplit("val2017", {0x080000});
  ExpectLayout("coco-panoptic");
  EXPECT_EQ(FirstValues("images/train2017/a.jpg", 3), (Values{255, 0, 1}));
  EXPECT_EQ(ClassNames(), (std::vector<std::string>{"cat", "sky"}));
  // Read in the other order of channels, ids are unknown: never a wrong class.
  AddSplit("train2017", {0x000008, 0x080000});
  ExpectError(StatusCode::kDataLoss, "value 524288: 12 pixels");
  std::filesystem::remove(source_.At("annotations/panoptic_train2017/a.png"));
  ExpectError(StatusCode::kNotFound, "there is no picture annotations/panoptic_train2017/a.png");
}

TEST_F(PanopticTest, PictureIsTheOneThatTheAnnotationNames) {
  AddSplit("train2017", {0x000000, 0x080000, 0x010203});
  AddSplit("val2017", {0x080000});
  const std::string json = "annotations/panoptic_train2017.json";
  std::string text = source_.Read(json);
  const std::string name = R"("file_name": "a.png")";
  text.replace(text.find(name), name.size(), R"("file_name": "other.png")");
  source_.Write(json, text);
  ExpectError(StatusCode::kNotFound,
              "there is no picture annotations/panoptic_train2017/other.png");
  source_.Write("annotations/panoptic_train2017/other.png", RgbPng(kSize, {0x080000, 0x010203}));
  ExpectPacked();
  EXPECT_EQ(FirstValues("images/train2017/a.jpg", 2), (Values{0, 1}));
}

}  // namespace
}  // namespace shardmill
