#include "tools/pack/decode/png_fast.h"

#include <algorithm>
#include <cstring>

#include "tools/pack/decode/png_samples.h"

namespace shardmill {
namespace {

static_assert(kPngUnfilterSlack <= ScratchBuffer::kSlackBytes);

// A strip of rows stays in the first cache; groups of rows are done at once in it.
constexpr int64_t kStripBytes = 24 << 10, kFewestStripRows = 8;

uint64_t FilteredBytes(const PngChunks& png) {
  return static_cast<uint64_t>(png.height) * (png.RowBytes() + 1);
}

}  // namespace

Status PngFastDecoder::Open(std::string_view file, int64_t max_pixels) {
  ASSIGN_OR_RETURN(png_, ReadPngChunks(file, std::min(max_pixels, kMaxPixels)));
  return OkStatus();
}

PngPixelLayout PngFastDecoder::layout() const {
  return {png_.height, png_.width, png_.Channels(), png_.bit_depth == 16 ? 2 : 1};
}

std::string PngFastDecoder::NotHandled() const {
  if (png_.animated) return "animated";
  if (png_.interlaced) return "interlaced";
  if (FilteredBytes(png_) > PngInflater::kMaxBytes) return "more than 4 GiB of pixels";
  return png_.oddity;
}

Result<PngFilteredRows> PngFastDecoder::ReadFilteredRows() {
  SHARDMILL_CHECK(!png_.image_data.empty() && NotHandled().empty());
  PngFilteredRows rows;
  ASSIGN_OR_RETURN(rows.bytes, inflater_.Inflate(png_.image_data, FilteredBytes(png_)));
  rows.rows = png_.height;
  rows.row_bytes = static_cast<int64_t>(png_.RowBytes());
  rows.pixel_bytes = std::max(1, png_.Channels() * png_.bit_depth / 8);
  RETURN_IF_ERROR(CheckPngFilters(rows));
  return rows;
}

Status PngFastDecoder::ReadPixels(uint8_t* pixels) {
  ASSIGN_OR_RETURN(const PngFilteredRows rows, ReadFilteredRows());
  if (png_.bit_depth >= 8) {
    UnfilterPng(rows, pixels);
    if (png_.bit_depth == 16) SwapPngSamples(pixels, layout().Bytes() / 2);
    return OkStatus();
  }
  uint8_t* packed = packed_rows_.Reserve(png_.height * png_.RowBytes());
  UnfilterPng(rows, packed);
  for (int64_t y = 0; y < png_.height; ++y) {
    UnpackPngBits(packed + y * rows.row_bytes, png_.width, png_.bit_depth, pixels + y * png_.width);
  }
  return OkStatus();
}

Status PngFastDecoder::ReadWindow(const Window& window, std::string* pixels) {
  SHARDMILL_CHECK(png_.bit_depth == 8);
  ASSIGN_OR_RETURN(const PngFilteredRows rows, ReadFilteredRows());
  const int64_t end = window.y + window.height;
  const int64_t strip_rows = std::max(kFewestStripRows, kStripBytes / rows.row_bytes);
  const auto begin = static_cast<size_t>(window.x * rows.pixel_bytes);
  const auto bytes = static_cast<size_t>(window.width * rows.pixel_bytes);
  uint8_t* above = strip_.Reserve(static_cast<uint64_t>((strip_rows + 1) * rows.row_bytes));
  uint8_t* first = above + rows.row_bytes;
  std::memset(above, 0, static_cast<size_t>(rows.row_bytes));
  pixels->clear();
  pixels->reserve(bytes * static_cast<size_t>(window.height));
  for (int64_t y = 0; y < end;) {
    PngFilteredRows strip = rows;
    strip.bytes = rows.Row(y);
    strip.rows = std::min(strip_rows, end - y);
    strip.above = above;
    const int64_t done = UnfilterPngPart(strip, first);
    for (int64_t row = std::max(y, window.y); row < y + done; ++row) {
      pixels->append(reinterpret_cast<const char*>(first + (row - y) * rows.row_bytes) + begin,
                     bytes);
    }
    std::memcpy(above, first + (done - 1) * rows.row_bytes, static_cast<size_t>(rows.row_bytes));
    y += done;
  }
  return OkStatus();
}

}  // namespace shardmill
