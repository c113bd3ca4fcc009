#include "reader/tensor_copy.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace shardmill {
namespace {

std::vector<uint8_t> Counting(uint64_t count) {
  std::vector<uint8_t> bytes(count);
  std::iota(bytes.begin(), bytes.end(), uint8_t{1});
  return bytes;
}

TEST(FillElements, WritesWholeElementsAndNoMore) {
  for (const std::vector<uint8_t>& element :
       {std::vector<uint8_t>{7}, {0, 0}, {1, 2}, {1, 2, 3}, {9, 9, 9, 8}}) {
    for (uint64_t count : {0, 1, 2, 3, 7, 64, 100}) {
      std::vector<uint8_t> out(count * element.size() + 1, 77);
      FillElements(element, count, out.data());
      for (uint64_t i = 0; i < count * element.size(); ++i) {
        ASSERT_EQ(out[i], element[i % element.size()]);
      }
      ASSERT_EQ(out.back(), 77);
    }
  }
}

// Pixel by pixel, as the header says it.
std::vector<uint8_t> SlowWindow(const PixelImage& image, const PixelWindow& window,
                                const std::vector<uint8_t>& pad) {
  std::vector<uint8_t> out;
  for (int64_t i = 0; i < window.height; ++i) {
    for (int64_t j = 0; j < window.width; ++j) {
      const int64_t y = window.y + (window.flip_vertical ? window.height - 1 - i : i);
      const int64_t x = window.x + (window.flip_horizontal ? window.width - 1 - j : j);
      const bool inside = y >= 0 && y < image.height && x >= 0 && x < image.width;
      for (uint64_t byte = 0; byte < image.pixel_bytes; ++byte) {
        const auto pixel = static_cast<uint64_t>(y * image.width + x);
        out.push_back(inside ? image.pixels[pixel * image.pixel_bytes + byte]
                             : pad[byte % pad.size()]);
      }
    }
  }
  return out;
}

TEST(CopyWindow, AgreesWithAPlainLoopInsideAcrossAndOutside) {
  for (uint64_t pixel_bytes : {1, 2, 3, 4, 6, 12}) {
    const std::vector<uint8_t> pad =
        pixel_bytes % 2 == 0 ? std::vector<uint8_t>{250, 251} : std::vector<uint8_t>{250};
    const auto pixels = Counting(5 * 7 * pixel_bytes);
    const PixelImage image = {pixels.data(), 5, 7, pixel_bytes};
    for (int64_t height : {1, 3, 5, 9}) {
      for (int64_t width : {1, 4, 7, 11}) {
        for (int64_t y : {-10, -4, -1, 0, 2, 4, 6}) {
          for (int64_t x : {-12, -3, 0, 1, 6, 7}) {
            for (int flips = 0; flips < 4; ++flips) {
              const PixelWindow window = {y, x, height, width, flips / 2 == 1, flips % 2 == 1};
              std::vector<uint8_t> out(static_cast<uint64_t>(height * width) * pixel_bytes + 1, 77);
              CopyWindow(image, window, pad, out.data());
              ASSERT_EQ(out.back(), 77);
              out.pop_back();
              ASSERT_EQ(out, SlowWindow(image, window, pad))
                  << "at " << y << "," << x << " of " << height << " x " << width;
            }
          }
        }
      }
    }
  }
}

TEST(CopyPadded, AgreesWithAPlainLoopForEveryPairOfShapes) {
  for (const std::vector<int64_t>& shape :
       {std::vector<int64_t>{3, 4, 2}, {1, 1, 2}, {0, 4, 2}, {5, 2, 2}}) {
    for (const std::vector<int64_t>& out_shape :
         {std::vector<int64_t>{3, 4, 2}, {4, 4, 2}, {3, 6, 2}, {5, 5, 3}, {2, 3, 1}, {1, 9, 2}}) {
      const std::vector<uint8_t> pad = {200, 201};  // elements of two bytes
      const auto tensor = Counting(static_cast<uint64_t>(shape[0] * shape[1] * shape[2]) * 2);
      const auto elements = static_cast<uint64_t>(out_shape[0] * out_shape[1] * out_shape[2]);
      std::vector<uint8_t> out(elements * 2 + 1, 77);
      CopyPadded(tensor.data(), shape, out_shape, pad, out.data());
      ASSERT_EQ(out.back(), 77);
      size_t at = 0;
      for (int64_t i = 0; i < out_shape[0]; ++i) {
        for (int64_t j = 0; j < out_shape[1]; ++j) {
          for (int64_t k = 0; k < out_shape[2]; ++k) {
            const bool inside = i < shape[0] && j < shape[1] && k < shape[2];
            const auto from = static_cast<size_t>(((i * shape[1] + j) * shape[2] + k) * 2);
            for (size_t byte = 0; byte < 2; ++byte) {
              ASSERT_EQ(out[at++], inside ? tensor[from + byte] : pad[byte]);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace shardmill
