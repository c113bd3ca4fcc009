#include "tools/pack/decode/bmp_image.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/tools/pack/image_files.h"
#include "tools/pack/decode/image_decode.h"
#include "tools/pack/decode/rgb_convert.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

constexpr uint64_t kNoLimit = uint64_t{1} << 30;
constexpr ImageSize kSize = {5, 7};

std::string Number(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value & 255);
  return text;
}

struct BmpForm {
  ImageSize size = kSize;
  uint32_t header_bytes = 40;
  int bits = 24;
  uint32_t compression = 0;
  bool from_top = false;
  uint32_t colors = 0;            // as the header says
  std::vector<uint32_t> palette;  // 0xRRGGBB
  std::vector<uint32_t> masks;
};

// The header, the palette and the masks, and then `pixels`.
std::string BmpAround(const BmpForm& form, const std::string& pixels) {
  std::string header = Number(form.header_bytes, 4), rest;
  if (form.header_bytes == 12) {
    header += Number(form.size.width, 2) + Number(form.size.height, 2) + Number(1, 2) +
              Number(static_cast<uint64_t>(form.bits), 2);
  } else {
    const int64_t height = form.from_top ? -int64_t{form.size.height} : form.size.height;
    header += Number(form.size.width, 4) + Number(static_cast<uint64_t>(height), 4) + Number(1, 2) +
              Number(static_cast<uint64_t>(form.bits), 2) + Number(form.compression, 4) +
              Number(0, 12) + Number(form.colors, 4) + Number(0, 4);
  }
  for (uint32_t mask : form.masks) (form.header_bytes > 40 ? header : rest) += Number(mask, 4);
  header.resize(form.header_bytes);
  for (uint32_t color : form.palette) rest += Number(color, form.header_bytes == 12 ? 3 : 4);
  const uint64_t offset = 14 + header.size() + rest.size();
  return "BM" + Number(offset + pixels.size(), 4) + Number(0, 4) + Number(offset, 4) + header +
         rest + pixels;
}

// `value(y, x)` is the number that stands for a pixel, from the top.
std::string BuildBmp(const BmpForm& form,
                     const std::function<uint64_t(uint32_t, uint32_t)>& value) {
  std::string pixels;
  for (uint32_t i = 0; i < form.size.height; ++i) {
    const uint32_t y = form.from_top ? i : form.size.height - 1 - i;
    std::string row;
    for (uint32_t x = 0; x < form.size.width; ++x) {
      if (form.bits >= 8) {
        row += Number(value(y, x), form.bits / 8);
        continue;
      }
      const uint32_t per_byte = 8u / static_cast<uint32_t>(form.bits), place = x % per_byte;
      if (place == 0) row += '\0';
      const uint64_t shift = 8 - static_cast<uint64_t>(form.bits) * (place + 1);
      row.back() = static_cast<char>(static_cast<uint8_t>(row.back()) | value(y, x) << shift);
    }
    row.resize((row.size() + 3) / 4 * 4);
    pixels += row;
  }
  return BmpAround(form, pixels);
}

struct Decoded {
  Status status;
  SourceImage image;
  std::vector<uint8_t> rgb;
  ConversionCounts counts = {};
};

Decoded Decode(const std::string& file) {
  Decoded decoded;
  decoded.status = ImageDecoder().Decode(file, kNoLimit, &decoded.image);
  if (!decoded.status.ok()) return decoded;
  RgbConverter converter;
  const RgbImage rgb = converter.Convert(decoded.image, &decoded.counts);
  decoded.rgb.assign(rgb.pixels, rgb.pixels + rgb.size.pixels() * 3);
  return decoded;
}

void ExpectError(const std::string& file, const std::string& text) {
  const Decoded decoded = Decode(file);
  EXPECT_EQ(decoded.status.code(), StatusCode::kDataLoss) << text;
  EXPECT_NE(decoded.status.message().find(text), std::string::npos) << decoded.status.ToString();
}

uint64_t SomePixel(uint32_t y, uint32_t x) { return MixBits(31 * y + x + 1) >> 32; }

TEST(BmpImage, MasksSayWhereTheChannelsLie) {
  struct Case {
    int bits;
    std::vector<BmpChannel> channels;
  };
  for (const Case& each : std::vector<Case>{{32, {{16, 8}, {8, 8}, {0, 8}}},
                                            {32, {{0, 8}, {8, 8}, {16, 8}}},
                                            {32, {{24, 8}, {16, 8}, {8, 8}}},
                                            {32, {{0, 8}, {8, 8}, {16, 8}, {24, 8}}},
                                            {32, {{20, 10}, {10, 10}, {0, 10}}},
                                            {32, {{17, 7}, {16, 1}, {8, 8}}},
                                            {16, {{10, 5}, {5, 5}, {0, 5}}},
                                            {16, {{11, 5}, {5, 6}, {0, 5}}},
                                            {16, {{0, 5}, {5, 6}, {11, 5}}},
                                            {16, {{8, 4}, {4, 4}, {0, 4}, {12, 4}}}}) {
    for (uint32_t header_bytes : {40, 56, 108, 124}) {
      BmpForm form;
      form.bits = each.bits;
      form.header_bytes = header_bytes;
      form.from_top = header_bytes == 108;
      form.compression = each.channels.size() == 4 && header_bytes == 40 ? 6 : 3;
      bool is_whole = true;
      for (const BmpChannel& channel : each.channels) {
        form.masks.push_back(((1u << channel.bits) - 1) << channel.shift);
        is_whole &= channel.bits == 8;
      }
      const Decoded decoded = Decode(BuildBmp(form, SomePixel));
      ASSERT_TRUE(decoded.status.ok()) << decoded.status.ToString();
      for (uint32_t i = 0; i < kSize.pixels() * 3; ++i) {
        const BmpChannel& channel = each.channels[i % 3];
        const uint64_t full = (1u << channel.bits) - 1;
        const uint64_t pixel = SomePixel(i / 3 / kSize.width, i / 3 % kSize.width);
        const uint64_t expected = ((pixel >> channel.shift & full) * 255 + full / 2) / full;
        ASSERT_EQ(decoded.rgb[i], expected) << each.bits << " bits, " << header_bytes << ", " << i;
      }
      EXPECT_EQ(decoded.image.has_transparency, each.channels.size() == 4);
      EXPECT_EQ(decoded.counts[kLevelsSpread], is_whole ? 0u : 1u);
    }
  }
}

TEST(BmpImage, WithoutMasksBlueIsFirstAndMasksOfTheHeaderMeanNothing) {
  for (int bits : {16, 24, 32}) {
    BmpForm form;
    form.bits = bits;
    form.header_bytes = 108;
    form.masks = {0xff, 0xff00, 0xff0000, 0xff000000};
    const uint64_t red = bits == 16 ? 0x7c00 : 0xff0000;
    const Decoded decoded =
        Decode(BuildBmp(form, [&](uint32_t, uint32_t x) { return x % 2 * red; }));
    ASSERT_TRUE(decoded.status.ok()) << decoded.status.ToString();
    EXPECT_EQ(decoded.rgb[3], 255) << "full brightness of 5 bits too";
    EXPECT_EQ(decoded.rgb[0] + decoded.rgb[4] + decoded.rgb[5], 0);
    EXPECT_FALSE(decoded.image.has_transparency);
  }
}

TEST(BmpImage, MasksThatMakeNoSenseAreNamed) {
  BmpForm form;
  form.bits = 32;
  form.compression = 3;
  form.masks = {0xff, 0xff, 0xff00};
  ExpectError(BuildBmp(form, SomePixel), "share bits");
  form.masks = {0xff, 0, 0xff00};
  ExpectError(BuildBmp(form, SomePixel), "no bits");
  form.masks = {0x5, 0xff00, 0xff0000};
  ExpectError(BuildBmp(form, SomePixel), "lie apart");
  form.masks = {0x1ffff, 0x1000000, 0x2000000};
  ExpectError(BuildBmp(form, SomePixel), "more than 16 bits");
  form.masks = {};
  ExpectError(BuildBmp(form, SomePixel), "no room for the masks");
  form.bits = 16;
  form.masks = {0xff, 0x100, 0xff0000};
  ExpectError(BuildBmp(form, SomePixel), "beyond the pixel");
}

TEST(BmpImage, PaletteKeepsItsIndices) {
  for (int bits : {1, 2, 4, 8}) {
    for (uint32_t header_bytes : {12, 40, 64, 124}) {
      BmpForm form;
      form.bits = bits;
      form.header_bytes = header_bytes;
      form.palette = {0x102030, 0xffee00};
      form.colors = header_bytes == 40 ? 2 : 0;  // there is no room for more before the pixels
      const auto index = [](uint32_t y, uint32_t x) { return (x ^ y) & 1; };
      const Decoded decoded = Decode(BuildBmp(form, index));
      ASSERT_TRUE(decoded.status.ok()) << decoded.status.ToString();
      EXPECT_EQ(decoded.image.layout, PixelLayout::kPalette);
      EXPECT_EQ(decoded.image.palette, form.palette);
      for (uint32_t i = 0; i < kSize.pixels(); ++i) {
        ASSERT_EQ(decoded.image.samples[i], index(i / kSize.width, i % kSize.width));
      }
      EXPECT_EQ(std::vector<uint8_t>(decoded.rgb.begin(), decoded.rgb.begin() + 6),
                (std::vector<uint8_t>{0x10, 0x20, 0x30, 0xff, 0xee, 0}));
    }
  }
}

TEST(BmpImage, IndexBeyondThePaletteIsDamage) {
  BmpForm form;
  form.bits = 8;
  form.palette.assign(40, 0x123456);
  form.colors = 40;
  EXPECT_TRUE(Decode(BuildBmp(form, [](uint32_t, uint32_t) { return 39; })).status.ok());
  ExpectError(BuildBmp(form, [](uint32_t, uint32_t x) { return x == 6 ? 40 : 1; }),
              "palette index 40, the palette has 40 colours");
}

TEST(BmpImage, LevelsThatAreTheirOwnIndexAreGray) {
  BmpForm form;
  form.bits = 8;
  for (uint32_t i = 0; i < 256; ++i) form.palette.push_back(i * 0x010101);
  const auto index = [](uint32_t y, uint32_t x) { return 9 * y + x; };
  const Decoded gray = Decode(BuildBmp(form, index));
  EXPECT_EQ(gray.image.layout, PixelLayout::kGray);
  EXPECT_EQ(gray.image.stored_bits, 8);
  EXPECT_EQ(gray.image.samples[kSize.width + 2], 11);
  form.palette[200] = 1;
  EXPECT_EQ(Decode(BuildBmp(form, index)).image.layout, PixelLayout::kPalette);
}

TEST(BmpImage, RunsGiveTheirPixels) {
  BmpForm form;
  form.size = {2, 5};
  form.palette = {0, 0xff0000, 0xff00, 0xff, 0x123456, 0x777777, 0x888888, 0x999999, 0xaaaaaa};
  form.bits = 8;
  form.compression = 1;
  const std::vector<uint8_t> expected = {1, 2, 3, 4, 4, 7, 7, 7, 7, 8};
  // The last row comes first.
  const std::string long_form("\4\7\1\x8\0\0\0\3\1\2\3\0\2\4\0\0\0\1", 18);
  EXPECT_EQ(Decode(BmpAround(form, long_form)).image.samples, expected);
  const std::string without_end = long_form.substr(0, 14);
  EXPECT_EQ(Decode(BmpAround(form, without_end)).image.samples, expected);
  form.bits = 4;
  form.compression = 2;
  const std::string packed("\4\x77\1\x80\0\0\0\5\x12\x34\x40\0\0\1", 14);
  EXPECT_EQ(Decode(BmpAround(form, packed)).image.samples, expected);
  const std::string alternating("\5\x12\0\0\5\x34\0\1", 8);
  EXPECT_EQ(Decode(BmpAround(form, alternating)).image.samples,
            (std::vector<uint8_t>{3, 4, 3, 4, 3, 1, 2, 1, 2, 1}));
}

TEST(BmpImage, RunsThatMissPixelsOrGoBeyondThePictureAreErrors) {
  BmpForm form;
  form.size = {2, 5};
  form.palette = {0, 0xff0000};
  form.bits = 8;
  form.compression = 1;
  ExpectError(BmpAround(form, std::string("\5\1\0\0\4\1\0\1", 8)), "1 of its pixels no value");
  ExpectError(BmpAround(form, std::string("\0\2\1\0\4\1\0\0\5\1\0\1", 12)), "1 of its pixels");
  ExpectError(BmpAround(form, std::string("\6\1\0\0\5\1\0\1", 8)), "beyond the picture");
  ExpectError(BmpAround(form, std::string("\5\1\0\0\5\1\0\0\1\1\0\1", 12)), "beyond the picture");
  ExpectError(BmpAround(form, std::string("\5\1\0\0\4\1", 6)), "runs have no end");
  ExpectError(BmpAround(form, std::string("\5\1\0\0\0\5\1\1", 8)), "within a run");
  form.from_top = true;
  ExpectError(BmpAround(form, std::string("\5\1\0\0\5\1\0\1", 8)), "from top to bottom");
}

TEST(BmpImage, KindsThatAreNotReadAreNamed) {
  BmpForm form;
  form.bits = 0;
  form.compression = 4;
  ExpectError(BmpAround(form, "x"), "a JPEG file");
  form.compression = 5;
  ExpectError(BmpAround(form, "x"), "a PNG file");
  form.compression = 0;
  form.bits = 64;
  ExpectError(BmpAround(form, "x"), "64 bits");
  form.bits = 24;
  form.compression = 4;
  form.header_bytes = 64;
  ExpectError(BmpAround(form, "x"), "24 bits with compression 4");
}

TEST(BmpImage, EveryCutIsFoundAndFlippedBytesDoNotCrash) {
  BmpForm masks, palette;
  masks.bits = 16;
  masks.compression = 3;
  masks.masks = {0xf800, 0x7e0, 0x1f};
  palette.bits = 4;
  palette.palette = {1, 2, 3};
  BmpForm runs = palette;
  runs.compression = 2;
  runs.size = {1, 5};
  for (const std::string& file :
       {BuildBmp(masks, SomePixel), BuildBmp(palette, [](uint32_t, uint32_t) { return 2; }),
        BmpAround(runs, std::string("\5\1\0\1", 4)), Bmp(Photo({4, 8}, 1))}) {
    ASSERT_TRUE(Decode(file).status.ok()) << Decode(file).status.ToString();
    // The last bytes only fill up the last row, or end the runs.
    for (size_t cut = 2; cut + 3 < file.size(); ++cut) {
      EXPECT_EQ(Decode(file.substr(0, cut)).status.code(), StatusCode::kDataLoss) << cut;
    }
    for (size_t place = 2; place < file.size(); ++place) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string flipped = file;
        flipped[place] = static_cast<char>(flipped[place] ^ 1 << bit);
        SourceImage image;
        (void)ImageDecoder().Decode(flipped, 1 << 20, &image);
      }
    }
  }
}

TEST(BmpImage, SizeIsToldByTheHeaderAlone) {
  BmpForm form;
  form.size = {30000, 40000};
  const std::string file = BmpAround(form, "");
  EXPECT_EQ(*ProbeImageSize(file, uint64_t{1} << 40), form.size);
  EXPECT_EQ(ProbeImageSize(file, 1 << 20).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
