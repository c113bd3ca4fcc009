// Checksums of the shard format: XXH3-64 and XXH3-128.
//
// They find damage, not malice: anyone who changes data can change its checksum too. Pure
// functions, safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace shardmill {

// XXH3-64 with seed 0.
uint64_t Checksum64(const void* data, uint64_t bytes);

// XXH3-64 of many pieces: piece i is [begin + bounds[i], begin + bounds[i + 1]). For short pieces
// several times faster than one call for each. Requires pieces + 1 bounds in ascending order.
void Checksum64Each(const uint8_t* begin, const uint64_t* bounds, size_t pieces, uint64_t* sums);

// XXH3-64 of `bytes` bytes in which the eight at `field_offset` are taken as zero: a structure
// that carries its own checksum. Requires field_offset + 8 <= bytes.
uint64_t Checksum64WithZeroedField(const void* data, uint64_t bytes, uint64_t field_offset);

using Digest = std::array<uint8_t, 16>;  // XXH3-128, canonical (big-endian) byte order

// XXH3-128 with seed 0.
Digest Digest128(const void* data, uint64_t bytes);
inline Digest Digest128(std::string_view data) { return Digest128(data.data(), data.size()); }

std::string DigestToHex(const Digest& digest);  // 32 lower-case hex digits
// The reverse; nullopt unless `hex` is exactly 32 lower-case hex digits.
std::optional<Digest> DigestFromHex(std::string_view hex);

// XXH3-64 of pieces that arrive one after the other. Not for concurrent use.
class Checksum64Stream {
 public:
  Checksum64Stream();
  ~Checksum64Stream();
  Checksum64Stream(const Checksum64Stream&) = delete;
  Checksum64Stream& operator=(const Checksum64Stream&) = delete;

  void Update(const void* data, uint64_t bytes);
  uint64_t Value() const;  // of all pieces so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// XXH3-128 of pieces that arrive one after the other. Not for concurrent use.
class DigestStream {
 public:
  DigestStream();
  ~DigestStream();
  DigestStream(DigestStream&&) noexcept;
  DigestStream& operator=(DigestStream&&) noexcept;

  void Update(const void* data, uint64_t bytes);
  void Update(std::string_view data) { Update(data.data(), data.size()); }
  Digest Value() const;  // of all pieces so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shardmill
