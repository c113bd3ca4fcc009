#include "tools/pack/stored_form.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace shardmill {
namespace {

// Little-endian numbers of a file; nothing where the file ends before.
class Numbers {
 public:
  explicit Numbers(std::string_view file) : file_(file) {}

  std::optional<uint64_t> At(uint64_t offset, int bytes) const {
    const auto count = static_cast<uint64_t>(bytes);
    if (offset > file_.size() || file_.size() - offset < count) return std::nullopt;
    uint64_t value = 0;
    for (uint64_t i = 0; i < count; ++i) {
      value = value << 8 | static_cast<uint8_t>(file_[offset + count - 1 - i]);
    }
    return value;
  }

 private:
  std::string_view file_;
};

StoredForm ReadBmp(std::string_view file) {
  constexpr uint64_t kInfo = 14, kOldInfoBytes = 12;
  const Numbers numbers(file);
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
  if (format == FileFormat::kBmp) return ReadBmp(file);
  StoredForm form;
  form.few_bits =
      format == FileFormat::kPnm && (file.substr(0, 2) == "P1" || file.substr(0, 2) == "P4");
  return form;
}

}  // namespace shardmill
