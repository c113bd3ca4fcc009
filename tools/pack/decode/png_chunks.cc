#include "tools/pack/decode/png_chunks.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <cstdio>

#include "tools/pack/decode/exif_orientation.h"

namespace shardmill {
namespace {

constexpr std::string_view kSignature("\x89PNG\r\n\x1a\n", 8);
constexpr uint32_t kMaxNumber = 0x7fffffff;  // the format's limit for sizes and lengths
constexpr uint64_t kFrameBytes = 12;         // length, type and checksum of a chunk
constexpr uint64_t kHeaderBytes = 13;
constexpr uint64_t kMaxPaletteEntries = 256;

uint32_t BigEndian32(std::string_view bytes, uint64_t offset) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[offset + i]);
  return value;
}

uint16_t BigEndian16(std::string_view bytes, uint64_t offset) {
  return static_cast<uint16_t>(static_cast<uint8_t>(bytes[offset]) << 8 |
                               static_cast<uint8_t>(bytes[offset + 1]));
}

bool IsLetter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

struct Chunk {
  std::string_view type;
  std::string_view body;
  uint64_t offset = 0;  // of the chunk in the file

  bool Critical() const { return type[0] <= 'Z'; }
  std::string Name() const {
    return "the " + std::string(type) + " chunk at byte " + std::to_string(offset);
  }
};

// The chunk at `offset`, with its checksum checked.
Result<Chunk> ReadChunk(std::string_view file, uint64_t offset) {
  const uint64_t left = file.size() - offset;
  if (left < kFrameBytes) {
    return DataLossError("the PNG file is cut: it ends at byte " + std::to_string(file.size()) +
                         ", before its end chunk");
  }
  Chunk chunk;
  chunk.offset = offset;
  chunk.type = file.substr(offset + 4, 4);
  if (!std::all_of(chunk.type.begin(), chunk.type.end(), IsLetter)) {
    return DataLossError("no PNG chunk at byte " + std::to_string(offset) +
                         ", where one must start: the file is damaged");
  }
  const uint64_t length = BigEndian32(file, offset);
  if (length > kMaxNumber || length > left - kFrameBytes) {
    return DataLossError(chunk.Name() + " says that it has " + std::to_string(length) +
                         " bytes, but the file has only " + std::to_string(left - kFrameBytes) +
                         " more: it is cut or damaged");
  }
  chunk.body = file.substr(offset + 8, length);
  const auto* checked = reinterpret_cast<const unsigned char*>(chunk.type.data());
  if (crc32_gzip_refl(0, checked, length + 4) != BigEndian32(file, offset + 8 + length)) {
    return DataLossError(chunk.Name() + " is damaged: its checksum is wrong");
  }
  return chunk;
}

bool DepthFits(PngColorType type, int depth) {
  switch (type) {
    case PngColorType::kGray:
      return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
    case PngColorType::kPalette:
      return depth == 1 || depth == 2 || depth == 4 || depth == 8;
    case PngColorType::kRgb:
    case PngColorType::kGrayAlpha:
    case PngColorType::kRgbAlpha:
      return depth == 8 || depth == 16;
  }
  return false;
}

Status ReadSize(std::string_view body, int64_t max_pixels, PngChunks* png) {
  const uint32_t width = BigEndian32(body, 0);
  const uint32_t height = BigEndian32(body, 4);
  if (width == 0 || height == 0 || width > kMaxNumber || height > kMaxNumber) {
    return DataLossError("the PNG header says " + std::to_string(height) + " high × " +
                         std::to_string(width) + " wide, which no PNG can be");
  }
  png->width = width;
  png->height = height;
  if (png->height > max_pixels / png->width) {
    return InvalidArgumentError("the PNG is " + std::to_string(height) + " high × " +
                                std::to_string(width) + " wide, more than the limit of " +
                                std::to_string(max_pixels) + " pixels");
  }
  return OkStatus();
}

Status ReadHeader(const Chunk& chunk, int64_t max_pixels, PngChunks* png) {
  if (chunk.type != "IHDR" || chunk.body.size() != kHeaderBytes) {
    return DataLossError("a PNG starts with a header chunk of 13 bytes, not with " + chunk.Name() +
                         " of " + std::to_string(chunk.body.size()) + " bytes");
  }
  RETURN_IF_ERROR(ReadSize(chunk.body, max_pixels, png));
  const auto* body = reinterpret_cast<const uint8_t*>(chunk.body.data());
  png->bit_depth = body[8];
  png->color_type = static_cast<PngColorType>(body[9]);
  if (!DepthFits(png->color_type, png->bit_depth)) {
    return DataLossError("the PNG header has colour type " + std::to_string(body[9]) +
                         " with bit depth " + std::to_string(body[8]) +
                         ", a pair that the format does not know");
  }
  if (body[10] != 0 || body[11] != 0 || body[12] > 1) {
    return DataLossError("the PNG header names compression " + std::to_string(body[10]) +
                         ", filter " + std::to_string(body[11]) + ", interlace " +
                         std::to_string(body[12]) + "; the format knows 0, 0 and 0 or 1");
  }
  png->interlaced = body[12] == 1;
  return OkStatus();
}

bool IsGray(PngColorType type) {
  return type == PngColorType::kGray || type == PngColorType::kGrayAlpha;
}

Status ReadPalette(const Chunk& chunk, PngChunks* png) {
  const uint64_t entries = chunk.body.size() / 3;
  if (chunk.body.size() % 3 != 0 || entries == 0 || entries > kMaxPaletteEntries) {
    return DataLossError(chunk.Name() + " has " + std::to_string(chunk.body.size()) +
                         " bytes; a palette has 1 to 256 entries of 3 bytes");
  }
  if (!png->palette.empty() || !png->image_data.empty()) {
    return DataLossError(chunk.Name() + " is out of place: a palette comes once, before the " +
                         "pixels");
  }
  if (IsGray(png->color_type)) png->oddity = chunk.Name() + " is a palette in a gray PNG";
  const auto* body = reinterpret_cast<const uint8_t*>(chunk.body.data());
  png->palette.resize(entries);
  for (uint64_t i = 0; i < entries; ++i) {
    png->palette[i] = {body[3 * i], body[3 * i + 1], body[3 * i + 2], 255};
  }
  return OkStatus();
}

// Other readers ignore a tRNS chunk that breaks the rules, so it is an oddity, not damage; so is
// a palette in a gray file.
void ReadTransparency(const Chunk& chunk, PngChunks* png) {
  const std::string_view body = chunk.body;
  const bool in_place = png->image_data.empty();
  if (in_place && png->color_type == PngColorType::kPalette && body.size() <= png->palette.size()) {
    for (size_t i = 0; i < body.size(); ++i) {
      png->palette[i].alpha = static_cast<uint8_t>(body[i]);
    }
    return;
  }
  const bool gray = png->color_type == PngColorType::kGray && body.size() == 2;
  const bool rgb = png->color_type == PngColorType::kRgb && body.size() == 6;
  if (!in_place || (!gray && !rgb)) {
    png->oddity = chunk.Name() + " does not fit this kind of PNG";
    return;
  }
  png->has_transparent_color = true;
  for (size_t i = 0; i < body.size() / 2; ++i) {
    png->transparent_color[i] = BigEndian16(body, 2 * i);
  }
}

Status ReadImageData(const Chunk& chunk, std::string_view previous_type, PngChunks* png) {
  if (!png->image_data.empty() && previous_type != "IDAT") {
    return DataLossError(chunk.Name() + " is apart from the IDAT chunks before it");
  }
  if (png->color_type == PngColorType::kPalette && png->palette.empty()) {
    return DataLossError(chunk.Name() + " comes before any palette, which this PNG needs");
  }
  png->image_data.push_back(chunk.body);
  return OkStatus();
}

Status ReadBodyChunk(const Chunk& chunk, std::string_view previous_type, PngChunks* png) {
  if (chunk.type == "IDAT") return ReadImageData(chunk, previous_type, png);
  if (chunk.type == "PLTE") return ReadPalette(chunk, png);
  if (chunk.type == "tRNS") {
    ReadTransparency(chunk, png);
  } else if (chunk.type == "eXIf") {
    const ExifReading exif = ReadExif(chunk.body);
    png->orientation = exif.orientation;
    png->broken_exif = exif.broken;
  } else if (chunk.type == "acTL" || chunk.type == "fcTL" || chunk.type == "fdAT") {
    png->animated = true;
  } else if (chunk.Critical()) {
    return DataLossError(chunk.Name() + " must be understood to read the pixels, and is not known");
  }
  return OkStatus();
}

Status ReadEnd(const Chunk& chunk, std::string_view file, PngChunks* png) {
  if (!chunk.body.empty()) return DataLossError(chunk.Name() + " is not empty");
  if (png->image_data.empty()) return DataLossError("the PNG file has no IDAT chunk: no pixels");
  png->trailing_bytes = static_cast<int64_t>(file.size() - chunk.offset - kFrameBytes);
  return OkStatus();
}

}  // namespace

int PngChunks::Channels() const {
  switch (color_type) {
    case PngColorType::kGray:
    case PngColorType::kPalette:
      return 1;
    case PngColorType::kGrayAlpha:
      return 2;
    case PngColorType::kRgb:
      return 3;
    case PngColorType::kRgbAlpha:
      return 4;
  }
  return 0;
}

uint64_t PngChunks::RowBytes() const {
  return (static_cast<uint64_t>(width) * Channels() * bit_depth + 7) / 8;
}

Result<PngChunks> ReadPngChunks(std::string_view file, int64_t max_pixels) {
  if (file.empty()) return DataLossError("the PNG file is empty");
  if (file.substr(0, kSignature.size()) != kSignature) {
    return DataLossError("the file does not start as a PNG: it is of another kind or damaged");
  }
  PngChunks png;
  ASSIGN_OR_RETURN(Chunk chunk, ReadChunk(file, kSignature.size()));
  RETURN_IF_ERROR(ReadHeader(chunk, max_pixels, &png));
  for (;;) {
    const std::string_view previous_type = chunk.type;
    ASSIGN_OR_RETURN(chunk, ReadChunk(file, chunk.offset + kFrameBytes + chunk.body.size()));
    if (chunk.type == "IEND") break;
    RETURN_IF_ERROR(ReadBodyChunk(chunk, previous_type, &png));
  }
  RETURN_IF_ERROR(ReadEnd(chunk, file, &png));
  return png;
}

}  // namespace shardmill
