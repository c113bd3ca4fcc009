// The PngSuite, where its folder is named by the environment variable SHARDMILL_PNGSUITE: files
// in png/, and in json/ the pixels of each as one list of red, green, blue, alpha numbers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tools/pack/decode/image_decode.h"
#include "tools/pack/decode/png_fast.h"

namespace shardmill {
namespace {

constexpr int64_t kMaxPixels = 1'000'000;

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::vector<int> ReadNumbers(const std::filesystem::path& path) {
  std::vector<int> numbers;
  const std::string text = ReadFile(path);
  for (size_t i = 0; i < text.size();) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) {
      ++i;
      continue;
    }
    int number = 0;
    for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0; ++i) {
      number = number * 10 + (text[i] - '0');
    }
    numbers.push_back(number);
  }
  return numbers;
}

int Sample(const std::vector<uint8_t>& pixels, const PngPixelLayout& layout, int64_t pixel,
           int channel) {
  const int64_t at = pixel * layout.channels + channel;
  if (layout.sample_bytes == 1) return pixels[at];
  uint16_t sample;
  std::memcpy(&sample, &pixels[2 * at], 2);
  return sample;
}

// One pixel as red, green, blue, alpha of the full range of 8 or 16 bits.
std::vector<int> ToRgba(const PngChunks& png, const std::vector<int>& samples) {
  if (png.color_type == PngColorType::kPalette) {
    const PngPaletteEntry& color = png.palette.at(samples[0]);
    return {color.red, color.green, color.blue, color.alpha};
  }
  const int full = png.bit_depth == 16 ? 65535 : 255;
  const int scale = png.bit_depth < 8 ? 255 / ((1 << png.bit_depth) - 1) : 1;
  bool transparent = png.has_transparent_color;
  for (size_t i = 0; i < samples.size(); ++i) {
    transparent = transparent && i < 3 && samples[i] == png.transparent_color[i];
  }
  const bool gray = samples.size() <= 2;
  const int alpha = samples.size() % 2 == 0 ? samples.back() : transparent ? 0 : full;
  if (gray) return {samples[0] * scale, samples[0] * scale, samples[0] * scale, alpha};
  return {samples[0], samples[1], samples[2], alpha};
}

std::vector<int> AllRgba(const PngFastDecoder& decoder, const std::vector<uint8_t>& pixels) {
  const PngPixelLayout layout = decoder.layout();
  std::vector<int> numbers;
  for (int64_t pixel = 0; pixel < layout.height * layout.width; ++pixel) {
    std::vector<int> samples;
    for (int c = 0; c < layout.channels; ++c) {
      samples.push_back(Sample(pixels, layout, pixel, c));
    }
    for (const int number : ToRgba(decoder.png(), samples)) numbers.push_back(number);
  }
  return numbers;
}

class PngSuite : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("SHARDMILL_PNGSUITE");
    if (folder == nullptr) GTEST_SKIP() << "SHARDMILL_PNGSUITE does not name the PngSuite";
    folder_ = folder;
    ASSERT_TRUE(std::filesystem::is_directory(folder_ / "png")) << folder_;
  }

  void CheckBroken(const std::string& file) {
    Status status = decoder_.Open(file, kMaxPixels);
    if (status.ok()) {
      ASSERT_EQ(decoder_.NotHandled(), "");
      std::vector<uint8_t> pixels(decoder_.layout().Bytes());
      status = decoder_.ReadPixels(pixels.data());
    }
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    SourceImage image;
    EXPECT_EQ(ImageDecoder().Decode(file, kMaxPixels, &image).code(), StatusCode::kDataLoss);
  }

  void CheckSound(const std::string& file, const std::string& stem) {
    const Status status = decoder_.Open(file, kMaxPixels);
    ASSERT_TRUE(status.ok()) << status.ToString();
    const bool interlaced = stem[3] == 'i';
    ASSERT_EQ(decoder_.NotHandled(), interlaced ? "interlaced" : "");
    std::vector<uint8_t> pixels(decoder_.layout().Bytes());
    if (!interlaced) {
      ASSERT_TRUE(decoder_.ReadPixels(pixels.data()).ok());
    }
    // The packer's own way, which goes elsewhere with interlaced files, gives the same samples.
    SourceImage image;
    ASSERT_TRUE(ImageDecoder().Decode(file, kMaxPixels, &image).ok());
    if (interlaced) pixels = image.samples;
    ASSERT_EQ(image.samples, pixels);
    const std::vector<int> expected = ReadNumbers(folder_ / "json" / (stem + ".json"));
    ASSERT_FALSE(expected.empty());
    EXPECT_EQ(AllRgba(decoder_, pixels), expected);
    ++compared_;
  }

  std::filesystem::path folder_;
  PngFastDecoder decoder_;
  int compared_ = 0;
};

TEST_F(PngSuite, SoundFilesHaveTheExpectedPixelsAndBrokenOnesAreRefused) {
  int broken = 0;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "png")) {
    const std::string stem = entry.path().stem().string();
    SCOPED_TRACE(stem);
    ++files;
    if (stem[0] == 'x') {
      CheckBroken(ReadFile(entry.path()));
      ++broken;
    } else {
      CheckSound(ReadFile(entry.path()), stem);
    }
  }
  EXPECT_EQ(files, 175);
  EXPECT_EQ(broken, 14);
  EXPECT_EQ(compared_, files - broken);
}

}  // namespace
}  // namespace shardmill
