#include "tools/pack/decode/stored_form.h"

#include <gtest/gtest.h>

#include "tests/tools/pack/image_files.h"

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

}  // namespace
}  // namespace shardmill
