#include "reader/base/checksum.h"

// The plain entry points of Debian's build use SSE2 only; the dispatching ones pick AVX2 or
// AVX-512 at run time and are several times faster.
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>
#endif

#include "reader/base/short_checksum.h"
#include "reader/base/status.h"

namespace shardmill {
namespace {

Digest ToDigest(XXH128_hash_t hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  Digest digest;
  for (size_t i = 0; i < digest.size(); ++i) digest[i] = canonical.digest[i];
  return digest;
}

}  // namespace

uint64_t Checksum64(const void* data, uint64_t bytes) {
  return bytes <= kShortChecksumBytes ? ShortChecksum64(data, bytes) : XXH3_64bits(data, bytes);
}

uint64_t Checksum64WithZeroedField(const void* data, uint64_t bytes, uint64_t field_offset) {
  SHARDMILL_CHECK(bytes >= 8 && field_offset <= bytes - 8);
  static constexpr uint8_t kZeros[8] = {};
  const uint8_t* begin = static_cast<const uint8_t*>(data);
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, begin, field_offset);
  XXH3_64bits_update(&state, kZeros, sizeof kZeros);
  XXH3_64bits_update(&state, begin + field_offset + 8, bytes - field_offset - 8);
  return XXH3_64bits_digest(&state);
}

Digest Digest128(const void* data, uint64_t bytes) { return ToDigest(XXH3_128bits(data, bytes)); }

std::string DigestToHex(const Digest& digest) {
  static constexpr char kHexDigits[] = "0123456789abcdef";
  std::string hex;
  for (const uint8_t byte : digest) {
    hex += kHexDigits[byte >> 4];
    hex += kHexDigits[byte & 15];
  }
  return hex;
}

std::optional<Digest> DigestFromHex(std::string_view hex) {
  Digest digest = {};
  if (hex.size() != 2 * digest.size()) return std::nullopt;
  for (size_t i = 0; i < hex.size(); ++i) {
    const char c = hex[i];
    int value = 0;
    if (c >= '0' && c <= '9') {
      value = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      value = c - 'a' + 10;
    } else {
      return std::nullopt;
    }
    digest[i / 2] = static_cast<uint8_t>(digest[i / 2] << 4 | value);
  }
  return digest;
}

struct Checksum64Stream::State {
  XXH3_state_t state;
};

Checksum64Stream::Checksum64Stream() : state_(std::make_unique<State>()) {
  XXH3_INITSTATE(&state_->state);
  XXH3_64bits_reset(&state_->state);
}
Checksum64Stream::~Checksum64Stream() = default;

void Checksum64Stream::Update(const void* data, uint64_t bytes) {
  XXH3_64bits_update(&state_->state, data, bytes);
}

uint64_t Checksum64Stream::Value() const { return XXH3_64bits_digest(&state_->state); }

struct DigestStream::State {
  XXH3_state_t state;
};

DigestStream::DigestStream() : state_(std::make_unique<State>()) {
  XXH3_INITSTATE(&state_->state);
  XXH3_128bits_reset(&state_->state);
}
DigestStream::~DigestStream() = default;
DigestStream::DigestStream(DigestStream&&) noexcept = default;
DigestStream& DigestStream::operator=(DigestStream&&) noexcept = default;

void DigestStream::Update(const void* data, uint64_t bytes) {
  XXH3_128bits_update(&state_->state, data, bytes);
}

Digest DigestStream::Value() const { return ToDigest(XXH3_128bits_digest(&state_->state)); }

}  // namespace shardmill
