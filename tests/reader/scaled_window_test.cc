#include "reader/scaled_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace shardmill {
namespace {

constexpr int64_t kHeight = 9;
constexpr int64_t kWidth = 14;

template <typename Sample>
std::vector<Sample> Noise(uint64_t samples, uint64_t levels) {
  std::mt19937_64 random(7);
  std::vector<Sample> noise(samples);
  for (Sample& sample : noise) sample = static_cast<Sample>(random() % levels);
  return noise;
}

PixelWindow Window(int64_t scaled_height, int64_t scaled_width) {
  PixelWindow window;
  window.height = 20;
  window.width = 25;
  window.y = -2;
  window.x = -3;
  window.scaled_height = scaled_height;
  window.scaled_width = scaled_width;
  return window;
}

// The place in the scaled image that a pixel of the window shows.
int64_t Place(int64_t at, int64_t begin, int64_t length, bool flipped) {
  return begin + (flipped ? length - 1 - at : at);
}

// The value between two neighbours of a line, the border going on, as the textbook has it.
template <typename Value>
double Between(double position, int64_t side, const Value& value) {
  const double low = std::floor(position);
  const auto at = [&](double i) {
    return value(std::clamp<int64_t>(static_cast<int64_t>(i), 0, side - 1));
  };
  return at(low) + (position - low) * (at(low + 1) - at(low));
}

template <typename Sample, int64_t kChannels = 3>
void ExpectLinear(DType dtype, uint64_t levels, double tolerance) {
  const auto image = Noise<Sample>(kHeight * kWidth * kChannels, levels);
  std::vector<uint8_t> pad(sizeof(Sample), 0);
  ScaledWindowCopier copier;
  for (const auto& [scaled_height, scaled_width] :
       {std::pair<int64_t, int64_t>{9, 14}, {18, 28}, {5, 7}, {13, 11}}) {
    PixelWindow window = Window(scaled_height, scaled_width);
    for (int flips = 0; flips < 4; ++flips) {
      window.flip_horizontal = (flips & 1) != 0;
      window.flip_vertical = (flips & 2) != 0;
      std::vector<Sample> out(window.height * window.width * kChannels, 1);
      copier.CopyLinear({reinterpret_cast<const uint8_t*>(image.data()), kHeight, kWidth,
                         kChannels * sizeof(Sample)},
                        dtype, window, pad, reinterpret_cast<uint8_t*>(out.data()));
      for (int64_t i = 0; i < window.height; ++i) {
        const int64_t y = Place(i, window.y, window.height, window.flip_vertical);
        const double row = (static_cast<double>(y) + 0.5) * kHeight / scaled_height - 0.5;
        for (int64_t j = 0; j < window.width; ++j) {
          const int64_t x = Place(j, window.x, window.width, window.flip_horizontal);
          const double column = (static_cast<double>(x) + 0.5) * kWidth / scaled_width - 0.5;
          const bool inside = y >= 0 && y < scaled_height && x >= 0 && x < scaled_width;
          for (int64_t c = 0; c < kChannels; ++c) {
            const double expected =
                inside ? Between(row, kHeight,
                                 [&](int64_t from_y) {
                                   return Between(column, kWidth, [&](int64_t from_x) {
                                     return static_cast<double>(
                                         image[(from_y * kWidth + from_x) * kChannels + c]);
                                   });
                                 })
                       : 0;
            ASSERT_NEAR(static_cast<double>(out[(i * window.width + j) * kChannels + c]), expected,
                        tolerance)
                << i << " " << j;
          }
        }
      }
    }
  }
}

// Weights have 8 bits along each side: positions are rounded down by less than 2^-8 pixels.
TEST(ScaledWindow, ImagesAreInterpolatedBetweenFourPixels) {
  ExpectLinear<uint8_t>(DType::kU8, 256, 0.5 + 2 * 255.0 / 256);
  ExpectLinear<uint16_t>(DType::kU16, 65536, 0.5 + 2 * 65535.0 / 256);
  ExpectLinear<float>(DType::kF32, 1000, 2 * 1000.0 / 256);
  ExpectLinear<uint8_t, 1>(DType::kU8, 256, 0.5 + 2 * 255.0 / 256);
  ExpectLinear<float, 5>(DType::kF32, 1000, 2 * 1000.0 / 256);
}

TEST(ScaledWindow, TheLargestLevelsDoNotOverflow) {
  const std::vector<uint16_t> image(kHeight * kWidth, 65535);
  const PixelWindow window = Window(18, 25);
  std::vector<uint16_t> out(window.height * window.width);
  ScaledWindowCopier copier;
  copier.CopyLinear({reinterpret_cast<const uint8_t*>(image.data()), kHeight, kWidth, 2},
                    DType::kU16, window, {255, 255}, reinterpret_cast<uint8_t*>(out.data()));
  for (const uint16_t level : out) ASSERT_EQ(level, 65535);
}

TEST(ScaledWindow, LabelsAreThePixelsWhoseSquareHoldsTheCentre) {
  const auto labels = Noise<uint16_t>(kHeight * kWidth, 50000);
  ScaledWindowCopier copier;
  for (const auto& [scaled_height, scaled_width] :
       {std::pair<int64_t, int64_t>{9, 14}, {18, 28}, {5, 7}, {13, 11}, {1, 1}}) {
    PixelWindow window = Window(scaled_height, scaled_width);
    window.flip_horizontal = scaled_height == 13;
    window.flip_vertical = scaled_height == 18;
    std::vector<uint16_t> out(window.height * window.width);
    copier.CopyNearest({reinterpret_cast<const uint8_t*>(labels.data()), kHeight, kWidth, 2},
                       window, {0xFF, 0xFF}, reinterpret_cast<uint8_t*>(out.data()));
    for (int64_t i = 0; i < window.height; ++i) {
      const int64_t y = Place(i, window.y, window.height, window.flip_vertical);
      for (int64_t j = 0; j < window.width; ++j) {
        const int64_t x = Place(j, window.x, window.width, window.flip_horizontal);
        const bool inside = y >= 0 && y < scaled_height && x >= 0 && x < scaled_width;
        const int64_t from = (2 * y + 1) * kHeight / (2 * scaled_height) * kWidth +
                             (2 * x + 1) * kWidth / (2 * scaled_width);
        ASSERT_EQ(out[i * window.width + j], inside ? labels[from] : 0xFFFF) << i << " " << j;
      }
    }
  }
}

TEST(ScaledWindow, LabelsOfOneByteAreTheSamePixels) {
  const auto labels = Noise<uint16_t>(kHeight * kWidth, 250);
  const std::vector<uint8_t> narrow(labels.begin(), labels.end());
  const PixelWindow window = Window(13, 11);
  std::vector<uint16_t> expected(window.height * window.width);
  std::vector<uint8_t> out(expected.size());
  ScaledWindowCopier copier;
  copier.CopyNearest({reinterpret_cast<const uint8_t*>(labels.data()), kHeight, kWidth, 2}, window,
                     {255, 0}, reinterpret_cast<uint8_t*>(expected.data()));
  copier.CopyNearest({narrow.data(), kHeight, kWidth, 1}, window, {255}, out.data());
  EXPECT_EQ(out, std::vector<uint8_t>(expected.begin(), expected.end()));
}

TEST(ScaledWindow, AScaleOfOneCopies) {
  const auto image = Noise<uint8_t>(kHeight * kWidth * 3, 256);
  PixelWindow window = Window(kHeight, kWidth);
  window.flip_horizontal = true;
  const PixelImage source = {image.data(), kHeight, kWidth, 3};
  std::vector<uint8_t> expected(window.height * window.width * 3), out(expected.size());
  CopyWindow(source, window, {9}, expected.data());
  ScaledWindowCopier copier;
  copier.CopyLinear(source, DType::kU8, window, {9}, out.data());
  EXPECT_EQ(out, expected);
}

}  // namespace
}  // namespace shardmill
