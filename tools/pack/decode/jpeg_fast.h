// Decodes the part of a JPEG file that a crop needs, through libjpeg-turbo.
//
// Rows above the window are only parsed, columns beside it are left out, and the rows below are
// skipped up to the last one, which is read, so that a cut file is found like in a full decode.
// The pixels are those of a full decode, bit by bit. Warnings of the library are errors here.
// The orientation is reported, not applied. One object per thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "reader/base/status.h"
#include "tools/pack/decode/scratch_buffer.h"

namespace shardmill {

class JpegSession;

struct JpegOptions {
  int64_t max_pixels = int64_t{1} << 30;
  // 1, 2, 4 or 8: decodes to the 1/N-th of height and width, rounded up, from the lower
  // frequencies alone. Fast, but not what resizing the pixels gives.
  int scale_denominator = 1;
};

struct JpegHeader {
  int64_t height = 0;  // as stored, before orientation and scaling
  int64_t width = 0;
  int64_t output_height = 0;  // after scaling: what windows are counted in
  int64_t output_width = 0;
  int channels = 3;           // that come out: 1 gray or 3 RGB
  bool was_cmyk = false;      // stored as ink (CMYK or YCCK), comes out as RGB
  bool ink_inverted = false;  // …and 0 means full ink, as Adobe's programs write it
  bool progressive = false;
  int orientation = 1;  // 1 … 8, as EXIF counts; not applied
  bool broken_exif = false;
};

struct JpegWindow {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;
};

class JpegFastDecoder {
 public:
  JpegFastDecoder();
  ~JpegFastDecoder();
  JpegFastDecoder(JpegFastDecoder&&) noexcept;
  JpegFastDecoder& operator=(JpegFastDecoder&&) noexcept;

  // Reads the headers of `file`, which must stay alive until the pixels are read. DataLoss when
  // the file is damaged; InvalidArgument when it is of a kind that libjpeg does not decode
  // (lossless, 12 bits per sample), has 2 or more than 4 components, or more than max_pixels.
  Status Open(std::string_view file, const JpegOptions& options);

  // The rest needs an Open() that was OK.

  const JpegHeader& header() const { return header_; }

  // Writes window.height × window.width × channels bytes, dense rows. Once per Open(). DataLoss
  // when anything in the whole file is damaged; `pixels` then holds anything. InvalidArgument
  // when the window is empty or reaches beyond the image.
  Status ReadPixels(const JpegWindow& window, uint8_t* pixels);

  // After ReadPixels(): bytes without meaning, before and behind the end marker; a few before it
  // can go unseen. All pixels were there without them: worth a note, no damage.
  int64_t stray_bytes() const;

 private:
  Status ReadHeader(const JpegOptions& options);

  std::unique_ptr<JpegSession> session_;  // libjpeg's state of the file that is open
  bool pixels_read_ = false;
  JpegHeader header_;
  ScratchBuffer row_;  // as libjpeg gives it: wider than the window, or ink
};

}  // namespace shardmill
