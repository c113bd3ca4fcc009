#include "reader/record_meta_scan.h"

#include "proto/record_meta.pb.h"
#include "reader/block_format.h"
#include "reader/names.h"

namespace shardmill {
namespace {

constexpr uint8_t kKeyTag = 0x0A;  // field 1, length-delimited
constexpr uint8_t kContinues = 0x80;

// Skips fields 2 to 15 of wire type 0, of at most 9 bytes each; false: there is something else.
bool SkipPlainNumbers(const uint8_t* at, const uint8_t* end) {
  while (at < end) {
    const uint8_t tag = *at++;
    if (tag < 0x10 || tag > 0x78 || (tag & 7) != 0) return false;
    const uint8_t* const number = at;
    while (at < end && (*at & kContinues) != 0) ++at;
    if (at == end || at - number >= 9) return false;
    ++at;
  }
  return true;
}

// The key of a message that begins with it and goes on with plain numbers, as the deterministic
// form does; empty: it has another form, which says nothing about its soundness.
std::string_view PlainKey(const uint8_t* bytes, uint64_t size) {
  if (size < 3 || bytes[0] != kKeyTag) return {};
  uint64_t length = bytes[1];
  uint64_t start = 2;
  if ((bytes[1] & kContinues) != 0) {
    if ((bytes[2] & kContinues) != 0) return {};
    length = uint64_t{bytes[1]} - kContinues + (uint64_t{bytes[2]} << 7);
    start = 3;
  }
  if (length > size - start) return {};
  if (!SkipPlainNumbers(bytes + start + length, bytes + size)) return {};
  return {reinterpret_cast<const char*>(bytes + start), length};
}

}  // namespace

std::string_view ScanRecordKey(const uint8_t* bytes, uint64_t size, std::string* storage) {
  if (size > kMaxMetaBytes) return {};
  std::string_view key = PlainKey(bytes, size);
  if (key.empty()) {
    proto::RecordMeta meta;
    if (!meta.ParseFromArray(bytes, static_cast<int>(size))) return {};
    *storage = std::move(*meta.mutable_key());
    key = *storage;
  }
  return IsRecordKey(key) ? key : std::string_view();
}

}  // namespace shardmill
