// Little-endian numbers in byte arrays, at any alignment. The compiler makes one move of each.
#pragma once

#include <cstdint>

namespace shardmill {

inline uint32_t LoadU32(const uint8_t* bytes) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value |= static_cast<uint32_t>(bytes[i]) << (8 * i);
  return value;
}

inline uint64_t LoadU64(const uint8_t* bytes) {
  return LoadU32(bytes) | static_cast<uint64_t>(LoadU32(bytes + 4)) << 32;
}

inline void StoreU32(uint32_t value, uint8_t* bytes) {
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * i));
}

inline void StoreU64(uint64_t value, uint8_t* bytes) {
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * i));
}

}  // namespace shardmill
