#include "tools/pack/decode/bmp_header.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tools/pack/decode/little_endian.h"

namespace shardmill {
namespace {

constexpr uint64_t kFileHeaderBytes = 14, kOffsetOfPixels = 10;
// By the length of the second header, which tells the versions apart.
constexpr uint64_t kOldBytes = 12, kShortestBytes = 16, kUsualBytes = 40, kAlphaMaskBytes = 56,
                   kOs2Bytes = 64, kMostBytes = 1024;
constexpr uint64_t kMaskOffset = kFileHeaderBytes + kUsualBytes;
constexpr int kMostChannelBits = 16;

enum Compression : uint64_t {
  kPlain = 0,
  kRunLength8 = 1,
  kRunLength4 = 2,
  kMasks = 3,
  kJpegInside = 4,
  kPngInside = 5,
  kMasksWithAlpha = 6,
};

Status Damaged(const std::string& what) { return DataLossError("damaged BMP file: " + what); }

Status NotRead(const std::string& what) {
  return DataLossError("this BMP file holds " + what + ": this form is not read; convert it");
}

// The second header, in which the numbers behind its end are 0.
class BmpFields {
 public:
  BmpFields(std::string_view file, uint64_t header_bytes)
      : header_(file.substr(0, std::min<uint64_t>(file.size(), kFileHeaderBytes + header_bytes))),
        is_old_(header_bytes == kOldBytes) {}

  bool is_old() const { return is_old_; }
  uint64_t At(uint64_t offset, int bytes) const {
    return LittleEndianAt(header_, kFileHeaderBytes + offset, bytes).value_or(0);
  }
  // As the header stores it: without a sign in old ones.
  int64_t Side(int index) const {
    const auto place = static_cast<uint64_t>(index);
    if (is_old_) return static_cast<int64_t>(At(4 + 2 * place, 2));
    return static_cast<int32_t>(static_cast<uint32_t>(At(4 + 4 * place, 4)));
  }
  int bits() const { return static_cast<int>(At(is_old_ ? 10 : 14, 2)); }
  uint64_t compression() const { return is_old_ ? 0 : At(16, 4); }
  uint64_t colors() const { return is_old_ ? 0 : At(32, 4); }

 private:
  std::string_view header_;
  bool is_old_;
};

Status ReadSize(const BmpFields& fields, BmpHeader* header) {
  const int64_t width = fields.Side(0), height = fields.Side(1);
  if (width <= 0 || height == 0 || std::abs(height) > INT32_MAX) {
    return Damaged("its header has no usable width and height");
  }
  header->width = static_cast<uint32_t>(width);
  header->height = static_cast<uint32_t>(std::abs(height));
  header->from_top = height < 0;
  return OkStatus();
}

// A mask is one row of bits.
Result<BmpChannel> ChannelOf(uint32_t mask, int pixel_bits) {
  BmpChannel channel;
  if (mask == 0) return channel;
  while ((mask >> channel.shift & 1) == 0) ++channel.shift;
  const uint64_t run = uint64_t{mask} >> channel.shift;
  while ((run >> channel.bits & 1) != 0) ++channel.bits;
  if (run >> channel.bits != 0) return NotRead("a channel whose bits lie apart");
  if (channel.bits > kMostChannelBits) return NotRead("a channel of more than 16 bits");
  if (channel.shift + channel.bits > pixel_bits) return Damaged("a channel ends beyond the pixel");
  return channel;
}

Status TakeMasks(const std::array<uint32_t, 4>& masks, BmpHeader* header) {
  uint32_t all = 0;
  for (size_t i = 0; i < masks.size(); ++i) {
    if ((all & masks[i]) != 0) return Damaged("two of its channels share bits");
    all |= masks[i];
    ASSIGN_OR_RETURN(header->channels[i], ChannelOf(masks[i], header->bits));
    if (i < 3 && masks[i] == 0) return Damaged("one of its colours has no bits");
  }
  return OkStatus();
}

// In later versions the masks are a part of the header, in the first they follow it.
Status ReadMasks(std::string_view file, uint64_t header_bytes, bool with_alpha, BmpHeader* header) {
  with_alpha |= header_bytes >= kAlphaMaskBytes;
  const uint64_t count = with_alpha ? 4 : 3;
  if (kMaskOffset + 4 * count > header->pixel_offset) {
    return Damaged("its header leaves no room for the masks of its channels");
  }
  std::array<uint32_t, 4> masks = {};
  for (uint64_t i = 0; i < count; ++i) {
    const std::optional<uint64_t> mask = LittleEndianAt(file, kMaskOffset + 4 * i, 4);
    if (!mask.has_value()) return Damaged("it ends within its header");
    masks[i] = static_cast<uint32_t>(*mask);
  }
  return TakeMasks(masks, header);
}

Status TakeUsualChannels(BmpHeader* header) {
  if (header->bits == 16) return TakeMasks({0x7c00, 0x3e0, 0x1f, 0}, header);
  return TakeMasks({0xff0000, 0xff00, 0xff, 0}, header);
}

// As many colours as the header says, or as there is room for before the pixels.
Status ReadPalette(std::string_view file, const BmpFields& fields, uint64_t offset,
                   BmpHeader* header) {
  const uint64_t entry_bytes = fields.is_old() ? 3 : 4, all = uint64_t{1} << header->bits;
  uint64_t colors = fields.colors() == 0 ? all : std::min(fields.colors(), all);
  colors = std::min(colors, (std::max(header->pixel_offset, offset) - offset) / entry_bytes);
  for (uint64_t i = 0; i < colors; ++i) {
    const std::optional<uint64_t> color = LittleEndianAt(file, offset + i * entry_bytes, 3);
    if (!color.has_value()) return Damaged("it ends within its palette");
    header->palette.push_back(static_cast<uint32_t>(*color));  // blue is the first byte
  }
  return colors > 0 ? OkStatus() : Damaged("it has no palette");
}

// How the pixels are packed; masks and channels of files without a palette.
Status ReadPixelForm(std::string_view file, const BmpFields& fields, uint64_t header_bytes,
                     BmpHeader* header) {
  const uint64_t compression = fields.compression();
  const int bits = header->bits;
  const bool has_palette = bits == 1 || bits == 2 || bits == 4 || bits == 8;
  if (compression == kJpegInside && bits != 24) return NotRead("a JPEG file");
  if (compression == kPngInside) return NotRead("a PNG file");
  if (!has_palette && bits != 16 && bits != 24 && bits != 32) {
    return NotRead("pixels of " + std::to_string(bits) + " bits each");
  }
  const bool run_length =
      (compression == kRunLength8 && bits == 8) || (compression == kRunLength4 && bits == 4);
  if (run_length && !header->from_top) {
    header->packing = BmpPacking::kRunLength;
    return OkStatus();
  }
  if (compression == kPlain) return has_palette ? OkStatus() : TakeUsualChannels(header);
  const bool masks = compression == kMasks || compression == kMasksWithAlpha;
  if (masks && (bits == 16 || bits == 32) && header_bytes != kOs2Bytes) {
    return ReadMasks(file, header_bytes, compression == kMasksWithAlpha, header);
  }
  return NotRead("pixels of " + std::to_string(bits) + " bits with compression " +
                 std::to_string(compression) + (header->from_top ? " from top to bottom" : ""));
}

}  // namespace

Result<BmpHeader> ReadBmpHeader(std::string_view file) {
  const uint64_t header_bytes = LittleEndianAt(file, kFileHeaderBytes, 4).value_or(0);
  const uint64_t pixels = LittleEndianAt(file, kOffsetOfPixels, 4).value_or(0);
  const bool known =
      header_bytes == kOldBytes || (header_bytes >= kShortestBytes && header_bytes <= kMostBytes);
  if (!known) return Damaged("its header has no usable length");
  if (file.size() < kFileHeaderBytes + header_bytes) return Damaged("it ends within its header");
  if (pixels < kFileHeaderBytes + header_bytes || pixels > file.size()) {
    return Damaged("its header says that the pixels lie " +
                   std::string(pixels > file.size() ? "behind its end" : "within the header"));
  }
  const BmpFields fields(file, header_bytes);
  BmpHeader header;
  header.bits = fields.bits();
  header.pixel_offset = pixels;
  RETURN_IF_ERROR(ReadSize(fields, &header));
  RETURN_IF_ERROR(ReadPixelForm(file, fields, header_bytes, &header));
  if (header.bits > 8) return header;
  RETURN_IF_ERROR(ReadPalette(file, fields, kFileHeaderBytes + header_bytes, &header));
  return header;
}

}  // namespace shardmill
