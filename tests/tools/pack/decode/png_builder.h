// Builds PNG files for tests: any colour type, depth, filter and chunk order, sound or not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/pack/decode/png_chunks.h"

namespace shardmill {

struct PngSpec {
  int64_t height = 1;
  int64_t width = 1;
  PngColorType color_type = PngColorType::kGray;
  int bit_depth = 8;
  std::vector<int> filters = {0};  // row y has filters[y % size]
  int zlib_level = 6;
  size_t chunk_bytes = 1 << 30;      // at most so many bytes in one IDAT chunk
  std::string palette;               // body of PLTE; no chunk when empty
  std::string transparency;          // body of tRNS; no chunk when empty
  std::string chunks_before_pixels;  // whole chunks, see PngChunk()
  int interlace = 0;                 // only the header's byte: the rows stay as they are

  int64_t RowBytes() const;
  int PixelBytes() const;  // 1 for less than a byte
};

std::string PngSignature();

// Length, type, body and the right checksum.
std::string PngChunk(std::string_view type, std::string_view body);

std::string PngHeader(const PngSpec& spec);
std::string PngImageData(std::string_view zlib_stream, size_t chunk_bytes);
std::string ZlibStream(std::string_view bytes, int level);

// `rows` (height × RowBytes() bytes, as the file packs them) behind filter bytes.
std::string FilterRows(const PngSpec& spec, const std::vector<uint8_t>& rows);

// The whole file.
std::string BuildPng(const PngSpec& spec, const std::vector<uint8_t>& rows);

// Height × RowBytes() bytes. Smooth enough that every filter has something to predict, with
// noise and flat areas; the unused bits at the end of a row are 0.
std::vector<uint8_t> MakeRows(const PngSpec& spec, uint32_t seed);

}  // namespace shardmill
