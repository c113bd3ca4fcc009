#include "tools/pack/decode/png_fast.h"

#include <algorithm>

#include "tools/pack/decode/png_samples.h"
#include "tools/pack/decode/png_unfilter.h"

namespace shardmill {
namespace {

static_assert(kPngUnfilterSlack <= ScratchBuffer::kSlackBytes);

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

Status PngFastDecoder::ReadPixels(uint8_t* pixels) {
  SHARDMILL_CHECK(!png_.image_data.empty() && NotHandled().empty());
  PngFilteredRows rows;
  ASSIGN_OR_RETURN(rows.bytes, inflater_.Inflate(png_.image_data, FilteredBytes(png_)));
  rows.rows = png_.height;
  rows.row_bytes = static_cast<int64_t>(png_.RowBytes());
  rows.pixel_bytes = std::max(1, png_.Channels() * png_.bit_depth / 8);
  RETURN_IF_ERROR(CheckPngFilters(rows));
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

}  // namespace shardmill
