// Small trees in the form of well-known data sets, packed as a user packs them: what is stored is
// what the set means, and the usual broken form is found.
#include <filesystem>

#include "tests/tools/pack/layout_fixture.h"

namespace shardmill {
namespace {

using Values = std::vector<int>;

// The palette of VOC: the bits of an index, spread over the channels from the highest on.
std::vector<uint32_t> VocPalette() {
  std::vector<uint32_t> palette;
  for (uint32_t index = 0; index < 256; ++index) {
    uint32_t color = 0;
    for (uint32_t bit = 0; bit < 8; ++bit) {
      const uint32_t channel = bit % 3, level = 7 - bit / 3;
      if ((index >> bit & 1) != 0) color |= 1u << (8 * (2 - channel) + level);
    }
    palette.push_back(color);
  }
  return palette;
}

std::string VocPng(const std::vector<uint8_t>& indices, std::vector<uint32_t> palette) {
  std::vector<uint8_t> all;
  for (size_t i = 0; i < 24; ++i) all.push_back(indices[i % indices.size()]);
  return PalettePng({4, 6}, all, palette);
}

class VocTest : public LayoutPackTest {
 protected:
  VocTest() {
    for (const char* stem : {"a.b", "c", "photo_only"}) {
      AddImage(std::string("JPEGImages/") + stem + ".jpg");
    }
    source_.Write("SegmentationClass/a.b.png", VocPng({0, 15, 20, 255}, VocPalette()));
    // Gray, as the larger training set has it.
    source_.Write("SegmentationClass/c.png", GrayPng(kSize, {0, 15, 20}));
    source_.Write("SegmentationObject/c.png", GrayPng(kSize, {1, 2}));
    source_.Write("ImageSets/Segmentation/train.txt", "a.b\r\n");
    source_.Write("ImageSets/Segmentation/val.txt", "c\n");
    source_.Write("ImageSets/Segmentation/trainval.txt", "a.b\nc\n");
    source_.Write("ImageSets/Segmentation/test.txt", "photo_only\n");
  }
};

TEST_F(VocTest, PaletteIsReadByIndexAndListsNameTheImages) {
  ExpectLayout("voc");
  EXPECT_EQ(FirstValues("JPEGImages/a.b.jpg", 4), (Values{0, 15, 20, 255}));
  EXPECT_EQ(FirstValues("JPEGImages/c.jpg", 3), (Values{0, 15, 20}));
  EXPECT_EQ(ReadLabels("train").size(), 1u);
  EXPECT_EQ(ReadLabels().size(), 2u);
  EXPECT_EQ(manifest_.ignore(), 255u);
  EXPECT_EQ(ClassNames()[15], "person");
  EXPECT_NE(error_.find("split test left out: none of its images has a mask"), std::string::npos);
  EXPECT_NE(error_.find("list trainval.txt left out"), std::string::npos);
}

TEST_F(VocTest, TestImagesWithoutMasksArePackedWhenAskedFor) {
  options_.layout.splits = {"train", "test"};
  ExpectPacked();
  EXPECT_EQ(ReadLabels("test")["JPEGImages/photo_only.jpg"], Values(24, 255));
  EXPECT_EQ(ReadLabels("train").size(), 1u);
  EXPECT_NE(error_.find("split test has no labels: its 1 images are packed with labels that are"),
            std::string::npos)
      << error_;
  EXPECT_NE(out_.find("nothing, there is no label and all is ignored (1 file)"), std::string::npos)
      << out_;
  // Where one image has a mask, another that has none is a fault.
  AddImage("JPEGImages/d.jpg");
  source_.Write("SegmentationClass/d.png", VocPng({0}, VocPalette()));
  source_.Write("ImageSets/Segmentation/test.txt", "photo_only\nd\n");
  ExpectError(StatusCode::kNotFound, "test.txt line 1: there is no mask photo_only");
}

TEST_F(VocTest, ReorderedPaletteStopsThePack) {
  std::vector<uint32_t> palette = VocPalette();
  std::swap(palette[15], palette[20]);
  source_.Write("SegmentationClass/a.b.png", VocPng({0, 15}, palette));
  ExpectError(
      StatusCode::kInvalidArgument,
      "palette index 15 means class 'person', but its colour 0,64,128 (#004080) means class "
      "'tvmonitor'");
  options_.layout.palette = PaletteReading::kColor;
  ExpectPacked();
  EXPECT_EQ(FirstValues("JPEGImages/a.b.jpg", 2), (Values{0, 20}));
}

TEST_F(VocTest, ColorsSavedAsRgbGiveTheSameIds) {
  source_.Write("SegmentationClass/a.b.png", RgbPng(kSize, {0x000000, 0xC08080, 0xE0E0C0}));
  ExpectPacked();
  EXPECT_EQ(FirstValues("JPEGImages/a.b.jpg", 3), (Values{0, 15, 255}));
}

TEST_F(VocTest, ListedImageWithoutMaskIsAProblem) {
  source_.Write("ImageSets/Segmentation/train.txt", "a.b\nphoto_only\nnone\n");
  ExpectError(StatusCode::kNotFound, "there is no mask photo_only in SegmentationClass");
  ExpectError(StatusCode::kNotFound, "train.txt line 3: there is no image none in JPEGImages");
  options_.on_error.skip = true;
  options_.on_error.limit = 2;
  ExpectPacked();
  EXPECT_EQ(ReadLabels().size(), 2u);
}

// What annotation tools export in VOC's form: own classes, sub-folders in names, RGB files.
TEST_F(LayoutPackTest, VocExportHasAClassTableOfItsOwn) {
  source_.Write("labelmap.txt",
                "# label:color_rgb:parts:actions\nbackground:0,0,0::\nwheel:255,0,0::\n");
  source_.Write("ImageSets/Segmentation/train.txt", "cam 1/x\n");
  source_.Write("ImageSets/Segmentation/val.txt", "y\n");
  for (const char* stem : {"cam 1/x", "y"}) {
    AddImage(std::string("JPEGImages/") + stem + ".jpg");
    source_.Write(std::string("SegmentationClass/") + stem + ".png",
                  RgbPng(kSize, {0xFF0000, 0x000000}));
  }
  ExpectLayout("voc");
  EXPECT_EQ(FirstValues("JPEGImages/cam 1/x.jpg", 2), (Values{1, 0}));
  EXPECT_EQ(ClassNames(), (std::vector<std::string>{"background", "wheel"}));
  // A mask with a colour that the map lacks: it was exported for another project.
  source_.Write("SegmentationClass/y.png", RgbPng(kSize, {0x00FF00}));
  ExpectError(StatusCode::kDataLoss, "colour 0,255,0 (#00ff00): 24 pixels");
}

// As labelme's script writes it.
TEST_F(VocTest, ClassTableAtTheTopIsTakenInPlaceOfTheTwentyClasses) {
  source_.Write("SegmentationClass/a.b.png", VocPng({0, 1, 2, 255}, VocPalette()));
  source_.Write("SegmentationClass/c.png", GrayPng(kSize, {0, 1, 2}));
  source_.Write("class_names.txt", "_background_\nwheel\nbrake\n");
  ExpectLayout("voc");
  EXPECT_EQ(ClassNames(), (std::vector<std::string>{"_background_", "wheel", "brake"}));
  EXPECT_EQ(FirstValues("JPEGImages/a.b.jpg", 4), (Values{0, 1, 2, 255}));
  EXPECT_NE(
      error_.find("class table: class_names.txt, 3 classes, in place of the 21 of layout voc"),
      std::string::npos)
      << error_;
  // Its list of labels counts from -1.
  std::filesystem::remove(source_.At("class_names.txt"));
  source_.Write("labels.txt", "__ignore__\n_background_\nwheel\nbrake\n");
  ExpectPacked();
  EXPECT_EQ(FirstValues("JPEGImages/c.jpg", 3), (Values{0, 1, 2}));
  EXPECT_EQ(ClassNames(), (std::vector<std::string>{"_background_", "wheel", "brake"}));
  source_.Write("labels.txt", "label,shapes,pixels\nwheel,3,4\n");
  ExpectError(StatusCode::kInvalidArgument, "If it is no class table, rename it");
}

// Tables of detectors begin with the first object, and 0 is the background in the masks.
TEST_F(VocTest, ClassTableThatNumbersTheClassesOtherwiseStopsThePack) {
  source_.Write("classes.txt", "aeroplane\nbicycle\nbird\n");
  ExpectError(StatusCode::kInvalidArgument,
              "classes.txt gives 'aeroplane' the number 0, and layout voc 1; say --classes");
  source_.Write("classes.txt", "wheel\nbrake\n");
  ExpectError(StatusCode::kInvalidArgument,
              "classes.txt gives 'wheel' the number 0, which is 'background' in layout voc");
  source_.Write("classes.txt", "_background_\nperson\nbrake\n");
  source_.Write("SegmentationClass/a.b.png", GrayPng(kSize, {0, 1, 2}));
  source_.Write("SegmentationClass/c.png", GrayPng(kSize, {0, 1, 2}));
  ExpectPacked();
  EXPECT_EQ(FirstValues("JPEGImages/c.jpg", 3), (Values{0, 1, 2}));
  EXPECT_EQ(ClassNames(), (std::vector<std::string>{"_background_", "person", "brake"}));
}

TEST_F(VocTest, ListOfImagesIsNoClassTable) {
  for (const char* list :
       {"JPEGImages/a.b.jpg SegmentationClass/a.b.png\n", "a.b.jpg 3\nc.jpg 4\n"}) {
    source_.Write("labels.txt", list);
    ExpectPacked();
    EXPECT_EQ(ReadLabels().size(), 2u);
    EXPECT_EQ(ClassNames().size(), 21u);
  }
}

class CityscapesTest : public LayoutPackTest {
 protected:
  void AddFrame(const std::string& split, const std::string& frame, const std::string& label) {
    const std::string city = frame.substr(0, frame.find('_'));
    AddImage("leftImg8bit/" + split + "/" + city + "/" + frame + "_leftImg8bit.png");
    const std::string labels = "gtFine/" + split + "/" + city + "/" + frame + "_gtFine_";
    source_.Write(labels + "labelIds.png", label);
    source_.Write(labels + "instanceIds.png", GrayPng(kSize, {9}));
    source_.Write(labels + "color.png", RgbPng(kSize, {0x804080}));
    source_.Write(labels + "polygons.json", "{}");
  }
};

TEST_F(CityscapesTest, RawIdsBecomeTrainingIds) {
  AddFrame("train", "ulm_000001_000019", GrayPng(kSize, {0, 7, 11, 26, 33, 255}));
  AddFrame("val", "bonn_000002_000019", GrayPng(kSize, {29, 8}));
  AddFrame("test", "bonn_000003_000019", GrayPng(kSize, {3}));
  ExpectLayout("cityscapes");
  EXPECT_EQ(FirstValues("leftImg8bit/train/ulm/ulm_000001_000019_leftImg8bit.png", 6),
            (Values{255, 0, 2, 13, 18, 255}));
  EXPECT_EQ(FirstValues("leftImg8bit/val/bonn/bonn_000002_000019_leftImg8bit.png", 2),
            (Values{255, 1}));
  EXPECT_EQ(ReadLabels().size(), 2u);
  EXPECT_EQ(ClassNames().size(), 19u);
  EXPECT_EQ(manifest_.ignore(), 255u);
  EXPECT_EQ(RecipeOption("map").substr(0, 20), "0-6 ignore; 7-8 0-1;");
  EXPECT_NE(error_.find("split test left out: its public labels are dummies"), std::string::npos);
}

TEST_F(CityscapesTest, OwnClassTableNeedsAMap) {
  AddFrame("train", "ulm_000001_000019", GrayPng(kSize, {0, 33}));
  std::string names = "name\n";
  for (int i = 0; i < 34; ++i) names += "raw " + std::to_string(i) + "\n";
  TestFolder tables("tables");
  tables.Write("raw.csv", names);
  options_.layout.classes_file = tables.At("raw.csv");
  ExpectError(StatusCode::kInvalidArgument, "into 19 classes, and --classes has 34");
  options_.layout.map = "none";
  ExpectPacked();
  EXPECT_EQ(FirstValues("leftImg8bit/train/ulm/ulm_000001_000019_leftImg8bit.png", 2),
            (Values{0, 33}));
}

TEST_F(CityscapesTest, MissingLabelIdsAreNamed) {
  AddFrame("train", "ulm_000001_000019", GrayPng(kSize, {7}));
  AddFrame("train", "ulm_000002_000019", GrayPng(kSize, {7}));
  std::filesystem::remove(source_.At("gtFine/train/ulm/ulm_000002_000019_gtFine_labelIds.png"));
  ExpectError(StatusCode::kNotFound,
              "1 of 2 inputs cannot be packed:\n  leftImg8bit/train/ulm/"
              "ulm_000002_000019_leftImg8bit.png: there is no label");
}

TEST_F(CityscapesTest, GeneratedTrainingIdsAreTakenWhereThereIsNothingElse) {
  AddImage("leftImg8bit/train/ulm/u_leftImg8bit.png");
  source_.Write("gtFine/train/ulm/u_gtFine_labelTrainIds.png", GrayPng(kSize, {0, 18, 255}));
  ExpectLayout("cityscapes");
  EXPECT_EQ(FirstValues("leftImg8bit/train/ulm/u_leftImg8bit.png", 3), (Values{0, 18, 255}));
}

TEST_F(LayoutPackTest, KittiHasTheIdsOfCityscapes) {
  AddMany("training/image_2/000", "_10.png", "training/semantic/000", "_10.png",
          GrayPng(kSize, {7, 26, 1}));
  source_.Write("training/semantic_rgb/000100_10.png", RgbPng(kSize, {0}));
  AddImage("testing/image_2/000000_10.png");
  ExpectLayout("kitti");
  EXPECT_EQ(CommonValues(3), (Values{0, 13, 255}));
  EXPECT_NE(error_.find("folder testing left out: it has no semantic"), std::string::npos)
      << error_;
  options_.layout.splits = {"test"};
  ExpectPacked();
  EXPECT_EQ(ReadLabels()["testing/image_2/000000_10.png"], Values(24, 255));
  options_.layout.splits.clear();
  // The instance files in the place of the semantic ones: 26 * 256 + 1.
  source_.Write("training/semantic/000100_10.png",
                WidePng(MakeImage(kSize, 1, [](int, int, int) { return 6657; })));
  ExpectError(StatusCode::kDataLoss, "value 6657");
}

TEST_F(LayoutPackTest, KittiExportIsReadByColor) {
  source_.Write("label_colors.txt", "255 0 0 car\n0 255 0 tree\n");
  for (const char* split : {"train", "val"}) {
    AddImage(std::string(split) + "/image_2/a.png");
    source_.Write(std::string(split) + "/semantic_rgb/a.png", RgbPng(kSize, {0x00FF00, 0xFF0000}));
  }
  ExpectLayout("kitti");
  EXPECT_EQ(FirstValues("val/image_2/a.png", 2), (Values{1, 0}));
}

TEST_F(LayoutPackTest, KittiExportWithIdsAndATableOfItsOwnNeedsAMap) {
  source_.Write("label_colors.txt", "0 0 0 background\n255 0 0 car\n0 255 0 tree\n");
  for (const char* split : {"train", "val"}) {
    AddImage(std::string(split) + "/image_2/a.png");
    source_.Write(std::string(split) + "/semantic/a.png", GrayPng(kSize, {2, 1, 0}));
    source_.Write(std::string(split) + "/semantic_rgb/a.png", RgbPng(kSize, {0x00FF00, 0xFF0000}));
  }
  ExpectError(StatusCode::kInvalidArgument,
              "into 19 classes, and label_colors.txt has 3; say what the values become with --map");
  options_.layout.map = "none";
  ExpectPacked();
  EXPECT_EQ(FirstValues("val/image_2/a.png", 3), (Values{2, 1, 0}));
  EXPECT_EQ(ClassNames(), (std::vector<std::string>{"background", "car", "tree"}));
  options_.layout.map = "cityscapes";
  ExpectPacked();
  EXPECT_EQ(FirstValues("val/image_2/a.png", 3), (Values{255, 255, 255}));
  EXPECT_EQ(ClassNames().size(), 19u);
}

TEST_F(LayoutPackTest, SceneParsingIsShiftedOnce) {
  for (const char* split : {"training", "validation"}) {
    AddImage(std::string("images/") + split + "/ADE_00000001" + split + ".jpg");
    source_.Write(std::string("annotations/") + split + "/ADE_00000001" + split + ".png",
                  GrayPng(kSize, {0, 1, 150}));
  }
  ExpectLayout("ade20k");
  EXPECT_EQ(FirstValues("images/training/ADE_00000001training.jpg", 3), (Values{255, 0, 149}));
  EXPECT_EQ(ReadLabels("val").size(), 1u);
  EXPECT_EQ(ClassNames()[0], "wall");
  EXPECT_EQ(ClassNames()[149], "flag");
  // Shifted by another program before: 255 gives it away.
  source_.Write("annotations/training/ADE_00000001training.png", GrayPng(kSize, {255, 0, 149}));
  ExpectError(StatusCode::kDataLoss, "--map none --ignore 255");
  options_.layout.map = "none";
  source_.Write("annotations/validation/ADE_00000001validation.png", GrayPng(kSize, {149}));
  ExpectPacked();
  EXPECT_EQ(FirstValues("images/training/ADE_00000001training.jpg", 3), (Values{255, 0, 149}));
}

TEST_F(LayoutPackTest, FullAde20kHasSixteenBitIds) {
  for (const char* split : {"training", "validation"}) {
    const std::string stem = std::string("images/") + split + "/a/abbey/ADE_" + split;
    AddImage(stem + ".jpg");
    // 3144 = 12 * 256 + 72 and 1; blue numbers the instances.
    source_.Write(stem + "_seg.png", RgbPng(kSize, {0x784801, 0x000102, 0x000000}));
    source_.Write(stem + "_parts_1.png", RgbPng(kSize, {0}));
    source_.Write(stem + "_atr.txt", "001 # 0 # 0 # abbey\n");
  }
  ExpectLayout("ade20k-full");
  EXPECT_EQ(FirstValues("images/validation/a/abbey/ADE_validation.jpg", 3),
            (Values{3143, 0, 65535}));
  EXPECT_EQ(manifest_.fields(1).dtype(), proto::U16);
  EXPECT_EQ(ClassNames()[3143], "object 3144");
  EXPECT_NE(error_.find("2 files of parts left out"), std::string::npos) << error_;
  // A table of 150 classes does not hold them.
  TestFolder tables("tables");
  std::string names = "name\n";
  for (int i = 0; i < 150; ++i) names += "n" + std::to_string(i) + "\n";
  tables.Write("150.csv", names);
  options_.layout.classes_file = tables.At("150.csv");
  ExpectError(StatusCode::kDataLoss, "value 3144");
}

TEST_F(LayoutPackTest, CocoStuffIsOneBelowThePublishedIds) {
  for (const char* split : {"train2017", "val2017"}) {
    AddImage(std::string("images/") + split + "/000000000009.jpg");
  }
  source_.Write("annotations/train2017/000000000009.png", GrayPng(kSize, {0, 34, 158, 181, 255}));
  source_.Write("annotations/val2017/000000000009.png", GrayPng(kSize, {1}));
  ExpectLayout("coco-stuff");
  EXPECT_EQ(FirstValues("images/train2017/000000000009.jpg", 5), (Values{0, 34, 158, 181, 255}));
  EXPECT_EQ(ClassNames().size(), 182u);
  EXPECT_EQ(ClassNames()[0], "person");
  EXPECT_EQ(ClassNames()[158], "snow");
  EXPECT_EQ(manifest_.splits(0).name(), "train");
  // The published list counts what has no label.
  std::string published = "0: unlabeled\n";
  for (int i = 0; i < 182; ++i) {
    published += std::to_string(i + 1) + ": " + ClassNames()[static_cast<size_t>(i)] + "\n";
  }
  source_.Write("labels.txt", published);
  ExpectPacked();
  EXPECT_EQ(ClassNames().size(), 182u);
  std::filesystem::remove(source_.At("labels.txt"));
  // Published ids: 182 is one too many.
  source_.Write("annotations/train2017/000000000009.png", GrayPng(kSize, {1, 182}));
  ExpectError(StatusCode::kDataLoss, "value 182");
}

class MapillaryTest : public LayoutPackTest {
 protected:
  void AddVersion(const std::string& folder, const std::string& config, int classes) {
    std::string labels;
    for (int i = 0; i < classes; ++i) {
      const std::string name = i + 1 == classes ? "void--unlabeled" : "thing--" + std::to_string(i);
      labels += (i == 0 ? "" : ",") + ("{\"name\": \"" + name + "\", \"color\": [" +
                                       std::to_string(i * 2) + ", 9, 9], \"instances\": true}");
    }
    source_.Write(config, "{\"version\": \"1\", \"labels\": [" + labels + "]}");
    for (const char* split : {"training/", "validation/"}) {
      AddImage(std::string(split) + "images/x-_y.jpg");
      std::vector<uint32_t> palette;
      for (int i = 0; i < classes; ++i)
        palette.push_back(static_cast<uint32_t>(i * 2) << 16 | 0x909);
      source_.Write(split + folder + "/x-_y.png",
                    VocPng({0, 2, static_cast<uint8_t>(classes - 1)}, palette));
    }
  }
};

TEST_F(MapillaryTest, LastClassIsIgnored) {
  AddVersion("v1.2/labels", "config_v1.2.json", 66);
  ExpectLayout("mapillary");
  EXPECT_EQ(FirstValues("training/images/x-_y.jpg", 3), (Values{0, 2, 65}));
  EXPECT_EQ(manifest_.ignore(), 65u);
  EXPECT_EQ(ClassNames().size(), 65u);
  AddVersion("v2.0/labels", "config_v2.0.json", 124);
  ExpectError(StatusCode::kInvalidArgument, "fits more than one layout");
  options_.layout.layout = "mapillary-v2";
  ExpectPacked();
  EXPECT_EQ(FirstValues("training/images/x-_y.jpg", 3), (Values{0, 2, 123}));
  EXPECT_EQ(manifest_.ignore(), 123u);
}

TEST_F(LayoutPackTest, SynthiaHasTheClassInRed) {
  // 16 bits in three channels: red 23 would be one class too many.
  AddMany("RGB/", ".png", "GT/LABELS/", ".png", WidePng(MakeImage(kSize, 3, [](int, int x, int c) {
            return c == 0 ? x % 3 * 11 : c == 1 ? 500 + x : 0;
          })));
  source_.Write("GT/COLOR/100.png", RgbPng(kSize, {0}));
  ExpectLayout("synthia");
  EXPECT_EQ(CommonValues(3), (Values{255, 10, 21}));
  EXPECT_EQ(ClassNames()[10], "bicycle");
  source_.Write("GT/LABELS/100.png", RgbPng(kSize, {0x170000}));
  ExpectError(StatusCode::kDataLoss, "value 23: 24 pixels");
}

TEST_F(LayoutPackTest, OriginalCamvidIsPairedBySuffix) {
  source_.Write("label_colors.txt", "0 0 0\tVoid\n128 128 128\tSky");
  AddMany("frames/0016E5_", ".png", "labels/0016E5_", "_L.png", RgbPng(kSize, {0x808080, 0}));
  ExpectLayout("camvid");
  EXPECT_EQ(CommonValues(2), (Values{1, 0}));
  EXPECT_FALSE(manifest_.has_ignore());
  // One image too many shifts nothing.
  AddImage("frames/0016E5_000.png");
  ExpectError(StatusCode::kNotFound, "frames/0016E5_000.png: there is no label");
}

// The table of the original set beside the labels of SegNet's, which hold numbers of their own.
TEST_F(LayoutPackTest, ColorTableOfOtherNumbersThanCamvidsStopsThePack) {
  source_.Write("label_colors.txt", "64 128 64 Animal\n128 128 128 Sky\n");
  AddImage("train/1.png");
  source_.Write("trainannot/1.png", GrayPng(kSize, {0, 11}));
  source_.Write("train.txt", "train/1.png trainannot/1.png\n");
  ExpectError(StatusCode::kInvalidArgument,
              "label_colors.txt gives 'Sky' the number 1, and layout camvid 0; say --classes");
  // Colours are those of the table, whatever their numbers are.
  source_.Write("trainannot/1.png", RgbPng(kSize, {0x808080, 0x408040}));
  ExpectLayout("camvid");
  EXPECT_EQ(FirstValues("train/1.png", 2), (Values{1, 0}));
}

TEST_F(LayoutPackTest, WrongSuffixSaysWhatIsThere) {
  source_.Write("classes.txt", "a\nb\n");
  AddImage("images/a.jpg");
  source_.Write("masks/a_mask001.png", GrayPng(kSize, {0, 1}));
  options_.layout.layout = "pairs";
  options_.layout.pairs = {"images", "masks", "", "", "", "_label"};
  ExpectError(StatusCode::kNotFound, "images/a.jpg: there is no label with this stem in masks");
  EXPECT_NE(error_.find("1 not named …_label left out in masks, the last one masks/a_mask001.png"),
            std::string::npos)
      << error_;
}

}  // namespace
}  // namespace shardmill
