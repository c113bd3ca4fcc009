#include "tests/tools/pack/decode/gif_builder.h"

#include <algorithm>
#include <map>

namespace shardmill {
namespace {

void PutShort(uint32_t value, std::string* out) {
  out->push_back(static_cast<char>(value & 255));
  out->push_back(static_cast<char>(value >> 8 & 255));
}

void PutPalette(const GifForm& form, std::string* out) {
  for (uint32_t color : form.palette) {
    for (int shift = 16; shift >= 0; shift -= 8) out->push_back(static_cast<char>(color >> shift));
  }
}

uint32_t PaletteFlags(const GifForm& form) {
  uint32_t bits = 0;
  while ((2u << bits) < form.palette.size()) ++bits;
  return 0x80 | bits;
}

// Codes of growing length, lowest bits first.
class CodeWriter {
 public:
  void Put(uint32_t code, int bits) {
    buffer_ |= static_cast<uint64_t>(code) << held_;
    for (held_ += bits; held_ >= 8; held_ -= 8, buffer_ >>= 8) {
      bytes_.push_back(static_cast<char>(buffer_ & 255));
    }
  }
  std::string Take() {
    if (held_ > 0) bytes_.push_back(static_cast<char>(buffer_ & 255));
    return bytes_;
  }

 private:
  std::string bytes_;
  uint64_t buffer_ = 0;
  int held_ = 0;
};

// Starts the table anew when it is full, a while after.
std::string Compress(const std::vector<uint8_t>& rows, int literal_bits) {
  const uint32_t clear = 1u << literal_bits;
  std::map<std::string, uint32_t> codes;
  uint32_t next = 0, since_full = 0;
  int bits = 0;
  CodeWriter writer;
  auto start = [&] {
    if (bits > 0) writer.Put(clear, bits);
    codes.clear();
    for (uint32_t i = 0; i < clear; ++i) codes[std::string(1, static_cast<char>(i))] = i;
    next = clear + 2;
    bits = literal_bits + 1;
    since_full = 0;
  };
  start();
  writer.Put(clear, bits);
  std::string text;
  for (uint8_t index : rows) {
    std::string longer = text + static_cast<char>(index);
    if (codes.count(longer) > 0) {
      text = std::move(longer);
      continue;
    }
    writer.Put(codes[text], bits);
    if (next < 4096) {
      if (next == 1u << bits) ++bits;
      codes[longer] = next++;
    } else if (++since_full == 100) {
      start();
    }
    text = std::string(1, static_cast<char>(index));
  }
  writer.Put(codes[text], bits);
  if (next == 1u << bits && bits < 12) ++bits;
  writer.Put(clear + 1, bits);
  return writer.Take();
}

}  // namespace

std::string BuildGifAround(const GifForm& form, const std::string& compressed) {
  std::string gif = "GIF89a";
  PutShort(form.width + form.left, &gif);
  PutShort(form.height, &gif);
  gif.push_back(static_cast<char>(form.local_palette ? 0 : PaletteFlags(form)));
  gif += std::string(2, '\0');
  if (!form.local_palette) PutPalette(form, &gif);
  gif += std::string("\x21\xFE\x05hello\0", 9);  // a comment
  for (int i = 0; i < form.pictures; ++i) {
    if (form.transparent >= 0) {
      gif += std::string("\x21\xF9\x04\x01\0\0", 6) + static_cast<char>(form.transparent) + '\0';
    }
    gif.push_back('\x2C');
    for (uint32_t value : {form.left, 0u, form.width, form.height}) PutShort(value, &gif);
    const uint32_t palette = form.local_palette ? PaletteFlags(form) : 0;
    gif.push_back(static_cast<char>(palette | (form.interlaced ? 0x40 : 0)));
    if (form.local_palette) PutPalette(form, &gif);
    gif.push_back(static_cast<char>(form.literal_bits));
    for (size_t at = 0; at < compressed.size(); at += 255) {
      const std::string piece = compressed.substr(at, 255);
      gif += static_cast<char>(piece.size()) + piece;
    }
    gif.push_back('\0');
  }
  return gif + '\x3B';
}

std::string BuildGif(const GifForm& form, const std::vector<uint8_t>& rows) {
  return BuildGifAround(form, Compress(rows, form.literal_bits));
}

}  // namespace shardmill
