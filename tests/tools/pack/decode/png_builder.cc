#include "tests/tools/pack/decode/png_builder.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <random>

namespace shardmill {
namespace {

int Channels(PngColorType type) {
  switch (type) {
    case PngColorType::kRgb:
      return 3;
    case PngColorType::kGrayAlpha:
      return 2;
    case PngColorType::kRgbAlpha:
      return 4;
    default:
      return 1;
  }
}

std::string BigEndian32(uint64_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

int NearestNeighbour(int left, int up, int up_left) {
  const int estimate = left + up - up_left;
  int nearest = left;
  if (std::abs(estimate - up) < std::abs(estimate - nearest)) nearest = up;
  if (std::abs(estimate - up_left) < std::abs(estimate - nearest)) nearest = up_left;
  return nearest;
}

int Predict(int filter, int left, int up, int up_left) {
  const int predictions[] = {0, left, up, (left + up) / 2, NearestNeighbour(left, up, up_left)};
  return predictions[filter];
}

}  // namespace

int64_t PngSpec::RowBytes() const { return (width * Channels(color_type) * bit_depth + 7) / 8; }
int PngSpec::PixelBytes() const { return std::max(1, Channels(color_type) * bit_depth / 8); }

std::string PngSignature() { return "\x89PNG\r\n\x1a\n"; }

std::string PngChunk(std::string_view type, std::string_view body) {
  const std::string checked = std::string(type) + std::string(body);
  const auto* bytes = reinterpret_cast<const Bytef*>(checked.data());
  return BigEndian32(body.size()) + checked + BigEndian32(crc32_z(0, bytes, checked.size()));
}

std::string PngHeader(const PngSpec& spec) {
  std::string body = BigEndian32(spec.width) + BigEndian32(spec.height);
  body += static_cast<char>(spec.bit_depth);
  body += static_cast<char>(spec.color_type);
  body += std::string(2, '\0');
  body += static_cast<char>(spec.interlace);
  return PngChunk("IHDR", body);
}

std::string ZlibStream(std::string_view bytes, int level) {
  uLongf size = compressBound(bytes.size());
  std::string stream(size, '\0');
  const int outcome = compress2(reinterpret_cast<Bytef*>(stream.data()), &size,
                                reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), level);
  if (outcome != Z_OK) std::abort();
  stream.resize(size);
  return stream;
}

std::string PngImageData(std::string_view zlib_stream, size_t chunk_bytes) {
  std::string chunks;
  for (size_t i = 0; i < zlib_stream.size(); i += chunk_bytes) {
    chunks += PngChunk("IDAT", zlib_stream.substr(i, chunk_bytes));
  }
  return chunks;
}

std::string FilterRows(const PngSpec& spec, const std::vector<uint8_t>& rows) {
  const int64_t row_bytes = spec.RowBytes();
  const int back = spec.PixelBytes();
  std::string filtered;
  for (int64_t y = 0; y < spec.height; ++y) {
    const int filter = spec.filters[y % spec.filters.size()];
    filtered += static_cast<char>(filter);
    const uint8_t* row = rows.data() + y * row_bytes;
    for (int64_t i = 0; i < row_bytes; ++i) {
      const int left = i >= back ? row[i - back] : 0;
      const int up = y > 0 ? row[i - row_bytes] : 0;
      const int up_left = i >= back && y > 0 ? row[i - row_bytes - back] : 0;
      filtered += static_cast<char>(row[i] - Predict(filter, left, up, up_left));
    }
  }
  return filtered;
}

std::string BuildPng(const PngSpec& spec, const std::vector<uint8_t>& rows) {
  std::string file = PngSignature() + PngHeader(spec);
  if (!spec.palette.empty()) file += PngChunk("PLTE", spec.palette);
  if (!spec.transparency.empty()) file += PngChunk("tRNS", spec.transparency);
  file += spec.chunks_before_pixels;
  file += PngImageData(ZlibStream(FilterRows(spec, rows), spec.zlib_level), spec.chunk_bytes);
  return file + PngChunk("IEND", "");
}

std::vector<uint8_t> MakeRows(const PngSpec& spec, uint32_t seed) {
  std::mt19937 random(seed);
  const int64_t row_bytes = spec.RowBytes();
  std::vector<uint8_t> rows(spec.height * row_bytes);
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t x = i % row_bytes;
    const int64_t y = i / row_bytes;
    const int kind = static_cast<int>((x / 24 + y / 5) % 3);
    if (kind == 0) rows[i] = static_cast<uint8_t>(17 * (x / 24));
    if (kind == 1) rows[i] = static_cast<uint8_t>(2 * x + 3 * y + random() % 4);
    if (kind == 2) rows[i] = static_cast<uint8_t>(random());
  }
  const int64_t spare_bits =
      row_bytes * 8 - spec.width * Channels(spec.color_type) * spec.bit_depth;
  for (int64_t y = 0; y < spec.height; ++y) {
    rows[(y + 1) * row_bytes - 1] &= static_cast<uint8_t>(0xff << spare_bits);
  }
  return rows;
}

}  // namespace shardmill
