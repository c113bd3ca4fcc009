// Encodes pictures as PNG: overlays, contact sheets, predicted label maps.
//
// Decoding of source images is no business of this library; see tools/pack. The same picture
// gives the same bytes: no time stamp, fixed compression settings. Stateless; safe for concurrent
// use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

enum class PngColor {
  kGray,     // 1 byte per pixel
  kGray16,   // 2 bytes per pixel, the higher one first
  kRgb,      // 3 bytes per pixel
  kPalette,  // 1 byte per pixel, an index into `palette`
};

enum class PngEffort { kSmall, kFast };

// A view: the caller keeps the pixels alive.
struct PngPicture {
  int64_t height = 0;  // 1 … 1,000,000, as the width
  int64_t width = 0;
  PngColor color = PngColor::kRgb;
  const uint8_t* pixels = nullptr;  // dense rows from the top
  std::vector<uint32_t> palette;    // 0xRRGGBB, 1 … 256 entries; for kPalette only
  PngEffort effort = PngEffort::kSmall;
  // Kept in the file as who wrote it, so that HasPngSoftware can tell; empty: not kept. ASCII.
  std::string software;
};

// The bytes of a PNG file. InvalidArgument when sizes or palette break the rules above, or when
// a pixel is not in the palette.
Result<std::string> EncodePng(const PngPicture& picture);

// Whether the file at `path` is a PNG that names `software` as its writer.
bool HasPngSoftware(const std::string& path, const std::string& software);

// Writes the file whole or not at all (see AtomicFile). A file of that name is replaced when it
// is a PNG; anything else is left alone and InvalidArgument returned, so that a mistyped name
// does not cost a data set.
Status WritePng(const std::string& path, const PngPicture& picture);

}  // namespace shardmill
