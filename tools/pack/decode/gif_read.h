// Reads GIF files of one picture, as masks of older data sets are: the indices and the palette.
//
// Stateless; safe for concurrent use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

struct GifHeader {
  uint32_t height = 0, width = 0;
  std::vector<uint32_t> palette;  // 0xRRGGBB
  bool interlaced = false;
  std::optional<uint8_t> transparent_index;
  size_t code_offset = 0;  // of the picture's compressed data in the file
  size_t stray_bytes = 0;  // behind the end mark: worth a note, no damage
};

// Walks through the whole file, without its pixels. DataLoss when it is damaged or cut, holds
// several pictures or none, or one that does not cover the file's canvas.
Result<GifHeader> ReadGifHeader(std::string_view file);

// Fills height × width palette indices, dense rows. DataLoss when the file is damaged.
Status ReadGifIndices(std::string_view file, const GifHeader& header, std::vector<uint8_t>* out);

}  // namespace shardmill
