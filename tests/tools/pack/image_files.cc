#include "tests/tools/pack/image_files.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "opencv2/core.hpp"
#include "opencv2/imgcodecs.hpp"
#include "reader/png_encode.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

// The image in OpenCV's order of channels.
cv::Mat ToMat(const TestImage& image, int depth) {
  cv::Mat mat(static_cast<int>(image.size.height), static_cast<int>(image.size.width),
              CV_MAKETYPE(depth, image.channels));
  size_t i = 0;
  for (int y = 0; y < mat.rows; ++y) {
    for (int x = 0; x < mat.cols; ++x) {
      for (int c = 0; c < image.channels; ++c, ++i) {
        const int place = image.channels >= 3 && c < 3 ? 2 - c : c;
        const int at = x * image.channels + place;
        if (depth == CV_8U) {
          mat.ptr<uint8_t>(y)[at] = static_cast<uint8_t>(image.samples[i]);
        } else {
          mat.ptr<uint16_t>(y)[at] = image.samples[i];
        }
      }
    }
  }
  return mat;
}

std::string Encode(const char* extension, const cv::Mat& mat, const std::vector<int>& options) {
  std::vector<uint8_t> bytes;
  EXPECT_TRUE(cv::imencode(extension, mat, bytes, options));
  return std::string(bytes.begin(), bytes.end());
}

void AppendBigEndian(uint32_t value, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>(value >> shift));
}

}  // namespace

TestImage MakeImage(ImageSize size, int channels,
                    const std::function<int(int y, int x, int channel)>& value) {
  TestImage image = {size, channels, {}};
  for (int y = 0; y < static_cast<int>(size.height); ++y) {
    for (int x = 0; x < static_cast<int>(size.width); ++x) {
      for (int c = 0; c < channels; ++c) {
        image.samples.push_back(static_cast<uint16_t>(value(y, x, c)));
      }
    }
  }
  return image;
}

std::string Png(const TestImage& image) { return Encode(".png", ToMat(image, CV_8U), {}); }
std::string WidePng(const TestImage& image) { return Encode(".png", ToMat(image, CV_16U), {}); }
std::string OneBitPng(const TestImage& image) {
  return Encode(".png", ToMat(image, CV_8U) * 255, {cv::IMWRITE_PNG_BILEVEL, 1});
}
std::string Jpeg(const TestImage& image, int quality) {
  return Encode(".jpg", ToMat(image, CV_8U), {cv::IMWRITE_JPEG_QUALITY, quality});
}
std::string Bmp(const TestImage& image) { return Encode(".bmp", ToMat(image, CV_8U), {}); }
std::string Webp(const TestImage& image) {
  return Encode(".webp", ToMat(image, CV_8U), {cv::IMWRITE_WEBP_QUALITY, 101});
}
std::string Jpeg2000(const TestImage& image) { return Encode(".jp2", ToMat(image, CV_8U), {}); }

std::string WithDepth(std::string jpeg2000, int channels, int depth) {
  const size_t header = jpeg2000.find("ihdr"), stream = jpeg2000.find("\xff\x4f\xff\x51");
  jpeg2000.at(header + 14) = static_cast<char>(depth);
  for (int i = 0; i < channels; ++i) {
    jpeg2000.at(stream + 42 + 3 * static_cast<size_t>(i)) = static_cast<char>(depth);
  }
  return jpeg2000;
}

std::string Tiff(const std::vector<TestImage>& images) {
  std::vector<cv::Mat> pages;
  for (const TestImage& image : images) pages.push_back(ToMat(image, CV_8U));
  const std::string path = testing::TempDir() + "/pages.tif";
  EXPECT_TRUE(cv::imwritemulti(path, pages));
  std::ifstream stream(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::string PalettePng(ImageSize size, const std::vector<uint8_t>& indices,
                       const std::vector<uint32_t>& palette) {
  PngPicture picture;
  picture.height = size.height;
  picture.width = size.width;
  picture.color = PngColor::kPalette;
  picture.pixels = indices.data();
  picture.palette = palette;
  Result<std::string> png = EncodePng(picture);
  EXPECT_TRUE(png.ok()) << png.status().ToString();
  return png.ok() ? *png : "";
}

TestImage Photo(ImageSize size, uint64_t seed) {
  RandomStream random(seed);
  return MakeImage(size, 3, [&](int y, int x, int c) {
    return static_cast<int>((y * 3 + x * 2 + c * 40 + random.Below(9)) % 256);
  });
}

std::string ExifOf(int orientation) {
  std::string exif("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0", 19);
  exif.push_back(static_cast<char>(orientation));
  exif.append(6, '\0');
  return exif;
}

std::string WithOrientation(const std::string& jpeg, int orientation) {
  const std::string exif = std::string("Exif\0\0", 6) + ExifOf(orientation);
  std::string segment = "\xff\xe1";
  segment.push_back(static_cast<char>((exif.size() + 2) >> 8));
  segment.push_back(static_cast<char>(exif.size() + 2));
  return jpeg.substr(0, 2) + segment + exif + jpeg.substr(2);
}

namespace {

std::string PngChunk(const std::string& type, const std::string& content) {
  std::string chunk;
  AppendBigEndian(static_cast<uint32_t>(content.size()), &chunk);
  const std::string checked = type + content;
  chunk += checked;
  AppendBigEndian(static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(checked.data()),
                                              static_cast<uInt>(checked.size()))),
                  &chunk);
  return chunk;
}

}  // namespace

std::string WithChunk(const std::string& png, const std::string& type, const std::string& content) {
  constexpr size_t kBehindHeader = 33;
  return png.substr(0, kBehindHeader) + PngChunk(type, content) + png.substr(kBehindHeader);
}

std::string WithLateChunk(const std::string& png, const std::string& type,
                          const std::string& content) {
  const size_t end = png.size() - 12;
  return png.substr(0, end) + PngChunk(type, content) + png.substr(end);
}

TestFolder::TestFolder(const std::string& name) : path_(testing::TempDir() + "/" + name) {
  fs::remove_all(path_);
  fs::create_directories(path_);
}

void TestFolder::Write(const std::string& relative, const std::string& content) const {
  fs::create_directories(fs::path(At(relative)).parent_path());
  std::ofstream stream(At(relative), std::ios::binary);
  stream << content;
  EXPECT_TRUE(stream.good()) << relative;
}

void TestFolder::MakeFolder(const std::string& relative) const {
  fs::create_directories(At(relative));
}

std::string TestFolder::Read(const std::string& relative) const {
  std::ifstream stream(At(relative), std::ios::binary);
  EXPECT_TRUE(stream.good()) << relative;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

bool TestFolder::Has(const std::string& relative) const { return fs::exists(At(relative)); }

std::vector<std::string> TestFolder::Files() const {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path_)) {
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), path_).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace shardmill
