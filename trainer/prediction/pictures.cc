#include "trainer/prediction/pictures.h"

#include <algorithm>
#include <cmath>

#include "reader/png_encode.h"

namespace shardmill {
namespace {

uint32_t Pack(double red, double green, double blue) {
  const auto byte = [](double value) {
    return static_cast<uint32_t>(std::lround(255 * std::clamp(value, 0.0, 1.0)));
  };
  return byte(red) << 16 | byte(green) << 8 | byte(blue);
}

// Hues a golden angle apart: any number of them is spread evenly.
uint32_t GeneratedColor(size_t k) {
  const double hue = std::fmod(0.09 + 0.6180339887498949 * static_cast<double>(k), 1.0);
  const double value = k % 2 == 0 ? 0.9 : 0.65;
  const auto channel = [&](double shift) {
    const double x = std::abs(std::fmod(hue + shift, 1.0) * 6 - 3) - 1;
    return value * (0.25 + 0.75 * std::clamp(x, 0.0, 1.0));
  };
  return Pack(channel(0), channel(2.0 / 3), channel(1.0 / 3));
}

uint8_t Channel(uint32_t color, int channel) {
  return static_cast<uint8_t>(color >> (16 - 8 * channel));
}

Status WriteRgb(const std::string& path, const std::vector<uint8_t>& pixels, int64_t height,
                int64_t width) {
  PngPicture picture;
  picture.height = height;
  picture.width = width;
  picture.color = PngColor::kRgb;
  picture.pixels = pixels.data();
  picture.software = kPictureSoftware;
  return WritePng(path, picture);
}

// One element of an image as it is stored.
double ElementOf(const ImageBatch& images, int64_t at) {
  if (images.type == ImageType::kU8) return static_cast<const uint8_t*>(images.data)[at];
  if (images.type == ImageType::kU16) return static_cast<const uint16_t*>(images.data)[at];
  return static_cast<const float*>(images.data)[at];
}

}  // namespace

std::vector<uint32_t> ClassColors(const std::vector<ClassInfo>& classes) {
  std::vector<uint32_t> colors;
  for (size_t k = 0; k < classes.size(); ++k) {
    colors.push_back(classes[k].color ? *classes[k].color : GeneratedColor(k));
  }
  return colors;
}

Status WriteClassMap(const std::string& path, const std::vector<uint16_t>& classes, int64_t height,
                     int64_t width, const std::vector<uint32_t>& colors, ClassMapForm form) {
  PngPicture picture;
  picture.height = height;
  picture.width = width;
  picture.software = kPictureSoftware;
  std::vector<uint8_t> pixels;
  if (form == ClassMapForm::kGray16) {
    pixels.reserve(2 * classes.size());
    for (const uint16_t k : classes) {
      pixels.push_back(static_cast<uint8_t>(k >> 8));
      pixels.push_back(static_cast<uint8_t>(k));
    }
    picture.color = PngColor::kGray16;
  } else {
    const uint16_t highest = *std::max_element(classes.begin(), classes.end());
    SHARDMILL_CHECK(highest < 256 && colors.size() <= 256);
    pixels.assign(classes.begin(), classes.end());
    picture.color = PngColor::kPalette;
    picture.palette = colors;
    if (picture.palette.size() <= highest) picture.palette.resize(highest + size_t{1}, 0);
  }
  picture.pixels = pixels.data();
  return WritePng(path, picture);
}

std::vector<uint8_t> ToRgb(const ImageBatch& images, int64_t row) {
  const int64_t pixels = images.shape.h * images.shape.w, channels = images.shape.c;
  const int64_t first = row * pixels * channels;
  double low = 0, high = images.type == ImageType::kU16 ? 65535 : 255;
  if (images.type == ImageType::kF32) {
    low = high = ElementOf(images, first);
    for (int64_t i = 0; i < pixels * channels; ++i) {
      low = std::min(low, ElementOf(images, first + i));
      high = std::max(high, ElementOf(images, first + i));
    }
  }
  const double scale = high > low ? 255 / (high - low) : 0;
  std::vector<uint8_t> rgb;
  rgb.reserve(3 * pixels);
  for (int64_t p = 0; p < pixels; ++p) {
    for (int64_t c = 0; c < 3; ++c) {
      const double value = ElementOf(images, first + p * channels + (channels < 3 ? 0 : c));
      rgb.push_back(static_cast<uint8_t>(std::clamp((value - low) * scale, 0.0, 255.0)));
    }
  }
  return rgb;
}

std::vector<uint8_t> Tinted(const std::vector<uint8_t>& rgb, const std::vector<uint16_t>& classes,
                            const std::vector<uint32_t>& colors) {
  std::vector<uint8_t> pixels = rgb;
  for (size_t i = 0; i < rgb.size(); ++i) {
    const uint16_t k = classes[i / 3];
    if (k >= colors.size()) continue;
    pixels[i] = static_cast<uint8_t>((rgb[i] + Channel(colors[k], static_cast<int>(i % 3))) / 2);
  }
  return pixels;
}

Status WriteOverlay(const std::string& path, const std::vector<uint8_t>& rgb,
                    const std::vector<uint16_t>& classes, int64_t height, int64_t width,
                    const std::vector<uint32_t>& colors) {
  return WriteRgb(path, Tinted(rgb, classes, colors), height, width);
}

Status WriteConfusion(const std::string& path, const ConfusionMatrix& matrix) {
  const int classes = matrix.classes();
  const int64_t cell = std::clamp<int64_t>(1024 / classes, 1, 40);
  const int64_t size = cell * classes;
  std::vector<uint8_t> pixels;
  pixels.reserve(3 * size * size);
  for (int64_t y = 0; y < size; ++y) {
    const int label = static_cast<int>(y / cell);
    double total = 0;
    for (int k = 0; k < classes; ++k) total += static_cast<double>(matrix.count(label, k));
    for (int64_t x = 0; x < size; ++x) {
      const auto count = static_cast<double>(matrix.count(label, static_cast<int>(x / cell)));
      // The root makes small shares visible.
      const double share = total > 0 ? std::sqrt(count / total) : 0;
      const bool is_line = cell >= 8 && (y % cell == 0 || x % cell == 0);
      const uint32_t color = is_line ? 0xD0D0D0
                             : total == 0
                                 ? 0xE4E4E4
                                 : Pack(1 - 0.97 * share, 1 - 0.81 * share, 1 - 0.58 * share);
      for (int c = 0; c < 3; ++c) pixels.push_back(Channel(color, c));
    }
  }
  return WriteRgb(path, pixels, size, size);
}

}  // namespace shardmill
