#include "tools/pack/label_decode.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/tools/pack/image_files.h"
#include "tools/pack/png_decode.h"
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
  LabelDecoder decoder({Classes(kThree), false, 255, DType::kU8});
  ClassIdMap map;
  UnknownValues unknown;
  auto kind = decoder.Decode(GrayLabel({1, 4}, {2, 0, 255, 1}), &map, &unknown);
  ASSERT_TRUE(kind.ok());
  EXPECT_EQ(*kind, kGrayValue);
  EXPECT_EQ(map.bytes, (std::vector<uint8_t>{2, 0, 255, 1}));
  EXPECT_TRUE(unknown.empty());
}

TEST(LabelDecode, GrayIsReadByValueAlsoWithColoredClasses) {
  LabelDecoder decoder({Classes(kThree), true, std::nullopt, DType::kU8});
  ClassIdMap map;
  UnknownValues unknown;
  ASSERT_TRUE(decoder.Decode(GrayLabel({1, 3}, {0, 1, 2}), &map, &unknown).ok());
  EXPECT_EQ(map.bytes, (std::vector<uint8_t>{0, 1, 2}));
  EXPECT_TRUE(unknown.empty());
}

TEST(LabelDecode, GrayIsAColorWhenAllClassesAreGray) {
  LabelDecoder decoder({Classes({0x000000, 0xFFFFFF}), true, std::nullopt, DType::kU8});
  ClassIdMap map;
  UnknownValues unknown;
  auto kind = decoder.Decode(GrayLabel({1, 3}, {255, 0, 255}), &map, &unknown);
  ASSERT_TRUE(kind.ok());
  EXPECT_EQ(*kind, kGrayColor);
  EXPECT_EQ(map.bytes, (std::vector<uint8_t>{1, 0, 1}));
}

TEST(LabelDecode, PaletteIsReadByIndexWithoutColorsAndByColorWithThem) {
  std::string png = PalettePng({1, 3}, {0, 1, 2}, {0x0000FF, 0xFF0000, 0x00FF00});
  ClassIdMap map;
  UnknownValues unknown;
  LabelDecoder by_index({Classes(kThree), false, std::nullopt, DType::kU8});
  ASSERT_EQ(*by_index.Decode(FromPng(png), &map, &unknown), kPaletteIndex);
  EXPECT_EQ(map.bytes, (std::vector<uint8_t>{0, 1, 2}));
  LabelDecoder by_color({Classes(kThree), true, std::nullopt, DType::kU8});
  ASSERT_EQ(*by_color.Decode(FromPng(png), &map, &unknown), kPaletteColor);
  EXPECT_EQ(map.bytes, (std::vector<uint8_t>{2, 0, 1}));
  EXPECT_TRUE(unknown.empty());
}

TEST(LabelDecode, PaletteAndRgbOfOneSceneGiveTheSameIds) {
  LabelDecoder decoder({Classes(kThree), true, std::nullopt, DType::kU8});
  ClassIdMap palette, rgb;
  UnknownValues unknown;
  std::vector<uint32_t> scene = {0x00FF00, 0xFF0000, 0x0000FF, 0x00FF00};
  ASSERT_TRUE(decoder
                  .Decode(FromPng(PalettePng({2, 2}, {0, 1, 2, 0}, {0x00FF00, 0xFF0000, 0x0000FF})),
                          &palette, &unknown)
                  .ok());
  ASSERT_TRUE(decoder.Decode(ColorLabel({2, 2}, scene), &rgb, &unknown).ok());
  EXPECT_EQ(palette.bytes, rgb.bytes);
}

TEST(LabelDecode, AlphaOfColorLabelsIsIgnored) {
  LabelDecoder decoder({Classes(kThree), true, std::nullopt, DType::kU8});
  SourceImage image = FromPng(Png(MakeImage({1, 2}, 4, [](int, int x, int c) {
    return c == 3 ? 17 : c == x ? 255 : 0;
  })));
  ClassIdMap map;
  UnknownValues unknown;
  ASSERT_EQ(*decoder.Decode(image, &map, &unknown), kRgbColor);
  EXPECT_EQ(map.bytes, (std::vector<uint8_t>{0, 1}));
}

TEST(LabelDecode, UnknownColorsAreCountedNotRounded) {
  LabelDecoder decoder({Classes(kThree), true, std::nullopt, DType::kU8});
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
  LabelDecoder decoder({Classes(kThree), false, std::nullopt, DType::kU8});
  ClassIdMap map;
  UnknownValues unknown;
  ASSERT_TRUE(decoder.Decode(GrayLabel({1, 3}, {3, 255, 0}), &map, &unknown).ok());
  EXPECT_EQ(unknown.pixels[3], 1u);
  EXPECT_EQ(unknown.pixels[255], 1u);
  EXPECT_EQ(FormatLabelValue(255), "value 255");
  EXPECT_EQ(FormatLabelValue(0x0C00FF | UnknownValues::kColorFlag), "colour 12,0,255 (#0c00ff)");
}

TEST(LabelDecode, OneBitGrayGivesZeroAndOne) {
  LabelDecoder decoder({Classes(kThree), false, std::nullopt, DType::kU8});
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
  LabelDecoder decoder({classes, false, 65535, DType::kU16});
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
  LabelDecoder decoder({Classes(kThree), false, std::nullopt, DType::kU8});
  ClassIdMap map;
  UnknownValues unknown;
  Status status = decoder.Decode(ColorLabel({1, 1}, {0xFF0000}), &map, &unknown).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("--classes FILE"), std::string::npos);
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
    LabelDecoder decoder({Classes(colors), true, std::nullopt, DType::kU16});
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
