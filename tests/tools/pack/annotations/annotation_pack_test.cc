// Sets whose labels are annotation files, packed as a user packs them.
#include <filesystem>

#include "tests/tools/pack/pack_testing.h"

namespace shardmill {
namespace {

using Values = std::vector<int>;

class AnnotationPackTest : public PackTest {
 protected:
  void ExpectLayout(const std::string& name) {
    ExpectPacked();
    EXPECT_NE(error_.find("taken for layout " + name + ": "), std::string::npos) << error_;
    ReadLabels();
    EXPECT_EQ(manifest_.recipe().layout(), name);
  }
};

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

class LabelmeTest : public AnnotationPackTest {
 protected:
  void AddJson(const std::string& split, const std::string& shapes) {
    AddImage(split + "/a.jpg");
    source_.Write(split + "/a.json", R"({"version": "5", "flags": {}, "shapes": [)" + shapes +
                                         R"(], "imagePath": "a.jpg", "imageData": null,
                                         "imageHeight": 4, "imageWidth": 6})");
  }
  static std::string Shape(const std::string& label, const std::string& type,
                           const std::string& points) {
    return R"({"label": ")" + label + R"(", "points": )" + points + R"(, "shape_type": ")" + type +
           "\"}";
  }
};

TEST_F(LabelmeTest, ShapesAreDrawnInTheirOrder) {
  AddJson("train", Shape("road", "polygon", "[[0,0],[6,0],[6,2],[0,2]]") + "," +
                       Shape("car", "rectangle", "[[3,1],[1,0]]") + "," +
                       Shape("__ignore__", "rectangle", "[[2,0],[6,1]]") + "," +
                       Shape("car", "circle", "[[1,3],[1,4]]") + "," +
                       Shape("car", "point", "[[0,0]]"));
  AddJson("val", Shape("car", "polygon", "[[0,0],[1,0],[1,1],[0,1]]"));
  ExpectLayout("labelme");
  EXPECT_EQ(ReadLabels()["train/a.jpg"], (Values{2, 1, 255, 255, 255, 255,  //
                                                 2, 2, 2,   2,   2,   2,    //
                                                 1, 1, 0,   0,   0,   0,    //
                                                 1, 1, 0,   0,   0,   0}));
  EXPECT_EQ(ClassNames(), (std::vector<std::string>{"_background_", "car", "road"}));
  EXPECT_EQ(manifest_.ignore(), 255u);
  EXPECT_NE(out_.find("annotations: 1 shape left out, which cover no pixel"), std::string::npos)
      << out_;
}

TEST_F(LabelmeTest, MaskShapesAndATableOfLabels) {
  // A PNG of one row: 255, 0, 255.
  source_.Write("labels.txt", "__ignore__\n_background_\nroad\ncar\n");
  const std::string png =
      Png(MakeImage({1, 3}, 1, [](int, int x, int) { return x == 1 ? 0 : 255; }));
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < png.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (i + k < png.size() ? static_cast<uint8_t>(png[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += i + k <= png.size() ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  const std::string shape = R"({"label": "car", "points": [[2, 1], [4, 1]], "shape_type": "mask",
                                "mask": ")" +
                            text + "\"}";
  AddJson("train", shape);
  AddJson("val", Shape("road", "polygon", "[[0,0],[1,0],[1,1]]"));
  ExpectLayout("labelme");
  EXPECT_EQ(FirstValues("train/a.jpg", 12), (Values{0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2, 0}));
  EXPECT_EQ(ClassNames(), (std::vector<std::string>{"_background_", "road", "car"}));
  AddJson("train", Shape("tree", "polygon", "[[0,0],[1,0],[1,1]]"));
  ExpectError(StatusCode::kDataLoss, "label train/a.json: the label 'tree' is not in the class");
}

TEST_F(LabelmeTest, TableKeepsItsIds) {
  source_.Write("classes.csv", "id,name\n4,road\n2,Background\n9,car\n");
  AddJson("train", Shape("road", "rectangle", "[[0,0],[1,1]]") + "," +
                       Shape("car", "rectangle", "[[1,0],[2,1]]"));
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/a.jpg", 3), (Values{4, 9, 2}));
  // Without a background the ids cannot stay, and that is told.
  source_.Write("classes.csv", "name\nroad\ncar\n");
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/a.jpg", 3), (Values{1, 2, 0}));
  EXPECT_NE(error_.find("the ids of the others are one more than in the table"), std::string::npos);
}

TEST_F(LabelmeTest, ImageWithoutAFileIsAnOrphan) {
  AddJson("train", Shape("car", "rectangle", "[[0,0],[1,1]]"));
  AddImage("train/b.jpg");
  ExpectError(StatusCode::kNotFound, "train/b.jpg: no JSON file of shapes names it");
}

TEST_F(LabelmeTest, ShapeWithoutALabelIsNamedWithItsFile) {
  AddJson("val", Shape("car", "rectangle", "[[0,0],[1,1]]"));
  AddJson("train", Shape(" ", "rectangle", "[[0,0],[1,1]]"));
  ExpectError(StatusCode::kNotFound, "train/a.json: it has a shape without a label");
  AddJson("train", R"({"label": null, "points": [[0,0],[1,1]], "shape_type": "rectangle"})");
  ExpectError(StatusCode::kNotFound, "train/a.json: it has a shape without a label");
}

TEST_F(LabelmeTest, NumbersAreIdsAndLikeNamesAreNoted) {
  AddJson("train", Shape("2", "rectangle", "[[0,0],[1,1]]") + "," +
                       Shape("10", "rectangle", "[[1,0],[2,1]]") + "," +
                       Shape("1.0", "rectangle", "[[2,0],[3,1]]"));
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/a.jpg", 4), (Values{2, 10, 1, 0}));
  EXPECT_EQ(ClassNames().size(), 11u);
  AddJson("train", Shape("0", "rectangle", "[[0,0],[1,1]]"));
  ExpectError(StatusCode::kInvalidArgument, "say what the classes are with --classes FILE");
  AddJson("train", Shape("-1", "rectangle", "[[0,0],[1,1]]"));
  ExpectError(StatusCode::kInvalidArgument, "'-1' is none");
  AddJson("train", Shape("Car", "rectangle", "[[0,0],[1,1]]") + "," +
                       Shape("car ", "rectangle", "[[1,0],[2,1]]"));
  ExpectPacked();
  EXPECT_NE(error_.find("classes 'Car' and 'car ' differ in case and blanks alone"),
            std::string::npos)
      << error_;
}

TEST_F(LabelmeTest, PathsOfOtherMachinesMeanTheImageBeside) {
  AddImage("train/a.jpg");
  for (const char* path : {R"(C:\\data\\pics\\a.jpg)", R"(..\\pics\\a.jpg)", "D:/pics/a.jpg",
                           "/home/ann/pics/a.jpg"}) {
    source_.Write("train/a.json",
                  std::string(R"({"shapes": [)") + Shape("car", "rectangle", "[[0,0],[1,1]]") +
                      R"(], "imagePath": ")" + path + R"(", "imageHeight": 4, "imageWidth": 6})");
    ExpectPacked();
    EXPECT_EQ(FirstValues("train/a.jpg", 2), (Values{1, 0})) << path;
  }
  source_.Write("train/a.json", R"({"shapes": [], "imagePath": "../pics/a.jpg"})");
  ExpectError(StatusCode::kNotFound, "its image 'pics/a.jpg' is not in the source");
}

TEST_F(LabelmeTest, ImageStoredInTheFileAloneIsNamed) {
  AddJson("train", Shape("car", "polygon", "[]"));
  std::filesystem::remove(source_.At("train/a.jpg"));
  ExpectError(StatusCode::kNotFound, "train/a.json: its image 'train/a.jpg' is not in the source");
}

class CvatTest : public AnnotationPackTest {
 protected:
  void Write(const std::string& shapes) {
    source_.Write("annotations.xml",
                  "\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<annotations>\n"
                  "<version>1.1</version><meta><project><labels>"
                  "<label><name>road</name><color>#ff0000</color></label>"
                  "<label><name>Background</name></label>"
                  "<label><name>car &amp; van</name></label></labels></project></meta>\n"
                  "<image id=\"0\" name=\"deep/a.jpg\" subset=\"Train\" width=\"6\" height=\"4\">" +
                      shapes +
                      "</image> <!-- a > b -->\n"
                      "<image id=\"1\" name=\"b.jpg\" subset=\"Validation\" width=\"6\" "
                      "height=\"4\"/>\n</annotations>\n");
  }
};

TEST_F(CvatTest, PolygonsMasksAndBoxesAreDrawn) {
  AddImage("images/Train/deep/a.jpg");
  AddImage("images/Validation/b.jpg");
  Write(
      "\n<mask label=\"car &amp; van\" rle=\"1, 2, 1\" left=\"4\" top=\"0\" width=\"2\" "
      "height=\"2\" z_order=\"3\"></mask>"
      "<polygon label=\"road\" points=\"0.00,0.00;6.00,0.00;6.00,2.00;0.00,2.00\" z_order=\"1\"/>"
      "<box label=\"car &amp; van\" xtl=\"0\" ytl=\"1\" xbr=\"1\" ybr=\"4\" z_order=\"0\"/>"
      "<points label=\"road\" points=\"1,1\"/><tag label=\"road\"/>");
  ExpectLayout("cvat");
  EXPECT_EQ(ReadLabels()["images/Train/deep/a.jpg"], (Values{1, 1, 1, 1, 1, 2,  //
                                                             1, 1, 1, 1, 2, 1,  //
                                                             2, 0, 0, 0, 0, 0,  //
                                                             2, 0, 0, 0, 0, 0}));
  EXPECT_EQ(ReadLabels("val")["images/Validation/b.jpg"], Values(24, 0));
  EXPECT_EQ(ClassNames(), (std::vector<std::string>{"Background", "road", "car & van"}));
}

TEST_F(CvatTest, ImagesThatTheFileDoesNotNameAreCounted) {
  for (const char* path : {"Train/deep/a.jpg", "Validation/b.jpg", "Train/c.jpg"}) {
    AddImage(std::string("images/") + path);
  }
  Write(
      "<polygon label=\"road\" points=\"0,0;6,0;6,2\"/><polygon label=\"road\" "
      "points=\"9,9;9,8;8,9\"/>");
  ExpectLayout("cvat");
  EXPECT_NE(out_.find("2 packed + 1 skipped = 3 inputs"), std::string::npos) << out_;
  EXPECT_NE(out_.find("annotations: 1 shape left out, which cover no pixel"), std::string::npos);
  EXPECT_NE(error_.find("1 images have no shapes and are background alone"), std::string::npos);
}

TEST_F(CvatTest, ExportWithoutImagesSaysSo) {
  Write("");
  AddImage("images/Train/deep/a.jpg");
  ExpectError(StatusCode::kNotFound, "b.jpg: annotations.xml names it, but there is no such image");
}

TEST_F(CvatTest, VideosAndLayersThatAreNoNumbersAreNamed) {
  AddImage("images/Train/deep/a.jpg");
  AddImage("images/Validation/b.jpg");
  const std::string box = "<box label=\"road\" xtl=\"0\" ytl=\"0\" xbr=\"1\" ybr=\"1\" ";
  Write(box + "z_order=\"top\"/>");
  ExpectError(StatusCode::kDataLoss, "the z_order of a box is no number");
  source_.Write("annotations.xml", "<annotations><track id=\"0\"/></annotations>");
  ExpectError(StatusCode::kInvalidArgument, "holds tracks of a video ('CVAT for video')");
}

TEST_F(CvatTest, DamagedFileIsNamed) {
  AddImage("images/Train/deep/a.jpg");
  source_.Write("annotations.xml", "<annotations><image name=\"deep/a.jpg\"");
  ExpectError(StatusCode::kDataLoss, "annotations.xml: damaged XML at byte");
}

}  // namespace
}  // namespace shardmill
