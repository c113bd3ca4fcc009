#include "tools/pack/labels/label_decode.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/tools/pack/labels/label_decoding.h"
#include "tools/pack/labels/label_tolerance.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

TEST(LabelDecode, GrayIsReadByValue) {
  LabelDecoder decoder(Options(Classes(kThree), false, 255, DType::kU8));
  ClassIdMap map;
  UnknownValues unknown;
  auto kind = decoder.Decode(GrayLabel({1, 4}, {2, 0, 255, 1}), &map, &unknown);
  ASSERT_TRUE(kind.ok());
  EXPECT_EQ(kind->kind, kGrayValue);
  EXPECT_EQ(map.bytes, (std::vector<uint8_t>{2, 0, 255, 1}));
  EXPECT_TRUE(unknown.empty());
}

TEST(LabelDecode, GrayIsReadByValueAlsoWithColoredClasses) {
  LabelDecoder decoder(Options(Classes(kThree), true, std::nullopt, DType::kU8));
  ClassIdMap map;
  UnknownValues unknown;
  ASSERT_TRUE(decoder.Decode(GrayLabel({1, 3}, {0, 1, 2}), &map, &unknown).ok());
  EXPECT_EQ(map.bytes, (std::vector<uint8_t>{0, 1, 2}));
  EXPECT_TRUE(unknown.empty());
}

TEST(LabelDecode, GrayIsAColorWhenAllClassesAreGray) {
  LabelDecoder decoder(Options(Classes({0x000000, 0xFFFFFF}), true, std::nullopt, DType::kU8));
  ClassIdMap map;
  UnknownValues unknown;
  auto kind = decoder.Decode(GrayLabel({1, 3}, {255, 0, 255}), &map, &unknown);
  ASSERT_TRUE(kind.ok());
  EXPECT_EQ(kind->kind, kGrayColor);
  EXPECT_EQ(map.bytes, (std::vector<uint8_t>{1, 0, 1}));
}

TEST(LabelDecode, PaletteIsReadByIndexWithoutColorsAndByColorWithThem) {
  std::string png = PalettePng({1, 3}, {0, 1, 2}, {0x0000FF, 0xFF0000, 0x00FF00});
  ClassIdMap map;
  UnknownValues unknown;
  LabelDecoder by_index(Options(Classes(kThree), false, std::nullopt, DType::kU8));
  ASSERT_EQ(by_index.Decode(FromPng(png), &map, &unknown)->kind, kPaletteIndex);
  EXPECT_EQ(map.bytes, (std::vector<uint8_t>{0, 1, 2}));
  LabelDecoderOptions color = Options(Classes(kThree), true, std::nullopt, DType::kU8);
  color.rules.palette = PaletteReading::kColor;
  LabelDecoder by_color(color);
  ASSERT_EQ(by_color.Decode(FromPng(png), &map, &unknown)->kind, kPaletteColor);
  EXPECT_EQ(map.bytes, (std::vector<uint8_t>{2, 0, 1}));
  EXPECT_TRUE(unknown.empty());
}

TEST(LabelDecode, PaletteAndRgbOfOneSceneGiveTheSameIds) {
  LabelDecoder decoder(Options(Classes(kThree), true, std::nullopt, DType::kU8));
  ClassIdMap palette, rgb;
  UnknownValues unknown;
  std::vector<uint32_t> scene = {0xFF0000, 0x00FF00, 0x0000FF, 0xFF0000};
  ASSERT_TRUE(decoder
                  .Decode(FromPng(PalettePng({2, 2}, {0, 1, 2, 0}, {0xFF0000, 0x00FF00, 0x0000FF})),
                          &palette, &unknown)
                  .ok());
  ASSERT_TRUE(decoder.Decode(ColorLabel({2, 2}, scene), &rgb, &unknown).ok());
  EXPECT_EQ(palette.bytes, rgb.bytes);
}

// Runs are taken at once, also where colours share bytes with their neighbours.
TEST(LabelDecode, RunsOfColorsAndOfGrayGetTheIdsOfTheirPixels) {
  const std::vector<uint32_t> colors = {0x000000, 0x0000FF, 0xFF0000, 0xFFFF00, 0xFFFFFF};
  LabelDecoder by_color(Options(Classes(colors), true, std::nullopt, DType::kU8));
  LabelDecoder by_value(Options(Classes(colors), false, std::nullopt, DType::kU8));
  RandomStream random(3);
  for (const uint64_t longest : {1, 4, 30}) {
    const ImageSize size = {1, static_cast<uint32_t>(random.Below(300) + 1)};
    std::vector<uint8_t> ids;
    while (ids.size() < size.width) {
      const auto id = static_cast<uint8_t>(random.Below(colors.size()));
      ids.insert(ids.end(), random.Below(longest) + 1, id);
    }
    ids.resize(size.width);
    std::vector<uint32_t> pixels;
    for (const uint8_t id : ids) pixels.push_back(colors[id]);
    ClassIdMap map;
    UnknownValues unknown;
    ASSERT_TRUE(by_color.Decode(ColorLabel(size, pixels), &map, &unknown).ok());
    EXPECT_EQ(map.bytes, ids);
    ASSERT_TRUE(by_value.Decode(GrayLabel(size, {ids.begin(), ids.end()}), &map, &unknown).ok());
    EXPECT_EQ(map.bytes, ids);
    EXPECT_TRUE(unknown.empty());
  }
}

TEST(LabelDecode, AlphaOfColorLabelsIsIgnored) {
  LabelDecoder decoder(Options(Classes(kThree), true, std::nullopt, DType::kU8));
  SourceImage image = FromPng(Png(MakeImage({1, 2}, 4, [](int, int x, int c) {
    return c == 3 ? 17 : c == x ? 255 : 0;
  })));
  ClassIdMap map;
  UnknownValues unknown;
  ASSERT_EQ(decoder.Decode(image, &map, &unknown)->kind, kRgbColor);
  EXPECT_EQ(map.bytes, (std::vector<uint8_t>{0, 1}));
}

TEST(LabelDecode, UnknownColorsAreCountedNotRounded) {
  LabelDecoder decoder(Options(Classes(kThree), true, std::nullopt, DType::kU8));
  ClassIdMap map;
  UnknownValues unknown;
  ASSERT_TRUE(
      decoder.Decode(ColorLabel({1, 4}, {0xFF0000, 0xFE0000, 0xFE0000, 0x000000}), &map, &unknown)
          .ok());
  EXPECT_EQ(unknown.pixels.size(), 2u);
  EXPECT_EQ(unknown.pixels[0xFE0000 | UnknownValues::kColorFlag], 2u);
  EXPECT_EQ(unknown.pixels[0x000000 | UnknownValues::kColorFlag], 1u);
  EXPECT_EQ(unknown.TotalPixels(), 3u);
}

TEST(LabelDecode, ValuesBeyondTheClassesAreUnknown) {
  LabelDecoder decoder(Options(Classes(kThree), false, std::nullopt, DType::kU8));
  ClassIdMap map;
  UnknownValues unknown;
  ASSERT_TRUE(decoder.Decode(GrayLabel({1, 3}, {3, 255, 0}), &map, &unknown).ok());
  EXPECT_EQ(unknown.pixels[3], 1u);
  EXPECT_EQ(unknown.pixels[255], 1u);
  EXPECT_EQ(FormatLabelValue(255), "value 255");
  EXPECT_EQ(FormatLabelValue(0x0C00FF | UnknownValues::kColorFlag), "colour 12,0,255 (#0c00ff)");
}

TEST(LabelDecode, OneBitGrayGivesZeroAndOne) {
  LabelDecoder decoder(Options(Classes(kThree), false, std::nullopt, DType::kU8));
  SourceImage image =
      FromPng(OneBitPng(MakeImage({1, 3}, 1, [](int, int x, int) { return x % 2; })));
  ClassIdMap map;
  UnknownValues unknown;
  ASSERT_TRUE(decoder.Decode(image, &map, &unknown).ok());
  EXPECT_EQ(map.bytes, (std::vector<uint8_t>{0, 1, 0}));
}

TEST(LabelDecode, SixteenBitIdsSurvive) {
  std::vector<ClassInfo> classes(500);
  for (uint32_t i = 0; i < 500; ++i) classes[i] = {i, std::to_string(i), std::nullopt};
  LabelDecoder decoder(Options(classes, false, 65535, DType::kU16));
  const int values[] = {0, 1, 256, 485, 65535, 500};
  SourceImage image =
      FromPng(WidePng(MakeImage({1, 6}, 1, [&](int, int x, int) { return values[x]; })));
  ClassIdMap map;
  UnknownValues unknown;
  ASSERT_TRUE(decoder.Decode(image, &map, &unknown).ok());
  for (size_t i = 0; i < 5; ++i) {
    uint16_t id;
    std::memcpy(&id, &map.bytes[2 * i], 2);
    EXPECT_EQ(id, values[i]);
  }
  EXPECT_EQ(unknown.pixels.size(), 1u);
  EXPECT_EQ(unknown.pixels[500], 1u);
}

TEST(LabelDecode, ColorsWithoutATableAreRefused) {
  LabelDecoder decoder(Options(Classes(kThree), false, std::nullopt, DType::kU8));
  ClassIdMap map;
  UnknownValues unknown;
  Status status = decoder.Decode(ColorLabel({1, 1}, {0xFF0000}), &map, &unknown).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("--classes FILE"), std::string::npos);
}

TEST(LabelDecode, PaletteWhoseColorsDisagreeWithItsIndicesIsRefused) {
  LabelDecoderOptions options = Options(Classes(kThree), true, std::nullopt, DType::kU8);
  const SourceImage reordered =
      FromPng(PalettePng({1, 2}, {0, 1}, {kThree[0], kThree[2], kThree[1]}));
  const Status status = DecodeWith(options, reordered).label.status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "palette index 1 means class 'class 1', but its colour 0,0,255 (#0000ff) means class "
            "'class 2'; say which holds with --palette index or --palette color");
  // Entries that no pixel uses do not matter.
  EXPECT_TRUE(
      DecodeWith(options, FromPng(PalettePng({1, 2}, {0, 0}, {kThree[0], kThree[2]}))).label.ok());
  options.rules.palette = PaletteReading::kIndex;
  EXPECT_EQ(DecodeWith(options, reordered).ids, (Ids{0, 1}));
  options.rules.palette = PaletteReading::kColor;
  EXPECT_EQ(DecodeWith(options, reordered).ids, (Ids{0, 2}));
}

TEST(LabelDecode, IndexComesFirstWhereColorsAreOnlyExpected) {
  LabelDecoderOptions options = Options(Classes(kThree), false, 255, DType::kU8);
  options.rules.index_first = true;
  // Colours that are no class's say nothing; RGB files are read by colour all the same.
  const SourceImage gray_palette = FromPng(PalettePng({1, 2}, {2, 1}, {0, 0x010101, 0x020202}));
  EXPECT_EQ(DecodeWith(options, gray_palette).ids, (Ids{2, 1}));
  EXPECT_EQ(DecodeWith(options, ColorLabel({1, 2}, {kThree[2], kThree[0]})).ids, (Ids{2, 0}));
  EXPECT_FALSE(DecodeWith(options, FromPng(PalettePng({1, 1}, {1}, {0, kThree[2]}))).label.ok());
}

TEST(LabelDecode, ValueMapTakesThePlaceOfTheValues) {
  LabelDecoderOptions options = Options(Classes(kThree), false, 255, DType::kU8);
  options.rules.map.emplace();
  options.rules.map->ids = {{96, 1}, {128, 2}, {0, ValueMap::kToIgnore}, {40000, 0}};
  Decoded decoded = DecodeWith(options, GrayLabel({1, 4}, {96, 128, 0, 1}));
  EXPECT_EQ(Ids(decoded.ids.begin(), decoded.ids.begin() + 3), (Ids{1, 2, 255}));
  EXPECT_EQ(decoded.unknown.pixels, (std::unordered_map<uint32_t, uint64_t>{{1, 1}}));
  const SourceImage wide =
      FromPng(WidePng(MakeImage({1, 1}, 1, [](int, int, int) { return 40000; })));
  EXPECT_EQ(DecodeWith(options, wide).ids, Ids{0});
  options.rules.map->others = ValueMap::kToIgnore;
  EXPECT_EQ(DecodeWith(options, GrayLabel({1, 2}, {96, 1})).ids, (Ids{1, 255}));
}

TEST(LabelDecode, MappedColorsJoinThoseOfTheTable) {
  LabelDecoderOptions options = Options(Classes(kThree), true, 255, DType::kU8);
  options.rules.map.emplace();
  options.rules.map->ids = {{kLabelColorFlag | 0x123456, 1},
                            {kLabelColorFlag | 0x000000, ValueMap::kToIgnore}};
  EXPECT_EQ(DecodeWith(options, ColorLabel({1, 3}, {0x123456, 0, kThree[2]})).ids,
            (Ids{1, 255, 2}));
}

TEST(LabelDecode, Ade20kNumberIsInRedAndGreen) {
  std::vector<ClassInfo> classes(3200);
  for (uint32_t i = 0; i < 3200; ++i) classes[i] = {i, std::to_string(i), std::nullopt};
  LabelDecoderOptions options = Options(classes, false, std::nullopt, DType::kU16);
  options.rules.code = PixelCode::kAde20k;
  // Red counts in tens: 120 and 129 mean the same; blue is the instance.
  const Decoded decoded =
      DecodeWith(options, ColorLabel({1, 4}, {0x784801, 0x814805, 0, 0x0001FF}));
  EXPECT_EQ(decoded.ids, (Ids{3144, 3144, 0, 1}));
  EXPECT_EQ(decoded.label->kind, kAde20kCode);
  EXPECT_FALSE(DecodeWith(options, GrayLabel({1, 1}, {0})).label.ok());
}

TEST(LabelDecode, RedChannelOfSixteenBitsIsRead) {
  LabelDecoderOptions options = Options(Classes(kThree), false, std::nullopt, DType::kU8);
  options.rules.code = PixelCode::kRedChannel;
  const SourceImage wide = FromPng(
      WidePng(MakeImage({1, 2}, 3, [](int, int x, int c) { return c == 0 ? x + 1 : 777; })));
  EXPECT_EQ(DecodeWith(options, wide).ids, (Ids{1, 2}));
}

TEST(LabelDecode, GrayInThreeChannelsIsGrayWithoutColors) {
  LabelDecoderOptions options = Options(Classes(kThree), false, std::nullopt, DType::kU8);
  const Decoded decoded = DecodeWith(options, ColorLabel({1, 2}, {0x020202, 0x010101}));
  EXPECT_EQ(decoded.ids, (Ids{2, 1}));
  EXPECT_EQ(decoded.label->kind, kGrayInRgb);
}

TEST(LabelDecode, ThresholdsMakeColorsPureAndCountWhatTheyChange) {
  LabelDecoderOptions options =
      Options(Classes({0x00FFFF, 0xFFFF00}), true, std::nullopt, DType::kU8);
  options.rules.code = PixelCode::kThreshold;
  const Decoded decoded =
      DecodeWith(options, ColorLabel({1, 4}, {0x02FDFF, 0x00FFFF, 0x80807F, 0xFF0000}));
  EXPECT_EQ(Ids(decoded.ids.begin(), decoded.ids.begin() + 3), (Ids{0, 0, 1}));
  EXPECT_EQ(decoded.label->approximated, 2u);
  EXPECT_EQ(decoded.unknown.pixels.at(0xFF0000 | kLabelColorFlag), 1u);
}

TEST(LabelDecode, ToleranceTakesTheOnlyNearClassAndIsCounted) {
  LabelDecoderOptions options = Options(Classes(kThree), true, std::nullopt, DType::kU8);
  options.rules.tolerance = 20;
  Decoded decoded = DecodeWith(options, ColorLabel({1, 3}, {0xEC1400, 0x0000FF, 0xEA0000}));
  EXPECT_EQ(Ids(decoded.ids.begin(), decoded.ids.begin() + 2), (Ids{0, 2}));
  EXPECT_EQ(decoded.label->approximated, 1u);
  EXPECT_EQ(decoded.unknown.TotalPixels(), 1u);
  options = Options(Classes({0, 0}), false, std::nullopt, DType::kU8);
  options.rules.tolerance = 60;
  options.rules.map.emplace();
  options.rules.map->ids = {{0, 0}, {255, 1}};
  decoded = DecodeWith(options, GrayLabel({1, 4}, {60, 195, 255, 61}));
  EXPECT_EQ(Ids(decoded.ids.begin(), decoded.ids.begin() + 3), (Ids{0, 1, 1}));
  EXPECT_EQ(decoded.label->approximated, 2u);
  EXPECT_EQ(decoded.unknown.pixels.at(61), 1u);
}

TEST(LabelDecode, ToleranceThatFitsTwoClassesIsRefused) {
  LabelDecoderOptions options =
      Options(Classes({0x000000, 0x640000}), true, std::nullopt, DType::kU8);
  options.rules.tolerance = 49;
  EXPECT_TRUE(CheckTolerance(options.classes, options.rules).ok());
  options.rules.tolerance = 50;
  EXPECT_EQ(CheckTolerance(options.classes, options.rules).code(), StatusCode::kInvalidArgument);
  // Class ids are next to each other: a lossy file of them is lost.
  options.rules.colors_in_files = false;
  options.rules.tolerance = 1;
  EXPECT_EQ(CheckTolerance(options.classes, options.rules).code(), StatusCode::kInvalidArgument);
}

TEST(LabelDecode, EightBitsThatMayHaveBeenLargerIdsAreNoted) {
  std::vector<ClassInfo> classes(500);
  for (uint32_t i = 0; i < 500; ++i) classes[i] = {i, std::to_string(i), std::nullopt};
  const LabelDecoderOptions options = Options(classes, false, std::nullopt, DType::kU16);
  EXPECT_TRUE(DecodeWith(options, GrayLabel({1, 2}, {1, 255})).label->may_be_clipped);
  EXPECT_FALSE(DecodeWith(options, GrayLabel({1, 2}, {1, 254})).label->may_be_clipped);
}

TEST(LabelDecode, KeptValuesAreBounded) {
  UnknownValues unknown;
  for (uint32_t i = 0; i < 10000; ++i) unknown.Add(i, 2);
  EXPECT_EQ(unknown.pixels.size(), UnknownValues::kMaxKept);
  EXPECT_EQ(unknown.TotalPixels(), 20000u);
}

// Every colour of a table is found, whatever the table: the hash has no blind spots.
TEST(LabelDecode, EveryColorOfRandomTablesIsFound) {
  RandomStream random(5);
  for (size_t count : {1u, 2u, 11u, 58u, 256u, 2000u}) {
    std::vector<uint32_t> colors;
    while (colors.size() < count) {
      auto color = static_cast<uint32_t>(random.Below(1 << 24));
      if (std::find(colors.begin(), colors.end(), color) == colors.end()) colors.push_back(color);
    }
    LabelDecoder decoder(Options(Classes(colors), true, std::nullopt, DType::kU16));
    ClassIdMap map;
    UnknownValues unknown;
    ImageSize size = {1, static_cast<uint32_t>(count)};
    ASSERT_TRUE(decoder.Decode(ColorLabel(size, colors), &map, &unknown).ok());
    EXPECT_TRUE(unknown.empty());
    for (size_t i = 0; i < count; ++i) {
      uint16_t id;
      std::memcpy(&id, &map.bytes[2 * i], 2);
      EXPECT_EQ(id, i);
    }
  }
}

}  // namespace
}  // namespace shardmill
