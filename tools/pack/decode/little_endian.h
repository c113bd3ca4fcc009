// Little-endian numbers of a file that may end before them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace shardmill {

// The number of `bytes` bytes, at most 8, at `offset`; nothing where the file ends before.
inline std::optional<uint64_t> LittleEndianAt(std::string_view file, uint64_t offset, int bytes) {
  const auto count = static_cast<uint64_t>(bytes);
  if (offset > file.size() || file.size() - offset < count) return std::nullopt;
  uint64_t value = 0;
  for (uint64_t i = 0; i < count; ++i) {
    value = value << 8 | static_cast<uint8_t>(file[offset + count - 1 - i]);
  }
  return value;
}

}  // namespace shardmill
