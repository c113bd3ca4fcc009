#include "tools/pack/label_decode.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/tools/pack/image_files.h"
#include "tools/pack/label_tolerance.h"
#include "tools/pack/png_decode.h"
#include "tools/pack/unused_class.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

std::vector<ClassInfo> Classes(const std::vector<uint32_t>& colors) {
  std::vector<ClassInfo> classes;
  for (uint32_t color : colors) {
    auto id = static_cast<uint32_t>(classes.size());
    classes.push_back({id, "class " + std::to_string(id), color});
  }
  return classes;
}

LabelDecoderOptions Options(const std::vector<ClassInfo>& classes, bool colors_in_files,
                            std::optional<uint32_t> ignore, DType dtype) {
  LabelDecoderOptions options;
  options.classes = classes;
  options.rules.colors_in_files = colors_in_files;
  options.rules.ignore = ignore;
  options.dtype = dtype;
  return options;
}

SourceImage FromPng(const std::string& png) {
  SourceImage image;
  EXPECT_TRUE(DecodePng(png, 1 << 24, &image).ok());
  return image;
}

SourceImage GrayLabel(ImageSize size, const std::vector<int>& values) {
  return FromPng(Png(MakeImage(size, 1, [&](int y, int x, int) {
    return values[static_cast<size_t>(y) * size.width + static_cast<size_t>(x)];
  })));
}

SourceImage ColorLabel(ImageSize size, const std::vector<uint32_t>& colors) {
  return FromPng(Png(MakeImage(size, 3, [&](int y, int x, int c) {
    uint32_t color = colors[static_cast<size_t>(y) * size.width + static_cast<size_t>(x)];
    return static_cast<int>((color >> (16 - 8 * c)) & 255);
  })));
}

const std::vector<uint32_t> kThree = {0xFF0000, 0x00FF00, 0x0000FF};

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

// A label and what a decoder makes of it.
struct Decoded {
  Result<DecodedLabel> label = InternalError("not decoded");
  std::vector<uint16_t> ids;
  UnknownValues unknown;
};

Decoded DecodeWith(LabelDecoderOptions options, const SourceImage& image) {
  options.dtype = DType::kU16;
  Decoded decoded;
  ClassIdMap map;
  decoded.label = LabelDecoder(options).Decode(image, &map, &decoded.unknown);
  decoded.ids.resize(map.bytes.size() / 2);
  if (!map.bytes.empty()) std::memcpy(decoded.ids.data(), map.bytes.data(), map.bytes.size());
  return decoded;
}

using Ids = std::vector<uint16_t>;

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

// A gray file of any depth.
SourceImage GrayOfDepth(int bits, const std::vector<uint16_t>& values) {
  SourceImage image;
  AllocateSamples({1, static_cast<uint32_t>(values.size())}, PixelLayout::kGray, bits > 8 ? 2 : 1,
                  &image);
  image.stored_bits = bits;
  for (size_t i = 0; i < values.size(); ++i) {
    if (bits > 8) {
      std::memcpy(&image.samples[2 * i], &values[i], 2);
    } else {
      image.samples[i] = static_cast<uint8_t>(values[i]);
    }
  }
  return image;
}

constexpr int kDepths[] = {1, 2, 4, 8, 16};

// Black and white, as a file of each depth holds them, under a table in which white is first.
TEST(LabelDecode, GrayIsReadByOneRuleAtEveryDepth) {
  LabelDecoderOptions options =
      Options(Classes({0xFFFFFF, 0x000000}), true, std::nullopt, DType::kU8);
  for (int bits : kDepths) {
    const auto white = static_cast<uint16_t>((1u << bits) - 1);
    const SourceImage image = GrayOfDepth(bits, {0, white});
    Decoded decoded = DecodeWith(options, image);
    if (bits == 1) {
      // 0 and 1 are class ids too, and mean the opposite.
      EXPECT_EQ(decoded.label.status().message(),
                "gray value 0 means class 'class 0', but its colour 0,0,0 (#000000) means class "
                "'class 1'; say which holds with --gray value or --gray color");
    } else {
      ASSERT_TRUE(decoded.label.ok()) << bits;
      EXPECT_EQ(decoded.label->kind, kGrayColor) << bits;
      EXPECT_EQ(decoded.ids, (Ids{1, 0})) << bits;
    }
    options.rules.gray = GrayReading::kColor;
    EXPECT_EQ(DecodeWith(options, image).ids, (Ids{1, 0})) << bits;
    options.rules.gray = GrayReading::kValue;
    EXPECT_EQ(DecodeWith(options, GrayOfDepth(bits, {0, 1})).ids, (Ids{0, 1})) << bits;
    options.rules.gray = GrayReading::kAuto;
  }
}

TEST(LabelDecode, GrayThatFitsBothReadingsIsRefusedAtEveryDepth) {
  // 0 is the first class, and black the fourth.
  const LabelDecoderOptions options = Options(
      Classes({0x555555, 0x111111, 0x010101, 0x000000, 0xFFFFFF}), true, std::nullopt, DType::kU8);
  for (int bits : kDepths) {
    const Decoded decoded = DecodeWith(options, GrayOfDepth(bits, {0}));
    EXPECT_EQ(decoded.label.status().code(), StatusCode::kInvalidArgument) << bits;
    EXPECT_NE(decoded.label.status().message().find("--gray value or --gray color"),
              std::string::npos);
  }
  // Where the two agree there is nothing to decide.
  const LabelDecoderOptions agreeing =
      Options(Classes({0x000000, 0xFFFFFF}), true, std::nullopt, DType::kU8);
  for (int bits : kDepths)
    EXPECT_EQ(DecodeWith(agreeing, GrayOfDepth(bits, {0, 0})).ids, (Ids{0, 0}));
  EXPECT_EQ(DecodeWith(agreeing, GrayOfDepth(1, {1, 0})).ids, (Ids{1, 0}));
  EXPECT_EQ(DecodeWith(agreeing, GrayOfDepth(8, {1, 0})).ids, (Ids{1, 0}));
}

// Programs that make PNG files smaller store a picture of gray colours as gray.
TEST(LabelDecode, GrayColorsAmongOthersAreFoundWhenTheFileHoldsNothingElse) {
  const LabelDecoderOptions options =
      Options(Classes({0xFF0000, 0x808080, 0x000000}), true, std::nullopt, DType::kU8);
  EXPECT_EQ(DecodeWith(options, GrayOfDepth(8, {0x80, 0})).ids, (Ids{1, 2}));
  EXPECT_EQ(DecodeWith(options, GrayOfDepth(16, {0x8080, 0})).ids, (Ids{1, 2}));
  // Black alone may be the first class or the colour of the third.
  EXPECT_FALSE(DecodeWith(options, GrayOfDepth(8, {0, 0})).label.ok());
  EXPECT_EQ(DecodeWith(options, GrayOfDepth(8, {0, 1, 2})).ids, (Ids{0, 1, 2}));
  // A level between two of 8 bits is no colour.
  EXPECT_EQ(DecodeWith(options, GrayOfDepth(16, {0x8081})).unknown.pixels.at(0x8081), 1u);
}

TEST(LabelDecode, GrayIsAColorWhereThresholdsMakeColors) {
  LabelDecoderOptions options = Options(Classes({0x00FFFF, 0xFFFFFF}), true, 255, DType::kU8);
  options.rules.code = PixelCode::kThreshold;
  options.rules.map.emplace();
  options.rules.map->ids = {{kLabelColorFlag, ValueMap::kToIgnore}};
  EXPECT_EQ(DecodeWith(options, GrayOfDepth(8, {0, 200})).ids, (Ids{255, 1}));
}

TEST(LabelDecode, MapMustFitHowTheLabelIsRead) {
  LabelDecoderOptions options = Options(Classes(kThree), true, 255, DType::kU8);
  const SourceImage colors = ColorLabel({1, 1}, {0xFF0000});
  options.rules.map.emplace();
  options.rules.map->ids = {{0, 2}};
  EXPECT_TRUE(DecodeWith(options, colors).label.ok());  // of a layout, for files of either kind
  options.rules.map_is_given = true;
  EXPECT_NE(DecodeWith(options, colors)
                .label.status()
                .message()
                .find("--map has rules for numbers alone, and this label is read by RGB colour"),
            std::string::npos);
  EXPECT_EQ(DecodeWith(options, GrayLabel({1, 1}, {0})).ids, Ids{2});
  EXPECT_EQ(
      DecodeWith(options, FromPng(PalettePng({1, 1}, {0}, {kThree[0]}))).label.status().code(),
      StatusCode::kInvalidArgument);  // index and colour name different classes
  options.rules.map->ids = {{kLabelColorFlag | 0xFF0000, 1}};
  EXPECT_EQ(DecodeWith(options, colors).ids, Ids{1});  // the map comes before the class table
  EXPECT_NE(DecodeWith(options, GrayLabel({1, 1}, {0}))
                .label.status()
                .message()
                .find("--map has rules for colours alone, and this label is read by gray value"),
            std::string::npos);
}

TEST(LabelDecode, ToleranceMustFitHowTheLabelIsRead) {
  LabelDecoderOptions options = Options(Classes(kThree), true, std::nullopt, DType::kU8);
  options.rules.tolerance = 20;
  EXPECT_TRUE(CheckTolerance(options.classes, options.rules).ok());
  EXPECT_TRUE(DecodeWith(options, ColorLabel({1, 1}, {0xF00000})).label.ok());
  EXPECT_NE(DecodeWith(options, GrayLabel({1, 2}, {0, 3}))
                .label.status()
                .message()
                .find("--label-tolerance 20 is too much: a value between value 0 and value 1"),
            std::string::npos);
  // Black and white, saved with loss: as numbers they could be anything, as colours they are near.
  options = Options(Classes({0x000000, 0xFFFFFF}), true, std::nullopt, DType::kU8);
  options.rules.tolerance = 20;
  EXPECT_EQ(DecodeWith(options, GrayLabel({1, 4}, {0, 3, 250, 255})).ids, (Ids{0, 0, 1, 1}));
}

TEST(LabelDecode, IdsThatNoClassHasAreUnknown) {
  std::vector<ClassInfo> classes = Classes(kThree);
  classes[1] = UnusedClass(1);
  const LabelDecoderOptions options = Options(classes, false, 255, DType::kU8);
  const Decoded decoded = DecodeWith(options, GrayLabel({1, 4}, {0, 1, 2, 255}));
  EXPECT_EQ(decoded.unknown.pixels, (std::unordered_map<uint32_t, uint64_t>{{1, 1}}));
  EXPECT_EQ(decoded.ids[2], 2u);
  EXPECT_EQ(decoded.ids[3], 255u);
}

TEST(LabelDecode, TransparentPixelsAreRefused) {
  const LabelDecoderOptions options = Options(Classes(kThree), true, std::nullopt, DType::kU8);
  const SourceImage image = FromPng(Png(MakeImage({1, 2}, 4, [](int, int x, int c) {
    return c == 3 ? (x == 0 ? 255 : 0) : c == 0 ? 255 : 0;
  })));
  EXPECT_NE(DecodeWith(options, image).label.status().message().find("transparent"),
            std::string::npos);
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
