// Decodes PNG files at the speed of their inflate stream.
//
// Handles every file without interlace and animation, whatever its colour type and bit depth.
// Pixels come out as they are stored: palette files as indexes (the palette is beside them), gray
// of 1, 2 or 4 bits as numbers that are not scaled, alpha as a channel, no gamma, no turning.
// So this is also how palette labels are read by index. One object per thread: it keeps its
// tables and buffers from image to image.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "reader/base/status.h"
#include "tools/pack/decode/png_chunks.h"
#include "tools/pack/decode/png_inflate.h"
#include "tools/pack/decode/png_unfilter.h"
#include "tools/pack/decode/scratch_buffer.h"

namespace shardmill {

// What ReadPixels() delivers: dense rows from the top, channels interleaved.
struct PngPixelLayout {
  int64_t height = 0;
  int64_t width = 0;
  int channels = 1;
  int sample_bytes = 1;  // 2: 16-bit samples in this machine's byte order

  int64_t Bytes() const { return height * width * channels * sample_bytes; }
};

class PngFastDecoder {
 public:
  static constexpr int64_t kMaxPixels = int64_t{1} << 40;

  // Reads and checks all chunks of `file`, which must stay alive until the pixels are read.
  // DataLoss when the file is damaged, InvalidArgument when it has more than `max_pixels`
  // (at most kMaxPixels). OK also for a file that is sound but not handled.
  Status Open(std::string_view file, int64_t max_pixels);

  // The rest needs an Open() that was OK.

  const PngChunks& png() const { return png_; }
  PngPixelLayout layout() const;

  // Empty, or why another decoder must take this file, in words: "interlaced", …
  std::string NotHandled() const;

  // Writes layout().Bytes() bytes. DataLoss when the pixel data is damaged; `pixels` then holds
  // anything. Requires NotHandled() to be empty.
  Status ReadPixels(uint8_t* pixels);

  // The same for a part of the image, whose rows are put into `pixels` densely: without a detour
  // through memory for the whole image. The part must lie in it and must not be empty; requires
  // 8 bits per sample. Damage behind the part is found too.
  struct Window {
    int64_t y = 0, x = 0, height = 0, width = 0;
  };
  Status ReadWindow(const Window& window, std::string* pixels);

 private:
  Result<PngFilteredRows> ReadFilteredRows();

  PngChunks png_;
  PngInflater inflater_;
  ScratchBuffer packed_rows_;  // unfiltered rows of less than 8 bits per sample
  ScratchBuffer strip_;        // some rows in a row, below the one above them
};

}  // namespace shardmill
