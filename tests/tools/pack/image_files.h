// Image files made for the tests of the packer, and folders to put them in.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reader/console/units.h"

namespace shardmill {

// Samples of an image: rows, then pixels, then channels.
struct TestImage {
  ImageSize size;
  int channels = 3;               // 1 gray, 3 RGB, 4 RGBA
  std::vector<uint16_t> samples;  // 8-bit values, or 16-bit ones for WidePng
};

// Every sample is value(y, x, channel).
TestImage MakeImage(ImageSize size, int channels,
                    const std::function<int(int y, int x, int channel)>& value);

std::string Png(const TestImage& image);
std::string WidePng(const TestImage& image);    // 16 bits per sample
std::string OneBitPng(const TestImage& image);  // gray; anything but 0 is 1
std::string PalettePng(ImageSize size, const std::vector<uint8_t>& indices,
                       const std::vector<uint32_t>& palette);
std::string Jpeg(const TestImage& image, int quality);
std::string Bmp(const TestImage& image);
std::string Webp(const TestImage& image);  // lossless
std::string Jpeg2000(const TestImage& image);
// The same file, which says that its samples have `depth`, as the format counts: bits - 1, and 128
// for samples with a sign.
std::string WithDepth(std::string jpeg2000, int channels, int depth);
// A TIFF with a page for each of `images`.
std::string Tiff(const std::vector<TestImage>& images);

// A photograph-like image: smooth, with some texture.
TestImage Photo(ImageSize size, uint64_t seed);

// EXIF data that hold this orientation, from their TIFF header on.
std::string ExifOf(int orientation);
// `jpeg` with an EXIF segment that holds this orientation.
std::string WithOrientation(const std::string& jpeg, int orientation);

// `png` with a chunk put before its image data.
std::string WithChunk(const std::string& png, const std::string& type, const std::string& content);

// `png` with a chunk put behind its image data.
std::string WithLateChunk(const std::string& png, const std::string& type,
                          const std::string& content);

// A new empty folder below the test's temporary one.
class TestFolder {
 public:
  explicit TestFolder(const std::string& name);

  const std::string& path() const { return path_; }
  std::string At(const std::string& relative) const { return path_ + "/" + relative; }
  // Writes a file, and the folders above it.
  void Write(const std::string& relative, const std::string& content) const;
  void MakeFolder(const std::string& relative) const;
  std::string Read(const std::string& relative) const;
  bool Has(const std::string& relative) const;
  // Paths of all regular files, sorted.
  std::vector<std::string> Files() const;

 private:
  std::string path_;
};

}  // namespace shardmill
