// Labels from file to record: what is stored is what the file says.
#include "tests/tools/pack/pack_testing.h"

namespace shardmill {
namespace {

using LabelPackTest = PackTest;
using Values = std::vector<int>;

constexpr char kNames[] = "name\nzero\none\ntwo\n";

void WriteSuite(const TestFolder& source, const std::string& table, const std::string& label) {
  source.Write("class_dict.csv", table);
  source.Write("train/a.png", Png(Photo({4, 6}, 1)));
  source.Write("train_labels/a.png", label);
}

TEST_F(LabelPackTest, MapFileIsAppliedOnceAndStored) {
  WriteSuite(source_, kNames, GrayPng(kSize, {0, 96, 128, 7}));
  ExpectError(StatusCode::kDataLoss, "value 96: 6 pixels in 1 file: train_labels/a.png");
  ExpectError(StatusCode::kDataLoss, "--map FILE");
  TestFolder maps("maps");
  maps.Write("map.txt", "0 zero\n96 one\n128 2\n7 ignore\n");
  options_.layout.map = maps.At("map.txt");
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/a.png", 4), (Values{0, 1, 2, 255}));
  EXPECT_EQ(manifest_.ignore(), 255u);
  EXPECT_EQ(RecipeOption("map"), "0 0; 7 ignore; 96 1; 128 2");
  EXPECT_EQ(RecipeOption("orientation"), "applied");
}

// Images, masks and the table of classes of each split in one folder.
TEST_F(LabelPackTest, MasksBesideImagesWithATableOfPixelValues) {
  for (const char* split : {"train", "valid"}) {
    const std::string folder(split);
    AddImage(folder + "/a.jpg");
    source_.Write(folder + "/a_mask.png", GrayPng(kSize, {2, 0, 1}));
    source_.Write(folder + "/_classes.csv", "Pixel Value, Class\n0, background\n1, cat\n2, dog\n");
  }
  options_.layout.layout = "pairs";
  options_.layout.pairs.images = ".";
  options_.layout.pairs.labels = ".";
  options_.layout.pairs.label_suffix = "_mask";
  options_.layout.classes_file = source_.At("train/_classes.csv");
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/a.jpg", 3), (Values{2, 0, 1}));
  EXPECT_EQ(ReadLabels("val").size(), 1u);
  EXPECT_EQ(ClassNames(), (std::vector<std::string>{"background", "cat", "dog"}));
}

TEST_F(LabelPackTest, MapToAClassThatIsNotThereIsRefused) {
  WriteSuite(source_, kNames, GrayPng(kSize, {0}));
  options_.layout.map = "cityscapes";
  ExpectError(StatusCode::kInvalidArgument, "gives class id 3, but there are 3 classes");
}

// Ids that are neither sorted nor without gaps are what the files hold and what is stored.
TEST_F(LabelPackTest, IdsOfTheClassTableAreTheValues) {
  WriteSuite(source_, "name,r,g,b,id\ntree,0,128,0,7\nsky,0,0,255,2\nroad,9,9,9,5\n",
             GrayPng(kSize, {2, 7, 5}));
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/a.png", 3), (Values{2, 7, 5}));
  EXPECT_EQ(ClassNames()[7], "tree");
  EXPECT_EQ(error_.find("unused"), std::string::npos) << error_;
  source_.Write("train_labels/a.png", RgbPng(kSize, {0x0000FF, 0x008000, 0x090909}));
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/a.png", 3), (Values{2, 7, 5}));
  source_.Write("train_labels/a.png", GrayPng(kSize, {2, 3}));
  ExpectError(StatusCode::kDataLoss, "value 3: 12 pixels in 1 file");
  TestFolder maps("id_maps");
  maps.Write("map.txt", "2 sky\n3 4\n");
  options_.layout.map = maps.At("map.txt");
  ExpectError(StatusCode::kInvalidArgument, "gives class id 4, which no class has");
  source_.Write("class_dict.csv", "name,r,g,b,id\ntree,0,128,0,2\nsky,0,0,255,2\n");
  ExpectError(StatusCode::kInvalidArgument, "class_dict.csv: line 3: class 'sky' has the id 2");
}

TEST_F(LabelPackTest, GrayThatIsValueOrColorIsAsked) {
  WriteSuite(source_, "name,r,g,b\nred,255,0,0\nvoid,0,0,0\n", GrayPng(kSize, {0}));
  ExpectError(StatusCode::kInvalidArgument,
              "train_labels/a.png: gray value 0 means class 'red', but its colour 0,0,0 (#000000) "
              "means class 'void'; say which holds with --gray value or --gray color");
  options_.layout.gray = GrayReading::kColor;
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/a.png", 1), Values{1});
  EXPECT_EQ(RecipeOption("gray"), "color");
  options_.layout.gray = GrayReading::kValue;
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/a.png", 1), Values{0});
}

TEST_F(LabelPackTest, MapThatHasNoEffectIsRefused) {
  WriteSuite(source_, "name,r,g,b\nred,255,0,0\nblue,0,0,255\n", RgbPng(kSize, {0xFF0000}));
  TestFolder maps("useless_maps");
  maps.Write("map.txt", "0 1\n1 0\n");
  options_.layout.map = maps.At("map.txt");
  ExpectError(StatusCode::kInvalidArgument, "--map has rules for numbers alone");
  maps.Write("map.txt", "#ff0000 blue\n");
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/a.png", 1), Values{1});
  EXPECT_EQ(RecipeOption("map"), "#ff0000 1");
}

TEST_F(LabelPackTest, ToleranceForColorsIsRefusedForGrayFiles) {
  WriteSuite(source_, "name,r,g,b\nred,255,0,0\ngreen,0,255,0\nblue,0,0,255\n",
             GrayPng(kSize, {0, 3}));
  options_.layout.label_tolerance = 20;
  ExpectError(StatusCode::kInvalidArgument,
              "--label-tolerance 20 is too much: a value between value 0 and value 1");
}

TEST_F(LabelPackTest, BlackAndWhiteMasksNeedTheBinaryMap) {
  WriteSuite(source_, "name\nground\nobject\n", GrayPng(kSize, {0, 255, 255}));
  ExpectError(StatusCode::kDataLoss, "--map binary");
  options_.layout.map = "binary";
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/a.png", 3), (Values{0, 1, 1}));
  // Taken for "no class", the foreground is gone, and the packer says so.
  options_.layout.map.reset();
  options_.layout.ignore = 255;
  ExpectPacked();
  EXPECT_NE(error_.find("1 of 2 classes occur in no record: object"), std::string::npos) << error_;
  EXPECT_NE(error_.find("is the ignore value 255 one of the classes"), std::string::npos);
}

TEST_F(LabelPackTest, LossyLabelsNeedATolerance) {
  const TestImage halves = MakeImage({16, 16}, 1, [](int, int x, int) { return x < 8 ? 0 : 255; });
  source_.Write("class_dict.csv", "name\nground\nobject\n");
  source_.Write("train/a.png", Png(Photo({16, 16}, 1)));
  source_.Write("train_labels/a.jpg", Jpeg(halves, 60));
  options_.layout.map = "binary";
  ExpectError(StatusCode::kDataLoss, "--label-tolerance N");
  options_.layout.label_tolerance = 100;
  ExpectPacked();
  const Values label = ReadLabels()["train/a.png"];
  for (size_t i = 0; i < label.size(); ++i) EXPECT_EQ(label[i], i % 16 < 8 ? 0 : 1) << i;
  EXPECT_EQ(RecipeOption("label-tolerance"), "100");
}

TEST_F(LabelPackTest, RoundedPixelsAreCounted) {
  WriteSuite(source_, "name,r,g,b\nred,255,0,0\nblue,0,0,255\n",
             RgbPng(kSize, {0xFF0000, 0xFE0102, 0x0000FF}));
  ExpectError(StatusCode::kDataLoss, "colour 254,1,2 (#fe0102): 8 pixels");
  options_.layout.label_tolerance = 2;
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/a.png", 3), (Values{0, 0, 1}));
  EXPECT_NE(out_.find("labels rounded: 8 pixels of 1 file"), std::string::npos) << out_;
}

TEST_F(LabelPackTest, TurnedLabelIsTurnedLikeAnImage) {
  // The same picture twice, stored on its side; the label's tag is in its eXIf chunk.
  const std::string exif("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0", 26);
  source_.Write("class_dict.csv", kNames);
  source_.Write("train/a.jpg", WithOrientation(Jpeg(Photo({4, 6}, 1), 90), 6));
  source_.Write(
      "train_labels/a.png",
      WithChunk(GrayPng({4, 6}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}), "eXIf",
                exif));
  ExpectPacked();
  const Values label = ReadLabels()["train/a.jpg"];
  EXPECT_EQ(label[0], 2);  // the lower left corner comes to the upper left
  EXPECT_EQ(label[3], 1);
}

TEST_F(LabelPackTest, SixteenBitIdsComeBack) {
  std::string table = "name\n";
  for (int i = 0; i < 486; ++i) table += "class " + std::to_string(i) + "\n";
  const Values ids = {0, 1, 256, 485};
  WriteSuite(source_, table,
             WidePng(MakeImage(kSize, 1, [&](int, int x, int) { return ids[x % 4]; })));
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/a.png", 4), ids);
  // The same label, cut to 8 bits by another program.
  source_.Write("train_labels/a.png", GrayPng(kSize, {0, 1, 255, 255}));
  ExpectPacked();
  EXPECT_NE(error_.find("were larger ids cut to 255"), std::string::npos) << error_;
}

}  // namespace
}  // namespace shardmill
