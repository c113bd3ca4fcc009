// Label files that can be read in more than one way, and options that do not fit how they are read.
#include <cstring>

#include "tests/tools/pack/decode/gif_builder.h"
#include "tests/tools/pack/decode/png_builder.h"
#include "tests/tools/pack/labels/label_decoding.h"
#include "tools/pack/decode/image_decode.h"
#include "tools/pack/labels/label_tolerance.h"
#include "tools/pack/labels/unused_class.h"

namespace shardmill {
namespace {

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

// Programs write ids into three equal channels.
TEST(LabelDecode, GrayInThreeChannelsThatFitsBothReadingsIsRefused) {
  LabelDecoderOptions options =
      Options(Classes({0x000000, 0x010101, 0x030303, 0x020202}), true, std::nullopt, DType::kU8);
  const SourceImage image = ColorLabel({1, 4}, {0x000000, 0x010101, 0x020202, 0x030303});
  EXPECT_EQ(DecodeWith(options, image).label.status().message(),
            "gray value 2 means class 'class 2', but its colour 2,2,2 (#020202) means class "
            "'class 3'; say which holds with --gray value or --gray color");
  options.rules.gray = GrayReading::kColor;
  EXPECT_EQ(DecodeWith(options, image).ids, (Ids{0, 1, 3, 2}));
  options.rules.gray = GrayReading::kValue;
  EXPECT_EQ(DecodeWith(options, image).ids, (Ids{0, 1, 2, 3}));
  EXPECT_EQ(DecodeWith(options, image).label->kind, kGrayInRgb);
  EXPECT_EQ(DecodeWith(options, ColorLabel({1, 1}, {0x000100})).label->kind, kRgbColor);
}

TEST(LabelDecode, NoDataThatIsAClassTooIsRefused) {
  LabelDecoderOptions options = Options(Classes(kThree), false, 255, DType::kU8);
  SourceImage image = GrayOfDepth(8, {0, 1, 255});
  image.no_data = 0;
  EXPECT_EQ(DecodeWith(options, image).label.status().message(),
            "its value 0 means no data, as the file says, and also class 'class 0'; say which "
            "holds with --map FILE, as in '0 ignore'");
  for (const double other : {2.0, 255.0, -9999.0}) {  // no pixel has it, or it is ignored
    image.no_data = other;
    EXPECT_EQ(DecodeWith(options, image).ids, (Ids{0, 1, 255})) << other;
  }
  image.no_data = 0;
  options.rules.map.emplace();
  options.rules.map->ids = {{0, ValueMap::kToIgnore}, {1, 1}, {255, ValueMap::kToIgnore}};
  options.rules.map_is_given = true;
  EXPECT_EQ(DecodeWith(options, image).ids, (Ids{255, 1, 255}));
}

TEST(LabelDecode, NoDataThatIsAClassIsRefusedHoweverTheFileIsRead) {
  const std::vector<uint32_t> colors = {0x000000, 0xFF0000};
  const LabelDecoderOptions by_color = Options(Classes(colors), true, 255, DType::kU8);
  const LabelDecoderOptions by_number = Options(Classes(kThree), false, 255, DType::kU8);
  const auto message_of = [](const LabelDecoderOptions& options, SourceImage image) {
    image.no_data = 0;
    return DecodeWith(options, image).label.status().message();
  };
  const std::string color =
      "its colour 0,0,0 (#000000) means no data, as the file says, and also class 'class 0'; say "
      "which holds with --map FILE, as in '#000000 ignore'";
  EXPECT_EQ(message_of(by_color, ColorLabel({1, 2}, {0, 0xFF0000})), color);
  SourceImage palette = GrayOfDepth(8, {0, 1});
  palette.layout = PixelLayout::kPalette;
  palette.palette = colors;
  EXPECT_EQ(message_of(by_color, palette), color);
  const std::string number =
      "its value 0 means no data, as the file says, and also class 'class 0'; say which holds with "
      "--map FILE, as in '0 ignore'";
  EXPECT_EQ(message_of(by_number, palette), number);
  EXPECT_EQ(message_of(by_number, ColorLabel({1, 2}, {0, 0x010101})), number);
  // No pixel has the value in all channels.
  EXPECT_EQ(message_of(by_color, ColorLabel({1, 1}, {0xFF0000})), "");
  LabelDecoderOptions decided = by_color;
  decided.rules.map.emplace();
  decided.rules.map->ids = {{0x000000 | kLabelColorFlag, ValueMap::kToIgnore}};
  decided.rules.map_is_given = true;
  EXPECT_EQ(message_of(decided, ColorLabel({1, 2}, {0, 0xFF0000})), "");
}

TEST(LabelDecode, ColorsOfSamplesThatEndBeforeAllBitsAreRefused) {
  const LabelDecoderOptions options =
      Options(Classes({0x000000, 0x640000}), true, std::nullopt, DType::kU8);
  SourceImage image;
  ASSERT_TRUE(ImageDecoder().Decode("P3 1 1 100 100 0 0", 9, &image).ok());
  EXPECT_EQ(DecodeWith(options, image).label.status().message(),
            "a label of colours whose samples go up to 100; save it with 255");
}

TEST(LabelDecode, OneGrayColorInThreeChannelsIsAColor) {
  // Void is black and the last class; a label may show nothing else.
  const LabelDecoderOptions options =
      Options(Classes({0x808080, 0x804080, 0x000000}), true, std::nullopt, DType::kU8);
  EXPECT_EQ(DecodeWith(options, ColorLabel({1, 2}, {0, 0})).ids, (Ids{2, 2}));
  EXPECT_EQ(DecodeWith(options, ColorLabel({1, 2}, {0x808080, 0})).ids, (Ids{0, 2}));
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

TEST(LabelDecode, PaletteOfOtherColorsAsksForTheIndex) {
  LabelDecoderOptions options =
      Options(Classes({0x000000, 0xFF0000, 0x00FF00}), true, 255, DType::kU8);
  // The black entries are not used.
  const SourceImage others =
      FromPng(PalettePng({1, 2}, {1, 2}, {0x000000, 0x123456, 0x654321, 0x000000, 0x000000}));
  const Decoded decoded = DecodeWith(options, others);
  EXPECT_EQ(decoded.label.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(decoded.label.status().message().find("say so with --palette index"),
            std::string::npos);
  options.rules.palette = PaletteReading::kIndex;
  EXPECT_EQ(DecodeWith(options, others).ids, (Ids{1, 2}));
  options.rules.palette = PaletteReading::kAuto;
  // Colours of the table count as ever, and so does one that is not among them.
  const SourceImage mixed = FromPng(PalettePng({1, 2}, {2, 1}, {0x010101, 0xFF0000, 0x121212}));
  EXPECT_EQ(DecodeWith(options, mixed).unknown.pixels.count(kLabelColorFlag | 0x121212), 1u);
}

TEST(LabelDecode, PaletteOfGrayLevelsThatAreTheirIndicesIsGray) {
  const LabelDecoderOptions options =
      Options(Classes({0x000000, 0xFF0000, 0x00FF00}), true, 255, DType::kU8);
  const SourceImage gray =
      FromPng(PalettePng({1, 3}, {0, 2, 1}, {0x000000, 0x010101, 0x020202, 0x030303}));
  const Decoded decoded = DecodeWith(options, gray);
  ASSERT_TRUE(decoded.label.ok()) << decoded.label.status().ToString();
  EXPECT_EQ(decoded.label->kind, kPaletteIndex);
  EXPECT_EQ(decoded.ids, (Ids{0, 2, 1}));
  // An index that is no class: read by colour, and told as what it is.
  EXPECT_FALSE(DecodeWith(options, FromPng(PalettePng({1, 2}, {0, 3},
                                                      {0x000000, 0x010101, 0x020202, 0x030303})))
                   .unknown.pixels.empty());
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

SourceImage DecodedFile(const std::string& file) {
  SourceImage image;
  const Status status = ImageDecoder().Decode(file, 1 << 20, &image);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return image;
}

// The kinds of transparency that are no channel: only what pixels use counts.
TEST(LabelDecode, TransparentColorsOfPixelsAreRefused) {
  const LabelDecoderOptions options = Options(Classes(kThree), false, std::nullopt, DType::kU8);
  const auto refused = [&](const std::string& file) {
    const Decoded decoded = DecodeWith(options, DecodedFile(file));
    const bool is_refused = !decoded.label.ok();
    if (is_refused) {
      EXPECT_NE(decoded.label.status().message().find("some pixels are transparent"),
                std::string::npos);
    }
    return is_refused;
  };
  PngSpec palette;
  palette.width = 2;
  palette.color_type = PngColorType::kPalette;
  palette.palette = std::string("\xFF\0\0\0\xFF\0\0\0\xFF", 9);
  palette.transparency = std::string("\xFF\0", 2);
  EXPECT_TRUE(refused(BuildPng(palette, {0, 1})));
  EXPECT_TRUE(refused(BuildPng(palette, {1, 2})));
  EXPECT_FALSE(refused(BuildPng(palette, {0, 2})));
  EXPECT_FALSE(refused(BuildPng(palette, {1, 1})));  // as an alpha channel that is the same
  PngSpec gray;
  gray.width = 2;
  gray.bit_depth = 4;
  gray.transparency = std::string("\0\1", 2);
  EXPECT_TRUE(refused(BuildPng(gray, {0x12})));
  EXPECT_FALSE(refused(BuildPng(gray, {0x02})));
  PngSpec rgb;
  rgb.width = 2;
  rgb.color_type = PngColorType::kRgb;
  rgb.transparency = std::string("\0\1\0\1\0\1", 6);
  EXPECT_TRUE(refused(BuildPng(rgb, {1, 1, 1, 2, 2, 2})));
  EXPECT_FALSE(refused(BuildPng(rgb, {0, 0, 0, 2, 2, 2})));
  GifForm gif;
  gif.width = 2;
  gif.palette = {0xFF0000, 0x00FF00, 0x0000FF, 0x000000};
  gif.literal_bits = 2;
  gif.transparent = 1;
  EXPECT_TRUE(refused(BuildGif(gif, {0, 1})));
  EXPECT_FALSE(refused(BuildGif(gif, {0, 2})));
}

}  // namespace
}  // namespace shardmill
