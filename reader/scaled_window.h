// Takes a window out of an image that is shown larger or smaller: the image is never scaled as a
// whole, each pixel of the window finds its place in the source.
//
// Whole numbers decide about places and weights, so u8 and u16 give the same bytes on every
// machine. Pixel centres lie at +0.5. One object keeps its memory from call to call; not for
// concurrent use of one object.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/schema.h"
#include "reader/tensor_copy.h"

namespace shardmill {

class ScaledWindowCopier {
 public:
  // Makes room for windows of this width out of images of this width with pixels of so many
  // samples, so that copies allocate nothing.
  void Reserve(int64_t window_width, int64_t image_width, int64_t samples);

  // As CopyWindow, of an image that window.scaled_height × scaled_width pixels show. The pixel
  // whose square holds the centre of the new one is copied as it is: no new values.
  void CopyNearest(const PixelImage& image, const PixelWindow& window,
                   const std::vector<uint8_t>& pad_element, uint8_t* out);

  // Interpolated between the four nearest pixels; beyond the border of the image it goes on. Pixels
  // of u8, u16 or f32 samples, which `pad_element` is one of.
  void CopyLinear(const PixelImage& image, DType dtype, const PixelWindow& window,
                  const std::vector<uint8_t>& pad_element, uint8_t* out);

 private:
  // Two neighbours along one side, and how far the second counts, in 2^-8.
  struct Neighbours {
    uint32_t first = 0;
    uint32_t second = 0;
    uint32_t weight = 0;
  };
  // The pixels of a row that the columns name. `kBytes` as `kSamples` below.
  template <uint64_t kBytes>
  void PickPixels(const uint8_t* from, uint64_t pixel_bytes, uint8_t* to) const;
  // `kSamples` of a pixel, which the compiler then unrolls; 0: as many as `samples` says.
  template <uint64_t kSamples, typename Sum, typename Sample, typename Blended>
  void InterpolateRow(const Blended* blended, uint64_t samples, Sample* to) const;
  static Neighbours NeighboursOf(int64_t position, int64_t scaled, int64_t side);
  template <typename Sample, typename Blended, typename Sum>
  void CopyLinearTyped(const PixelImage& image, const PixelWindow& window,
                       const std::vector<uint8_t>& pad_element, uint8_t* out);

  std::vector<Neighbours> columns_;  // of the pixels of the window that show the image
  std::vector<uint8_t> blended_;     // a row between two rows of the source
};

}  // namespace shardmill
