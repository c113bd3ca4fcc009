// Masks by thresholds, and what has the names of that set and is another.
#include "tests/tools/pack/layout_fixture.h"

namespace shardmill {
namespace {

using Values = std::vector<int>;

TEST_F(LayoutPackTest, DeepGlobeColorsAreThresholds) {
  AddMany("train/", "_sat.jpg", "train/", "_mask.png",
          RgbPng(kSize, {0x02FDFF, 0xFFFF00, 0xF0007F + 1, 0x00FF00, 0x0000FF, 0xFFFFFF, 0x000000,
                         0x7F7F7F}));
  AddImage("valid/7_sat.jpg");
  ExpectLayout("deepglobe");
  EXPECT_EQ(CommonValues(8), (Values{0, 1, 2, 3, 4, 5, 255, 255}));
  EXPECT_NE(out_.find("labels rounded: "), std::string::npos) << out_;
  EXPECT_NE(error_.find("split val left out: it has no masks"), std::string::npos) << error_;
  // Pure red is no class, and is not made one.
  source_.Write("train/100_mask.png", RgbPng(kSize, {0xFE0203}));
  ExpectError(StatusCode::kDataLoss, "colour 254,2,3 (#fe0203): 24 pixels");
}

TEST_F(LayoutPackTest, DeepGlobeFormInBlackAndWhiteIsNoLandCover) {
  AddMany("train/", "_sat.jpg", "train/", "_mask.png", RgbPng(kSize, {0xFFFFFF, 0x000000}));
  ExpectError(StatusCode::kInvalidArgument, "are black and white, as those of roads");
  for (const std::string& mask :
       {GrayPng(kSize, {0, 255}),
        PalettePng(kSize, std::vector<uint8_t>(24, 1), {0x000000, 0xFFFFFF})}) {
    for (int i = 0; i < kMany; ++i) {
      source_.Write("train/" + std::to_string(100 + i) + "_mask.png", mask);
    }
    ExpectError(StatusCode::kInvalidArgument, "--classes FILE; if this is land cover");
  }
  AddMany("train/", "_sat.jpg", "train/", "_mask.png", RgbPng(kSize, {0xFFFFFF, 0x000000}));
  options_.layout.layout = "deepglobe";
  ExpectPacked();
  EXPECT_EQ(CommonValues(2), (Values{5, 255}));
  // One that has a colour of land cover.
  options_.layout.layout = "auto";
  source_.Write("train/100_mask.png", RgbPng(kSize, {0x00FF00, 0xFFFFFF}));
  ExpectLayout("deepglobe");
}

TEST_F(LayoutPackTest, DeepGlobeFormWithATableOfItsOwnHasItsClasses) {
  AddMany("train/", "_sat.jpg", "train/", "_mask.png", RgbPng(kSize, {0xFFFFFF, 0x000000}));
  const std::string road = "name,r,g,b\nroad,255,255,255\nbackground,0,0,0\n";
  source_.Write("class_dict.csv", road);
  ExpectLayout("deepglobe");
  EXPECT_EQ(ClassNames(), (std::vector<std::string>{"road", "background"}));
  EXPECT_EQ(CommonValues(2), (Values{0, 1}));
  TestFolder tables("tables");
  tables.Write("road.csv", road);
  options_.layout.classes_file = tables.At("road.csv");
  ExpectPacked();
  EXPECT_EQ(CommonValues(2), (Values{0, 1}));
  options_.layout.classes_file.reset();
  // The table that comes with the set of land cover.
  source_.Write("class_dict.csv",
                "name,r,g,b\nurban_land,0,255,255\nagriculture_land,255,255,0\n"
                "rangeland,255,0,255\nforest_land,0,255,0\nwater,0,0,255\n"
                "barren_land,255,255,255\nunknown,0,0,0\n");
  ExpectPacked();
  EXPECT_EQ(CommonValues(2), (Values{5, 255}));
  EXPECT_EQ(ClassNames().size(), 6u);
  // Colours that thresholds would merge are read exactly.
  source_.Write("class_dict.csv", "name,r,g,b\nroad,255,255,255\nroof,200,200,200\nx,0,0,0\n");
  options_.layout.gray = GrayReading::kColor;
  source_.Write("train/100_mask.png", RgbPng(kSize, {0xC8C8C8, 0xFFFFFF, 0}));
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/100_sat.jpg", 3), (Values{1, 0, 2}));
}

}  // namespace
}  // namespace shardmill
