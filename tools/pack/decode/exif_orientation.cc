#include "tools/pack/decode/exif_orientation.h"

#include <cstdint>
#include <optional>

namespace shardmill {
namespace {

constexpr int kAsStored = 1;
constexpr uint32_t kOrientationTag = 0x0112;
constexpr uint32_t kShortType = 3;
constexpr uint32_t kLongType = 4;
constexpr uint64_t kHeaderBytes = 8;
constexpr uint64_t kEntryBytes = 12;

// Numbers in the byte order that the header names; the caller checks the bounds.
class TiffNumbers {
 public:
  TiffNumbers(std::string_view bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  uint32_t Short(uint64_t offset) const {
    const uint32_t first = Byte(offset), second = Byte(offset + 1);
    return big_endian_ ? first << 8 | second : second << 8 | first;
  }
  uint32_t Long(uint64_t offset) const {
    const uint32_t first = Short(offset), second = Short(offset + 2);
    return big_endian_ ? first << 16 | second : second << 16 | first;
  }

 private:
  uint32_t Byte(uint64_t offset) const { return static_cast<uint8_t>(bytes_[offset]); }

  std::string_view bytes_;
  bool big_endian_;
};

// What the 12-byte entry at `offset` says, when it is the orientation's.
std::optional<ExifReading> ReadEntry(const TiffNumbers& numbers, uint64_t offset) {
  if (numbers.Short(offset) != kOrientationTag) return std::nullopt;
  const uint32_t type = numbers.Short(offset + 2);
  uint32_t value = 0;
  if (type == kShortType) value = numbers.Short(offset + 8);
  if (type == kLongType) value = numbers.Long(offset + 8);
  const bool is_usable = numbers.Long(offset + 4) == 1 && value >= 1 && value <= 8;
  return is_usable ? ExifReading{static_cast<int>(value), false} : ExifReading{kAsStored, true};
}

}  // namespace

ExifReading ReadExif(std::string_view tiff) {
  constexpr ExifReading kBroken = {kAsStored, true};
  if (tiff.empty()) return {};
  if (tiff.size() < kHeaderBytes) return kBroken;
  const std::string_view mark = tiff.substr(0, 4);
  const bool big_endian = mark == std::string_view("MM\0*", 4);
  if (!big_endian && mark != std::string_view("II*\0", 4)) return kBroken;
  const TiffNumbers numbers(tiff, big_endian);
  const uint64_t directory = numbers.Long(4);
  if (directory < kHeaderBytes || directory + 2 > tiff.size()) return kBroken;
  const uint64_t entries = numbers.Short(directory);
  for (uint64_t i = 0; i < entries; ++i) {
    const uint64_t offset = directory + 2 + i * kEntryBytes;
    if (offset + kEntryBytes > tiff.size()) return kBroken;
    const std::optional<ExifReading> reading = ReadEntry(numbers, offset);
    if (reading.has_value()) return *reading;
  }
  return {};
}

}  // namespace shardmill
