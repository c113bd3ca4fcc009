#include "tools/pack/decode/gif_read.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace shardmill {
namespace {

constexpr size_t kSignatureBytes = 6, kScreenBytes = 7;
constexpr uint8_t kExtension = 0x21, kPicture = 0x2C, kEnd = 0x3B;
constexpr uint8_t kGraphicControl = 0xF9;
constexpr uint8_t kHasPalette = 0x80, kInterlaced = 0x40, kPaletteBits = 0x07;

Status Damaged(const std::string& what) { return DataLossError("damaged GIF: " + what); }
Status Cut() { return Damaged("it ends too early"); }

// Takes bytes off the front of the file; zeros behind its end, which `cut` tells.
class Bytes {
 public:
  Bytes(std::string_view file, size_t offset) : file_(file), offset_(offset) {}

  uint8_t Byte() {
    const bool is_there = offset_ < file_.size();
    cut_ |= !is_there;
    return is_there ? static_cast<uint8_t>(file_[offset_++]) : uint8_t{0};
  }
  uint32_t Short() {
    const uint32_t low = Byte();
    return low | uint32_t{Byte()} << 8;
  }
  void Skip(size_t bytes) {
    cut_ |= bytes > file_.size() - offset_;
    offset_ += std::min(bytes, file_.size() - offset_);
  }
  // Data come in pieces of at most 255 bytes; an empty one ends them.
  void SkipPieces() {
    for (uint8_t bytes = Byte(); bytes > 0 && !cut_; bytes = Byte()) Skip(bytes);
  }

  bool cut() const { return cut_; }
  size_t offset() const { return offset_; }

 private:
  std::string_view file_;
  size_t offset_;
  bool cut_ = false;
};

std::vector<uint32_t> ReadPalette(uint8_t flags, Bytes* bytes) {
  std::vector<uint32_t> palette;
  if ((flags & kHasPalette) == 0) return palette;
  const size_t colors = size_t{2} << (flags & kPaletteBits);
  while (palette.size() < colors && !bytes->cut()) {
    const uint32_t red = bytes->Byte(), green = bytes->Byte();
    palette.push_back(red << 16 | green << 8 | bytes->Byte());
  }
  return palette;
}

// Of the canvas, whose size the header has already.
Status ReadPicture(Bytes* bytes, GifHeader* header) {
  if (header->code_offset != 0) {
    return DataLossError("an animated GIF holds several pictures; save the one that is meant");
  }
  const uint32_t left = bytes->Short(), top = bytes->Short();
  const uint32_t width = bytes->Short(), height = bytes->Short();
  if (!bytes->cut() && (left != 0 || top != 0 || width != header->width ||
                        height != header->height || width == 0 || height == 0)) {
    return DataLossError("the picture of this GIF file does not cover its canvas; convert it");
  }
  const uint8_t flags = bytes->Byte();
  header->interlaced = (flags & kInterlaced) != 0;
  std::vector<uint32_t> palette = ReadPalette(flags, bytes);
  if (!palette.empty()) header->palette = std::move(palette);
  header->code_offset = bytes->offset();
  bytes->Skip(1);
  bytes->SkipPieces();
  return OkStatus();
}

void ReadExtension(Bytes* bytes, GifHeader* header) {
  if (bytes->Byte() == kGraphicControl) {
    const uint8_t size = bytes->Byte();
    if (size == 0) return;
    // The picture that follows is the only one, so that the flag can be no other's.
    constexpr uint8_t kControlBytes = 4;  // flags, a time of two bytes, the index
    const bool has_index = (bytes->Byte() & 1) != 0 && size >= kControlBytes;
    bytes->Skip(has_index ? 2 : size - size_t{1});
    if (has_index) {
      header->transparent_index = bytes->Byte();
      bytes->Skip(size - size_t{kControlBytes});
    }
  }
  bytes->SkipPieces();
}

// The codes of the compressed data, lowest bits first.
class CodeReader {
 public:
  CodeReader(std::string_view file, size_t offset) : bytes_(file, offset) {}

  // -1 where the data end.
  int Next(int bits) {
    while (held_ < bits) {
      if (left_ == 0) left_ = bytes_.Byte();
      if (left_ == 0 || bytes_.cut()) return -1;
      const uint32_t byte = bytes_.Byte();
      if (bytes_.cut()) return -1;
      --left_;
      buffer_ |= byte << held_;
      held_ += 8;
    }
    const auto code = static_cast<int>(buffer_ & ((uint32_t{1} << bits) - 1));
    buffer_ >>= bits;
    held_ -= bits;
    return code;
  }

 private:
  Bytes bytes_;
  uint32_t buffer_ = 0;
  int held_ = 0;      // bits in `buffer_`
  uint8_t left_ = 0;  // bytes of the piece
};

// Strings of indices by their code: each is another one with an index behind it.
class CodeTable {
 public:
  static constexpr int kMaxBits = 12, kMaxCodes = 1 << kMaxBits;

  explicit CodeTable(int literal_bits) : clear_(1 << literal_bits), literal_bits_(literal_bits) {
    for (int i = 0; i < clear_; ++i) last_[static_cast<size_t>(i)] = static_cast<uint8_t>(i);
    Clear();
  }
  void Clear() {
    next_ = clear_ + 2;
    bits_ = literal_bits_ + 1;
    previous_ = -1;
  }
  int clear() const { return clear_; }
  int bits() const { return bits_; }

  // Writes the string of `code` to the end of `out`, and takes up the new one that it makes with
  // the one before. False: there is no such code, or the string is longer than `room`.
  bool Take(int code, size_t room, std::vector<uint8_t>* out);

 private:
  const int clear_, literal_bits_;
  int next_ = 0, bits_ = 0, previous_ = -1;
  std::array<uint16_t, kMaxCodes> before_ = {};  // the string without its last index
  std::array<uint8_t, kMaxCodes> last_ = {};
};

bool CodeTable::Take(int code, size_t room, std::vector<uint8_t>* out) {
  const bool is_literal = code < clear_;
  const bool is_known = is_literal || (code > clear_ + 1 && code < next_);
  const bool is_new = code == next_ && previous_ >= 0 && next_ < kMaxCodes;
  if (!is_known && !is_new) return false;
  const size_t start = out->size();
  for (int at = is_known ? code : previous_;; at = before_[static_cast<size_t>(at)]) {
    if (out->size() - start >= room) return false;
    out->push_back(last_[static_cast<size_t>(at)]);
    if (at < clear_) break;
  }
  const uint8_t first = out->back();
  std::reverse(out->begin() + static_cast<std::ptrdiff_t>(start), out->end());
  if (is_new) {
    if (out->size() - start >= room) return false;
    out->push_back(first);
  }
  if (previous_ >= 0 && next_ < kMaxCodes) {
    before_[static_cast<size_t>(next_)] = static_cast<uint16_t>(previous_);
    last_[static_cast<size_t>(next_)] = first;
    if (++next_ == 1 << bits_ && bits_ < kMaxBits) ++bits_;
  }
  previous_ = code;
  return true;
}

// The rows of an interlaced picture come in four passes.
std::vector<uint8_t> InOrder(const std::vector<uint8_t>& rows, const GifHeader& header) {
  struct Pass {
    uint32_t first, step;
  };
  std::vector<uint8_t> ordered(rows.size());
  auto row = rows.begin();
  for (const Pass pass : {Pass{0, 8}, Pass{4, 8}, Pass{2, 4}, Pass{1, 2}}) {
    for (uint32_t y = pass.first; y < header.height; y += pass.step) {
      std::copy_n(row, header.width, ordered.begin() + int64_t{y} * header.width);
      row += header.width;
    }
  }
  return ordered;
}

}  // namespace

Result<GifHeader> ReadGifHeader(std::string_view file) {
  if (file.size() < kSignatureBytes + kScreenBytes) return Cut();
  Bytes bytes(file, kSignatureBytes);
  GifHeader header;
  header.width = bytes.Short();
  header.height = bytes.Short();
  const uint8_t flags = bytes.Byte();
  bytes.Skip(2);  // background and shape of the pixels
  header.palette = ReadPalette(flags, &bytes);
  for (uint8_t block = bytes.Byte(); block != kEnd && !bytes.cut(); block = bytes.Byte()) {
    if (block == kPicture) {
      RETURN_IF_ERROR(ReadPicture(&bytes, &header));
    } else if (block == kExtension) {
      ReadExtension(&bytes, &header);
    } else {
      return Damaged("a block of an unknown kind");
    }
  }
  if (bytes.cut()) return Cut();
  if (header.code_offset == 0) return Damaged("it holds no picture");
  if (header.palette.empty()) return Damaged("it has no palette");
  header.stray_bytes = file.size() - bytes.offset();
  return header;
}

Status ReadGifIndices(std::string_view file, const GifHeader& header, std::vector<uint8_t>* out) {
  const int literal_bits = Bytes(file, header.code_offset).Byte();
  if (literal_bits < 1 || literal_bits > 8) return Damaged("its codes have an impossible length");
  const uint64_t pixels = uint64_t{header.height} * header.width;
  CodeReader codes(file, header.code_offset + 1);
  CodeTable table(literal_bits);
  out->clear();
  while (out->size() < pixels) {
    const int code = codes.Next(table.bits());
    if (code < 0 || code == table.clear() + 1) return Damaged("pixels are missing");
    if (code == table.clear()) {
      table.Clear();
    } else if (!table.Take(code, pixels - out->size(), out)) {
      return Damaged("a code has no meaning, or more pixels than there is room for");
    }
  }
  if (header.interlaced) *out = InOrder(*out, header);
  return OkStatus();
}

}  // namespace shardmill
