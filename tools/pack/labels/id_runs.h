// Runs of one value, of which label images consist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace shardmill {

// Where the run that begins at ids[begin] ends; it ends at `end` at the latest.
template <typename Id>
size_t RunEnd(const Id* ids, size_t begin, size_t end) {
  static_assert(sizeof(Id) <= 2);
  constexpr uint64_t kOnes = sizeof(Id) == 1 ? 0x0101010101010101u : 0x0001000100010001u;
  constexpr size_t kIdsPerWord = 8 / sizeof(Id);
  const uint64_t run = ids[begin] * kOnes;
  size_t at = begin;
  for (; at + kIdsPerWord <= end; at += kIdsPerWord) {
    uint64_t word;
    std::memcpy(&word, ids + at, sizeof word);
    // The lowest bit that differs lies in the first id that does (little-endian hosts only).
    if (word != run) {
      return at + static_cast<size_t>(__builtin_ctzll(word ^ run)) / (8 * sizeof(Id));
    }
  }
  while (at < end && ids[at] == ids[begin]) ++at;
  return at;
}

// The length of the run of equal pixels of `pixel_bytes` bytes that begins at the first of `count`.
inline size_t PixelRun(const uint8_t* pixels, size_t count, size_t pixel_bytes) {
  const size_t bytes = (count - 1) * pixel_bytes;  // that have a next pixel
  size_t at = 0;
  for (; at + 8 <= bytes; at += 8) {
    uint64_t word, next;
    std::memcpy(&word, pixels + at, sizeof word);
    std::memcpy(&next, pixels + at + pixel_bytes, sizeof next);
    if (word == next) continue;
    at += static_cast<size_t>(__builtin_ctzll(word ^ next)) / 8;
    return at / pixel_bytes + 1;
  }
  while (at < bytes && pixels[at] == pixels[at + pixel_bytes]) ++at;
  return at / pixel_bytes + 1;
}

}  // namespace shardmill
