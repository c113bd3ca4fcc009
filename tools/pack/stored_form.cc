#include "tools/pack/stored_form.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace shardmill {
namespace {

// Numbers of a file in its byte order; nothing where the file ends before.
class Numbers {
 public:
  Numbers(std::string_view file, bool big_endian) : file_(file), big_endian_(big_endian) {}

  std::optional<uint64_t> At(uint64_t offset, int bytes) const {
    const auto count = static_cast<uint64_t>(bytes);
    if (offset > file_.size() || file_.size() - offset < count) return std::nullopt;
    uint64_t value = 0;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t place = offset + (big_endian_ ? i : count - 1 - i);
      value = value << 8 | static_cast<uint8_t>(file_[place]);
    }
    return value;
  }

 private:
  std::string_view file_;
  bool big_endian_;
};

// The sizes in which the two kinds of TIFF differ.
struct TiffSizes {
  uint64_t first_folder;  // where its offset stands
  int offset, entry_count;
  uint64_t entry, value;  // bytes of an entry, and where its value stands in it
};
constexpr TiffSizes kTiff = {4, 4, 2, 12, 8};
constexpr TiffSizes kBigTiff = {8, 8, 8, 20, 12};

constexpr uint64_t kTiffBitsPerSample = 258, kTiffPhotometric = 262;
constexpr uint64_t kTiffPalette = 3;

// The first value of an entry whose values are of 16 bits, behind their offset when they do not
// fit into the entry.
std::optional<uint64_t> ShortValue(const Numbers& numbers, const TiffSizes& sizes, uint64_t entry) {
  const std::optional<uint64_t> count = numbers.At(entry + 4, sizes.offset);
  if (!count.has_value()) return std::nullopt;
  if (*count <= static_cast<uint64_t>(sizes.offset) / 2) return numbers.At(entry + sizes.value, 2);
  const std::optional<uint64_t> place = numbers.At(entry + sizes.value, sizes.offset);
  return place.has_value() ? numbers.At(*place, 2) : std::nullopt;
}

StoredForm ReadTiff(std::string_view file) {
  const Numbers numbers(file, file.substr(0, 1) == "M");
  const TiffSizes& sizes = numbers.At(2, 2) == 43 ? kBigTiff : kTiff;
  StoredForm form;
  const std::optional<uint64_t> folder = numbers.At(sizes.first_folder, sizes.offset);
  if (!folder.has_value()) return form;
  const std::optional<uint64_t> entries = numbers.At(*folder, sizes.entry_count);
  if (!entries.has_value() || *entries > file.size() / sizes.entry) return form;
  const uint64_t first = *folder + static_cast<uint64_t>(sizes.entry_count);
  uint64_t bits = 1;  // where the file does not say
  for (uint64_t i = 0; i < *entries; ++i) {
    const uint64_t entry = first + i * sizes.entry;
    const std::optional<uint64_t> tag = numbers.At(entry, 2);
    if (tag == kTiffBitsPerSample) bits = ShortValue(numbers, sizes, entry).value_or(bits);
    if (tag == kTiffPhotometric) form.palette = ShortValue(numbers, sizes, entry) == kTiffPalette;
  }
  form.few_bits = bits < 8;
  form.several_pages = numbers.At(first + *entries * sizes.entry, sizes.offset).value_or(0) != 0;
  return form;
}

StoredForm ReadBmp(std::string_view file) {
  constexpr uint64_t kInfo = 14, kOldInfoBytes = 12;
  const Numbers numbers(file, false);
  StoredForm form;
  const uint64_t info_bytes = numbers.At(kInfo, 4).value_or(0);
  const bool old = info_bytes == kOldInfoBytes;
  const uint64_t bits = numbers.At(kInfo + (old ? 10 : 14), 2).value_or(24);
  if (bits > 8) return form;
  uint64_t colors = old ? 0 : numbers.At(kInfo + 32, 4).value_or(0);
  if (colors == 0) colors = uint64_t{1} << bits;
  // Gray is stored as a palette in which each colour is its own index: that loses nothing.
  for (uint64_t i = 0; i < std::min<uint64_t>(colors, 256) && !form.palette; ++i) {
    const uint64_t color = kInfo + info_bytes + i * (old ? 3 : 4);
    form.palette = numbers.At(color, 3).value_or(i * 0x010101) != i * 0x010101;
  }
  return form;
}

}  // namespace

StoredForm ReadStoredForm(std::string_view file, FileFormat format) {
  if (format == FileFormat::kTiff) return ReadTiff(file);
  if (format == FileFormat::kBmp) return ReadBmp(file);
  StoredForm form;
  form.few_bits =
      format == FileFormat::kPnm && (file.substr(0, 2) == "P1" || file.substr(0, 2) == "P4");
  return form;
}

}  // namespace shardmill
