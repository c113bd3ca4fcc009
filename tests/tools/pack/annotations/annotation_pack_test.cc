// labelme's and CVAT's files, packed as a user packs them.
#include <filesystem>

#include "tests/tools/pack/annotations/annotation_pack.h"

namespace shardmill {
namespace {

using Values = std::vector<int>;

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

// As labelme stores files.
std::string Base64(const std::string& png) {
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
  return text;
}

TEST_F(LabelmeTest, MaskShapesAndATableOfLabels) {
  // A PNG of one row: 255, 0, 255.
  source_.Write("labels.txt", "__ignore__\n_background_\nroad\ncar\n");
  const std::string text =
      Base64(Png(MakeImage({1, 3}, 1, [](int, int x, int) { return x == 1 ? 0 : 255; })));
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

TEST_F(LabelmeTest, ImagesInTheFilesAreTaken) {
  auto write = [this](const std::string& data) {
    source_.Write("train/x.json", R"({"shapes": [)" + Shape("car", "rectangle", "[[1,0],[2,1]]") +
                                      R"(], "imagePath": "x.png", "imageData": )" + data +
                                      R"(, "imageHeight": 4, "imageWidth": 6})");
  };
  write('"' + Base64(Png(Photo(kSize, 3))) + '"');
  ExpectLayout("labelme");
  EXPECT_EQ(FirstValues("train/x.png", 3), (Values{0, 1, 0}));
  EXPECT_NE(error_.find("1 images are not in the folder and are taken from the JSON files"),
            std::string::npos)
      << error_;
  EXPECT_NE(out_.find("1 packed + 0 skipped = 1 input"), std::string::npos) << out_;
  // The file of the folder is the one that people see and correct.
  source_.Write("train/x.png", Png(Photo(kSize, 4)));
  ExpectLayout("labelme");
  EXPECT_NE(error_.find("1 JSON files hold an image too; the files that they name are taken"),
            std::string::npos)
      << error_;
  std::filesystem::remove(source_.At("train/x.png"));
  options_.crop = kSize;
  write(R"("no base64!")");
  ExpectError(StatusCode::kDataLoss, "train/x.png: its imageData is no base64");
  write('"' + Base64("no image") + '"');
  ExpectError(StatusCode::kDataLoss, "train/x.png: this is no image file that is known here");
  write("null");
  ExpectError(StatusCode::kNotFound,
              "train/x.json: its image 'train/x.png' is neither in the source folder nor in the");
}

// What names no file is no path, and an image in the file then has the key of the file.
TEST_F(LabelmeTest, PathsThatNameNoFileAreNone) {
  AddJson("train", Shape("car", "rectangle", "[[0,0],[1,1]]"));
  for (const char* path : {R"("imagePath": "")", R"("imagePath": null)", R"("imagePath": "/")",
                           R"("imagePath": "..")", R"("imagePath": "x/.")", R"("x": 1)"}) {
    const auto write = [&](const std::string& data) {
      source_.Write("train/x.json", R"({"shapes": [)" + Shape("car", "rectangle", "[[1,0],[2,1]]") +
                                        "], " + path + R"(, "imageData": )" + data +
                                        R"(, "imageHeight": 4, "imageWidth": 6})");
    };
    write('"' + Base64(Png(Photo(kSize, 3))) + '"');
    ExpectPacked();
    EXPECT_EQ(FirstValues("train/x.json", 3), (Values{0, 1, 0})) << path;
    write("null");
    ExpectError(StatusCode::kNotFound, "train/x.json: its imagePath is no path of an image");
  }
}

TEST_F(LabelmeTest, TwoNamesOfTheBackgroundAreRefused) {
  AddJson("train", Shape("_background_", "rectangle", "[[0,0],[1,1]]") + "," +
                       Shape("background", "rectangle", "[[1,0],[2,1]]") + "," +
                       Shape("car", "rectangle", "[[1,0],[2,1]]"));
  ExpectError(StatusCode::kInvalidArgument,
              "'_background_' and 'background' both mean what no shape covers");
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
  ExpectError(StatusCode::kNotFound, "its image 'pics/a.jpg' is neither in the source");
}

TEST_F(LabelmeTest, ImageStoredInTheFileAloneIsNamed) {
  AddJson("train", Shape("car", "polygon", "[]"));
  std::filesystem::remove(source_.At("train/a.jpg"));
  ExpectError(StatusCode::kNotFound, "train/a.json: its image 'train/a.jpg' is neither in the");
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
  EXPECT_NE(error_.find("1 tag of a whole image is not read: only shapes are drawn"),
            std::string::npos)
      << error_;
  Write("<tag label=\"road\"/><tag label=\"Background\"/>");
  ExpectLayout("cvat");
  EXPECT_NE(error_.find("2 images have no shapes and are background alone"), std::string::npos);
  EXPECT_NE(error_.find("2 tags of whole images are not read"), std::string::npos) << error_;
  Write("<polygon label=\"road\" points=\"0,0;6,0;6,2\"/>");
  ExpectLayout("cvat");
  EXPECT_EQ(ClassNames(), (std::vector<std::string>{"Background", "road", "car & van"}));
}

TEST_F(CvatTest, ImagesWithAndWithoutASubsetAreToldApart) {
  for (const char* name : {"a.jpg", "b.jpg"}) AddImage(std::string("images/") + name);
  source_.Write("annotations.xml",
                "<annotations><meta><task><labels><label><name>road</name></label></labels></task>"
                "</meta><image name=\"a.jpg\" width=\"6\" height=\"4\"/><image name=\"b.jpg\" "
                "subset=\"Train\" width=\"6\" height=\"4\"/></annotations>");
  ExpectError(StatusCode::kInvalidArgument,
              "some inputs are of the split 'train' by name, and others are of none, as "
              "images/a.jpg: give all of them a split, or none");
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

TEST_F(CvatTest, LabelsOfOneNameAreRefused) {
  AddImage("a.jpg");
  source_.Write("annotations.xml",
                "<annotations><meta><task><labels><label><name>road</name></label><label><name>road"
                "</name></label></labels></task></meta><image name=\"a.jpg\" width=\"6\" "
                "height=\"4\"/></annotations>");
  ExpectError(StatusCode::kInvalidArgument, "classes 1 and 2 have one name, 'road'");
  source_.Write("annotations.xml",
                "<annotations><meta><task><labels><label><name>Background</name></label><label>"
                "<name>background</name></label></labels></task></meta><image name=\"a.jpg\" "
                "width=\"6\" height=\"4\"/></annotations>");
  ExpectError(StatusCode::kInvalidArgument, "'Background' and 'background' both mean what no");
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
