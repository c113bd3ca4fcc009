#include "tools/pack/decode/pnm_image.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

namespace shardmill {
namespace {

constexpr uint32_t kMostLevel = 65535;
constexpr uint64_t kMostNumber = UINT32_MAX;

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Walks through numbers between blanks and comments.
class PnmText {
 public:
  explicit PnmText(std::string_view text) : text_(text) {}

  std::optional<uint32_t> TakeNumber() {
    SkipBlanks();
    uint64_t number = 0;
    const size_t begin = place_;
    while (place_ < text_.size() && text_[place_] >= '0' && text_[place_] <= '9') {
      number = number * 10 + static_cast<uint64_t>(text_[place_++] - '0');
      if (number > kMostNumber) return std::nullopt;
    }
    if (place_ == begin) return std::nullopt;
    return static_cast<uint32_t>(number);
  }
  std::optional<char> TakeCharacter() {
    SkipBlanks();
    return place_ < text_.size() ? std::optional<char>(text_[place_++]) : std::nullopt;
  }
  // What is left; `skip` bytes of it are left out.
  std::string_view Rest(size_t skip = 0) const {
    return text_.substr(std::min(place_ + skip, text_.size()));
  }
  bool AtEnd() {
    SkipBlanks();
    return place_ == text_.size();
  }

 private:
  void SkipBlanks() {
    while (place_ < text_.size() && (IsBlank(text_[place_]) || text_[place_] == '#')) {
      if (text_[place_] == '#') {
        place_ = std::min(text_.find_first_of("\r\n", place_), text_.size());
      } else {
        ++place_;
      }
    }
  }

  std::string_view text_;
  size_t place_ = 0;
};

// Depths of which the largest value has all bits set are what other formats
// have too.
void SetLevels(uint32_t most, SourceImage* image) {
  image->stored_bits = most > 255 ? 16 : 8;
  image->full_level = 0;
  for (int bits : {1, 2, 4, 8, 16}) {
    if (most != (1u << bits) - 1) continue;
    image->stored_bits = bits;
    return;
  }
  image->full_level = most;
}

Status TooLarge(uint32_t sample, uint32_t most) {
  return DataLossError("damaged PNM file: a sample of " + std::to_string(sample) +
                       ", where its header says " + std::to_string(most) + " at most");
}

Status CutFile(uint64_t missing) {
  return DataLossError("cut PNM file: " + std::to_string(missing) +
                       " of its samples are missing or no numbers");
}

void Store(uint32_t sample, size_t index, SourceImage* image) {
  if (image->sample_bytes == 1) {
    image->samples[index] = static_cast<uint8_t>(sample);
  } else {
    const auto wide = static_cast<uint16_t>(sample);
    std::memcpy(&image->samples[2 * index], &wide, sizeof wide);
  }
}

Status ReadText(PnmText text, uint64_t count, uint32_t most, SourceImage* image) {
  for (uint64_t i = 0; i < count; ++i) {
    const std::optional<uint32_t> sample = text.TakeNumber();
    if (!sample.has_value()) return CutFile(count - i);
    if (*sample > most) return TooLarge(*sample, most);
    Store(*sample, i, image);
  }
  image->had_stray_bytes = !text.AtEnd();
  return OkStatus();
}

Status ReadBinary(std::string_view data, uint64_t count, uint32_t most, SourceImage* image) {
  const auto bytes = static_cast<size_t>(image->sample_bytes);
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t sample = static_cast<uint8_t>(data[i * bytes]);
    if (bytes == 2) sample = sample << 8 | static_cast<uint8_t>(data[2 * i + 1]);
    if (sample > most) return TooLarge(sample, most);
    Store(sample, i, image);
  }
  image->had_stray_bytes = data.size() > count * bytes;
  return OkStatus();
}

// What stands behind the header of a binary file: one blank ends it. Where the file is longer than
// that by the rest of a line, as programs write that end lines in two characters or in a comment,
// this belongs to the header too.
std::string_view BinaryData(const PnmText& header, uint64_t bytes) {
  const std::string_view rest = header.Rest();
  if (rest.size() <= bytes + 1) return header.Rest(1);
  const std::string_view end = rest.substr(0, rest.size() - bytes);
  const size_t text = std::min(end.find_first_not_of(" \t"), end.size() - 1);
  const size_t line_end = end.find_first_of("\r\n");
  const bool is_line =
      line_end == end.size() - 1 || end.substr(std::min(line_end, end.size())) == "\r\n";
  const bool is_comment = end[text] == '#' && is_line;
  return end == "\r\n" || is_comment ? rest.substr(end.size()) : header.Rest(1);
}

uint64_t BytesOfBits(ImageSize size) {
  return uint64_t{size.height} * ((uint64_t{size.width} + 7) / 8);
}

// Bits are 1 where it is black.
Status ReadBinaryBits(std::string_view data, SourceImage* image) {
  const size_t row_bytes = BytesOfBits({1, image->size.width});
  for (uint32_t y = 0; y < image->size.height; ++y) {
    uint8_t* row = &image->samples[uint64_t{y} * image->size.width];
    for (uint32_t x = 0; x < image->size.width; ++x) {
      row[x] = (~static_cast<uint8_t>(data[y * row_bytes + x / 8]) >> (7 - x % 8)) & 1;
    }
  }
  image->had_stray_bytes = data.size() > row_bytes * image->size.height;
  return OkStatus();
}

Status ReadTextBits(PnmText text, SourceImage* image) {
  for (size_t i = 0; i < image->samples.size(); ++i) {
    const std::optional<char> digit = text.TakeCharacter();
    if (digit != '0' && digit != '1') return CutFile(image->samples.size() - i);
    image->samples[i] = digit == '0' ? 1 : 0;
  }
  image->had_stray_bytes = !text.AtEnd();
  return OkStatus();
}

void Allocate(ImageSize size, PixelLayout layout, uint32_t most, SourceImage* image) {
  AllocateSamples(size, layout, most > 255 ? 2 : 1, image);
  image->palette.clear();
  image->has_transparency = image->was_cmyk = false;
  SetLevels(most, image);
}

Status CheckSize(ImageSize size, uint64_t max_pixels) {
  if (size.pixels() <= max_pixels) return OkStatus();
  return InvalidArgumentError(DescribeImageSize(size) + " is more than --max-pixels " +
                              std::to_string(max_pixels));
}

Status DecodeBits(const PnmText& header, bool is_text, ImageSize size, SourceImage* image) {
  const uint64_t count = size.pixels();
  const std::string_view data = is_text ? header.Rest() : BinaryData(header, BytesOfBits(size));
  const uint64_t bits =
      is_text ? data.size() : data.size() / BytesOfBits({1, size.width}) * size.width;
  if (bits < count) return CutFile(count - bits);
  Allocate(size, PixelLayout::kGray, 1, image);
  return is_text ? ReadTextBits(header, image) : ReadBinaryBits(data, image);
}

}  // namespace

Status DecodePnm(std::string_view file, uint64_t max_pixels, SourceImage* image) {
  const char kind = file.size() > 2 ? file[1] : '0';
  const bool is_text = kind >= '1' && kind <= '3', is_gray = kind == '2' || kind == '5';
  const bool is_bits = kind == '1' || kind == '4';
  PnmText header(file.substr(std::min<size_t>(2, file.size())));
  const std::optional<uint32_t> width = header.TakeNumber(), height = header.TakeNumber();
  const std::optional<uint32_t> most = is_bits ? 1 : header.TakeNumber();
  if (width.value_or(0) == 0 || height.value_or(0) == 0 || most.value_or(0) == 0 ||
      *most > kMostLevel) {
    return DataLossError("damaged PNM file: its header has no usable width, height and maximum");
  }
  const ImageSize size = {*height, *width};
  RETURN_IF_ERROR(CheckSize(size, max_pixels));
  if (is_bits) return DecodeBits(header, is_text, size, image);
  const uint64_t count = size.pixels() * (is_gray ? 1 : 3);
  const uint64_t bytes = count * (*most > 255 ? 2 : 1);
  // A number of a text takes a digit and a blank, but for the last.
  const std::string_view data = is_text ? header.Rest() : BinaryData(header, bytes);
  if (data.size() < (is_text ? 2 * count - 1 : bytes)) {
    return CutFile(count - data.size() / (is_text ? 2 : bytes / count));
  }
  Allocate(size, is_gray ? PixelLayout::kGray : PixelLayout::kRgb, *most, image);
  return is_text ? ReadText(header, count, *most, image) : ReadBinary(data, count, *most, image);
}

}  // namespace shardmill
