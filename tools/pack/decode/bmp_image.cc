#include "tools/pack/decode/bmp_image.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace shardmill {
namespace {

uint64_t RowBits(const BmpHeader& header) {
  return uint64_t{header.width} * static_cast<uint64_t>(header.bits);
}

// Rows end at a multiple of four bytes.
uint64_t RowBytes(const BmpHeader& header) { return (RowBits(header) + 31) / 32 * 4; }

// Of the picture, from the top.
uint32_t PlaceOfRow(const BmpHeader& header, uint32_t stored) {
  return header.from_top ? stored : header.height - 1 - stored;
}

Status CutFile(uint64_t there, uint64_t needed) {
  return DataLossError("cut BMP file: its pixels take " + std::to_string(needed) + " bytes, " +
                       std::to_string(there) + " are there");
}

bool IsOwnLevels(const std::vector<uint32_t>& palette) {
  for (uint32_t i = 0; i < palette.size(); ++i) {
    if (palette[i] != i * 0x010101) return false;
  }
  return true;
}

void ReadIndices(std::string_view pixels, const BmpHeader& header, SourceImage* image) {
  const auto bits = static_cast<uint32_t>(header.bits), per_byte = 8 / bits;
  const auto mask = static_cast<uint8_t>((1u << bits) - 1);
  for (uint32_t y = 0; y < header.height; ++y) {
    const std::string_view row = pixels.substr(y * RowBytes(header));
    uint8_t* out = &image->samples[uint64_t{PlaceOfRow(header, y)} * header.width];
    for (uint32_t x = 0; x < header.width; ++x) {
      const uint32_t shift = 8 - bits * (x % per_byte + 1);
      out[x] = static_cast<uint8_t>(static_cast<uint8_t>(row[x / per_byte]) >> shift) & mask;
    }
  }
}

// The runs of a file of 4 or 8 bits per pixel, whose rows go from the bottom to the top.
class RunReader {
 public:
  RunReader(std::string_view data, const BmpHeader& header, std::vector<uint8_t>* indices)
      : data_(data), header_(header), indices_(indices) {}

  Status Read() {
    while (!at_end_) {
      const int count = Take(), value = Take();
      if (value < 0 && Missing() == 0) return OkStatus();
      if (value < 0) return DataLossError("cut BMP file: its runs have no end");
      RETURN_IF_ERROR(count > 0 ? PutRun(count, value) : TakeMark(value));
    }
    if (Missing() == 0) return OkStatus();
    return DataLossError("this BMP file gives " + std::to_string(Missing()) +
                         " of its pixels no value; convert it");
  }

 private:
  uint64_t Missing() const { return uint64_t{header_.height} * header_.width - pixels_; }
  int Take() { return place_ < data_.size() ? static_cast<uint8_t>(data_[place_++]) : -1; }

  Status Put(int index) {
    if (x_ >= header_.width || y_ >= header_.height) {
      return DataLossError("damaged BMP file: a run goes beyond the picture");
    }
    const uint64_t row = PlaceOfRow(header_, static_cast<uint32_t>(y_));
    (*indices_)[row * header_.width + x_++] = static_cast<uint8_t>(index);
    ++pixels_;
    return OkStatus();
  }
  // The pixels of 4 bits alternate between the halves of `value`.
  Status PutRun(int count, int value) {
    for (int i = 0; i < count; ++i) {
      const int half = i % 2 == 0 ? value >> 4 : value & 15;
      RETURN_IF_ERROR(Put(header_.bits == 8 ? value : half));
    }
    return OkStatus();
  }
  // `count` pixels one by one, up to an even byte.
  Status PutPixels(int count) {
    const int bytes = header_.bits == 8 ? count : (count + 1) / 2;
    for (int i = 0; i < bytes; ++i) {
      const int value = Take();
      if (value < 0) return DataLossError("cut BMP file: it ends within a run");
      RETURN_IF_ERROR(PutRun(header_.bits == 8 ? 1 : std::min(2, count - 2 * i), value));
    }
    if (bytes % 2 != 0) Take();
    return OkStatus();
  }
  Status TakeMark(int mark) {
    constexpr int kEndOfRow = 0, kEndOfPicture = 1, kMove = 2;
    if (mark == kEndOfPicture) {
      at_end_ = true;
    } else if (mark == kEndOfRow) {
      x_ = 0;
      ++y_;
    } else if (mark == kMove) {
      const int right = Take(), up = Take();
      x_ += static_cast<uint64_t>(std::max(0, right));
      y_ += static_cast<uint64_t>(std::max(0, up));
    } else {
      return PutPixels(mark);
    }
    return OkStatus();
  }

  std::string_view data_;
  const BmpHeader& header_;
  std::vector<uint8_t>* indices_;
  size_t place_ = 0;
  // Runs move forwards alone: with 64 bits no file is long enough to come back to a pixel.
  uint64_t x_ = 0, y_ = 0, pixels_ = 0;
  bool at_end_ = false;
};

// `most` is the largest value of a sample in the image.
void ReadChannels(std::string_view pixels, const BmpHeader& header, int channels, uint32_t most,
                  SourceImage* image) {
  const auto pixel_bytes = static_cast<size_t>(header.bits / 8);
  const auto sample_bytes = static_cast<size_t>(image->sample_bytes);
  for (uint32_t y = 0; y < header.height; ++y) {
    const char* in = pixels.data() + y * RowBytes(header);
    uint8_t* out = &image->samples[uint64_t{PlaceOfRow(header, y)} * header.width *
                                   static_cast<uint64_t>(channels) * sample_bytes];
    for (uint32_t x = 0; x < header.width; ++x, in += pixel_bytes) {
      uint32_t pixel = 0;
      for (size_t i = pixel_bytes; i > 0; --i) {
        pixel = pixel << 8 | static_cast<uint8_t>(in[i - 1]);
      }
      for (int c = 0; c < channels; ++c, out += sample_bytes) {
        const BmpChannel& channel = header.channels[static_cast<size_t>(c)];
        const uint32_t full = (1u << channel.bits) - 1;
        const uint64_t sample = uint64_t{pixel >> channel.shift & full} * most;
        const auto spread = static_cast<uint16_t>((sample + full / 2) / full);
        if (sample_bytes == 1) {
          *out = static_cast<uint8_t>(spread);
        } else {
          std::memcpy(out, &spread, sizeof spread);
        }
      }
    }
  }
}

Status DecodePalette(std::string_view pixels, const BmpHeader& header, SourceImage* image) {
  const bool is_gray = IsOwnLevels(header.palette);
  AllocateSamples({header.height, header.width},
                  is_gray ? PixelLayout::kGray : PixelLayout::kPalette, 1, image);
  image->stored_bits = is_gray ? 8 : header.bits;
  if (!is_gray) image->palette = header.palette;
  if (header.packing == BmpPacking::kRunLength) {
    RETURN_IF_ERROR(RunReader(pixels, header, &image->samples).Read());
  } else {
    ReadIndices(pixels, header, image);
  }
  const uint8_t highest = *std::max_element(image->samples.begin(), image->samples.end());
  if (highest < header.palette.size()) return OkStatus();
  return DataLossError("damaged file: a pixel has palette index " + std::to_string(highest) +
                       ", the palette has " + std::to_string(header.palette.size()) + " colours");
}

}  // namespace

Status DecodeBmp(std::string_view file, const BmpHeader& header, SourceImage* image) {
  const std::string_view pixels = file.substr(header.pixel_offset);
  // Nothing is lost where the last row is not filled up.
  const uint64_t needed = (header.height - 1) * RowBytes(header) + (RowBits(header) + 7) / 8;
  if (header.packing == BmpPacking::kRows && pixels.size() < needed) {
    return CutFile(pixels.size(), needed);
  }
  image->palette.clear();
  image->was_cmyk = image->had_stray_bytes = image->had_broken_exif = false;
  image->has_transparency = false;
  image->orientation = 1;
  if (header.bits <= 8) return DecodePalette(pixels, header, image);
  int most_bits = 0;
  bool is_spread = false;
  for (const BmpChannel& channel : header.channels) {
    most_bits = std::max(most_bits, channel.bits);
    is_spread |= channel.bits != 0 && channel.bits != 8;
  }
  const int channels = header.channels[3].bits > 0 ? 4 : 3, sample_bytes = most_bits > 8 ? 2 : 1;
  AllocateSamples({header.height, header.width},
                  channels == 4 ? PixelLayout::kRgba : PixelLayout::kRgb, sample_bytes, image);
  image->stored_bits = 8 * sample_bytes;
  image->has_transparency = channels == 4;
  image->was_spread = is_spread;
  ReadChannels(pixels, header, channels, sample_bytes == 1 ? 255 : 65535, image);
  return OkStatus();
}

}  // namespace shardmill
