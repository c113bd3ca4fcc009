#include "tools/pack/decode/stored_form.h"

#include <gtest/gtest.h>

#include "tests/tools/pack/image_files.h"
#include "tools/pack/decode/jpeg2000_form.h"

namespace shardmill {
namespace {

TEST(StoredForm, BitmapsOfPnmHaveFewBits) {
  EXPECT_TRUE(ReadStoredForm("P1\n2 1\n0 1\n", FileFormat::kPnm).few_bits);
  EXPECT_TRUE(ReadStoredForm("P4\n2 1\n@", FileFormat::kPnm).few_bits);
  EXPECT_FALSE(ReadStoredForm("P5\n2 1\n255\n12", FileFormat::kPnm).few_bits);
}

std::string Sized(const std::string& bytes, bool big_endian) {
  const auto count = static_cast<char>(bytes.size() + (big_endian ? 8 : 0));
  return big_endian ? std::string("\0\0\0", 3) + count : count + std::string("\0\0\0", 3);
}

TEST(StoredForm, ExifOfWebpAndJpeg2000TellsTheOrientation) {
  const std::string pixels =
      std::string("VP8X\x02\0\0\0ab", 10) + std::string("VP8L\1\0\0\0a\0", 10);
  const std::string boxes("\0\0\0\x0cjP  \r\n\x87\n", 12);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (const std::string& mark : {std::string(), std::string("Exif\0\0", 6)}) {
      const std::string exif = mark + ExifOf(orientation);
      const std::string webp = "RIFF....WEBP" + pixels + "EXIF" + Sized(exif, false) + exif;
      EXPECT_EQ(ReadStoredForm(webp, FileFormat::kWebp).exif.orientation, orientation);
      EXPECT_FALSE(ReadStoredForm(webp, FileFormat::kWebp).animated);
      const std::string content = "JpgTiffExif->JP2" + exif;
      const std::string jp2 = boxes + Sized(content, true) + "uuid" + content;
      EXPECT_EQ(ReadStoredForm(jp2, FileFormat::kJpeg2000).exif.orientation, orientation);
      for (size_t cut = 12; cut < webp.size(); ++cut) {
        ReadStoredForm(webp.substr(0, cut), FileFormat::kWebp);
      }
      for (size_t cut = 0; cut < jp2.size(); ++cut) {
        ReadStoredForm(jp2.substr(0, cut), FileFormat::kJpeg2000);
      }
    }
  }
  EXPECT_EQ(ReadStoredForm("RIFF....WEBP" + pixels, FileFormat::kWebp).exif.orientation, 1);
  const std::string animated = "RIFF....WEBP" + pixels + std::string("ANIM\1\0\0\0a\0", 10);
  EXPECT_TRUE(ReadStoredForm(animated, FileFormat::kWebp).animated);
}

std::string MessageOf(const std::string& file) {
  const Result<int> bits = ReadJpeg2000Bits(file);
  return bits.ok() ? "read" : std::string(bits.status().message());
}

TEST(Jpeg2000Form, DepthIsThatOfTheCodestream) {
  for (int channels : {1, 3}) {
    const std::string file =
        Jpeg2000(MakeImage({64, 64}, channels, [](int, int, int) { return 1; }));
    EXPECT_EQ(*ReadJpeg2000Bits(file), 8);
    EXPECT_EQ(*ReadJpeg2000Bits(WithDepth(file, channels, 11)), 12);
    EXPECT_EQ(*ReadJpeg2000Bits(WithDepth(file, channels, 15)), 16);
    for (size_t cut = 0; cut < file.size(); ++cut) (void)ReadJpeg2000Bits(file.substr(0, cut));
  }
}

TEST(Jpeg2000Form, WhatWouldComeOutWrongIsNamed) {
  const std::string file = Jpeg2000(MakeImage({64, 64}, 3, [](int, int, int) { return 1; }));
  const size_t stream = file.find("\xff\x4f\xff\x51"), colors = file.find("colr") + 4;
  ASSERT_EQ(file[colors + 6], 16);
  const auto with = [&](size_t place, char byte) {
    std::string changed = file;
    changed.at(place) = byte;
    return MessageOf(changed);
  };
  EXPECT_EQ(MessageOf(file), "read");
  EXPECT_NE(with(colors + 6, 18).find("YCbCr"), std::string::npos);
  EXPECT_NE(with(colors + 6, 14).find("space 14"), std::string::npos);
  EXPECT_NE(with(colors + 6, 17).find("gray of 3 components"), std::string::npos);
  EXPECT_NE(with(stream + 45, 8).find("several depths"), std::string::npos);
  EXPECT_NE(with(stream + 46, 2).find("lower resolution"), std::string::npos);
  EXPECT_NE(MessageOf(WithDepth(file, 3, 4)).find("samples of 5 bits"), std::string::npos);
  EXPECT_NE(MessageOf(WithDepth(file, 3, 0x87)).find("with a sign"), std::string::npos);
}

}  // namespace
}  // namespace shardmill
