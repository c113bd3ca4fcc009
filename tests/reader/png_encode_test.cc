#include "reader/png_encode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include <cstring>
#include <fstream>
#include <random>

namespace shardmill {
namespace {

std::vector<uint8_t> RandomBytes(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

struct Decoded {
  int64_t height = 0;
  int64_t width = 0;
  std::vector<uint8_t> rgb;
};

// Decodes with libpng's simplified reader, whatever the colour type, to RGB.
Decoded DecodeToRgb(const std::string& bytes) {
  png_image image;
  std::memset(&image, 0, sizeof(image));
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()), 0);
  image.format = PNG_FORMAT_RGB;
  Decoded decoded;
  decoded.height = image.height;
  decoded.width = image.width;
  decoded.rgb.resize(PNG_IMAGE_SIZE(image));
  EXPECT_NE(png_image_finish_read(&image, nullptr, decoded.rgb.data(), 0, nullptr), 0)
      << image.message;
  return decoded;
}

PngPicture MakePicture(int64_t height, int64_t width, PngColor color,
                       const std::vector<uint8_t>& pixels) {
  PngPicture picture;
  picture.height = height;
  picture.width = width;
  picture.color = color;
  picture.pixels = pixels.data();
  return picture;
}

TEST(EncodePng, RgbPixelsComeBack) {
  for (const auto& [height, width] : {std::pair{1, 1}, {1, 70}, {70, 1}, {37, 53}}) {
    const std::vector<uint8_t> pixels = RandomBytes(height * width * 3, 7);
    const auto bytes = EncodePng(MakePicture(height, width, PngColor::kRgb, pixels));
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    const Decoded decoded = DecodeToRgb(*bytes);
    EXPECT_EQ(decoded.height, height);
    EXPECT_EQ(decoded.width, width);
    EXPECT_EQ(decoded.rgb, pixels);
  }
}

TEST(EncodePng, GrayPixelsComeBackOnAllChannels) {
  const std::vector<uint8_t> pixels = RandomBytes(9 * 31, 8);
  const auto bytes = EncodePng(MakePicture(9, 31, PngColor::kGray, pixels));
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  const Decoded decoded = DecodeToRgb(*bytes);
  ASSERT_EQ(decoded.rgb.size(), pixels.size() * 3);
  for (size_t i = 0; i < decoded.rgb.size(); ++i) ASSERT_EQ(decoded.rgb[i], pixels[i / 3]) << i;
}

TEST(EncodePng, PaletteIndexesBecomeTheirColors) {
  std::vector<uint8_t> pixels = RandomBytes(16 * 16, 9);
  for (uint8_t& pixel : pixels) pixel %= 3;
  PngPicture picture = MakePicture(16, 16, PngColor::kPalette, pixels);
  picture.palette = {0x000000, 0x8040ff, 0x12ab34};
  const auto bytes = EncodePng(picture);
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  const Decoded decoded = DecodeToRgb(*bytes);
  ASSERT_EQ(decoded.rgb.size(), pixels.size() * 3);
  for (size_t i = 0; i < pixels.size(); ++i) {
    const uint8_t* rgb = &decoded.rgb[i * 3];
    ASSERT_EQ(uint32_t{rgb[0]} << 16 | uint32_t{rgb[1]} << 8 | rgb[2], picture.palette[pixels[i]]);
  }
}

// With the plain reader: the simplified one converts 16 bits.
TEST(EncodePng, SixteenBitsComeBackAsTheyAre) {
  const std::vector<uint8_t> pixels = {0x01, 0x2C, 0xFF, 0xFF, 0x00, 0x05};
  const auto bytes = EncodePng(MakePicture(1, 3, PngColor::kGray16, pixels));
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  std::string_view left = *bytes;
  png_set_read_fn(png, &left, [](png_structp reader, png_bytep to, size_t size) {
    auto* from = static_cast<std::string_view*>(png_get_io_ptr(reader));
    ASSERT_LE(size, from->size());
    std::memcpy(to, from->data(), size);
    from->remove_prefix(size);
  });
  png_read_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  EXPECT_EQ(png_get_bit_depth(png, info), 16);
  EXPECT_EQ(png_get_color_type(png, info), PNG_COLOR_TYPE_GRAY);
  const png_bytep row = png_get_rows(png, info)[0];
  EXPECT_EQ(std::vector<uint8_t>(row, row + 6), pixels);
  png_destroy_read_struct(&png, &info, nullptr);
}

TEST(WritePng, SoftwareIsKeptAndFound) {
  const std::string path = testing::TempDir() + "/software.png";
  const std::vector<uint8_t> pixels(64 * 64);
  PngPicture picture = MakePicture(64, 64, PngColor::kPalette, pixels);
  picture.palette.assign(256, 0x123456);
  ASSERT_TRUE(WritePng(path, picture).ok());
  EXPECT_FALSE(HasPngSoftware(path, "some program"));
  picture.software = "some program";
  ASSERT_TRUE(WritePng(path, picture).ok());
  EXPECT_TRUE(HasPngSoftware(path, "some program"));
  EXPECT_FALSE(HasPngSoftware(path, "some prog"));
  EXPECT_FALSE(HasPngSoftware(path, "another program"));
  EXPECT_FALSE(HasPngSoftware(testing::TempDir() + "/missing.png", "some program"));
  std::ofstream(path) << "tEXtSoftware\0some program";
  EXPECT_FALSE(HasPngSoftware(path, "some program"));
}

TEST(EncodePng, SamePictureGivesSameBytes) {
  const std::vector<uint8_t> pixels = RandomBytes(64 * 64 * 3, 10);
  const PngPicture picture = MakePicture(64, 64, PngColor::kRgb, pixels);
  EXPECT_EQ(*EncodePng(picture), *EncodePng(picture));
}

TEST(EncodePng, PixelOutsideThePaletteIsRefused) {
  const std::vector<uint8_t> pixels = {0, 1, 2, 1};
  PngPicture picture = MakePicture(2, 2, PngColor::kPalette, pixels);
  picture.palette = {0x111111, 0x222222};
  const auto bytes = EncodePng(picture);
  ASSERT_FALSE(bytes.ok());
  EXPECT_EQ(bytes.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(bytes.status().message(), testing::HasSubstr("pixel value 2"));
}

TEST(EncodePng, PaletteOfWrongSizeIsRefused) {
  const std::vector<uint8_t> pixels = {0};
  PngPicture picture = MakePicture(1, 1, PngColor::kPalette, pixels);
  EXPECT_EQ(EncodePng(picture).status().code(), StatusCode::kInvalidArgument);
  picture.palette.assign(257, 0);
  EXPECT_EQ(EncodePng(picture).status().code(), StatusCode::kInvalidArgument);
}

TEST(EncodePng, SizesOutsideTheLimitsAreRefused) {
  const std::vector<uint8_t> pixels = {0, 0, 0};
  for (const auto& [height, width] : {std::pair{0, 1}, {1, 0}, {-1, 1}, {1, 1'000'001}}) {
    const auto bytes = EncodePng(MakePicture(height, width, PngColor::kRgb, pixels));
    EXPECT_EQ(bytes.status().code(), StatusCode::kInvalidArgument) << height << " " << width;
  }
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(WritePng, ReplacesAnOlderPicture) {
  const std::string path = testing::TempDir() + "/replaced.png";
  const std::vector<uint8_t> pixels = RandomBytes(12, 1);
  ASSERT_TRUE(WritePng(path, MakePicture(2, 6, PngColor::kGray, pixels)).ok());
  const PngPicture second = MakePicture(2, 2, PngColor::kRgb, pixels);
  ASSERT_TRUE(WritePng(path, second).ok());
  EXPECT_EQ(ReadAll(path), *EncodePng(second));
}

TEST(WritePng, FileThatIsNoPngIsLeftAlone) {
  const std::string path = testing::TempDir() + "/manifest.json";
  std::ofstream(path) << "{\"format_version\": 1}";
  const std::vector<uint8_t> pixels = RandomBytes(12, 1);
  const Status status = WritePng(path, MakePicture(2, 2, PngColor::kRgb, pixels));
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), testing::HasSubstr(path));
  EXPECT_EQ(ReadAll(path), "{\"format_version\": 1}");
}

TEST(WritePng, FolderInThePlaceOfTheFileIsRefused) {
  const std::vector<uint8_t> pixels = RandomBytes(12, 1);
  const PngPicture picture = MakePicture(2, 2, PngColor::kRgb, pixels);
  EXPECT_EQ(WritePng(testing::TempDir(), picture).code(), StatusCode::kInvalidArgument);
}

TEST(WritePng, MissingFolderIsAnErrorThatNamesThePath) {
  const std::string path = testing::TempDir() + "/no-such-folder/picture.png";
  const std::vector<uint8_t> pixels = RandomBytes(12, 1);
  const Status status = WritePng(path, MakePicture(2, 2, PngColor::kRgb, pixels));
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), testing::HasSubstr("no-such-folder"));
}

}  // namespace
}  // namespace shardmill
