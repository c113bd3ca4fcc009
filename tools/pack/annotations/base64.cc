#include "tools/pack/annotations/base64.h"

#include <cstdint>

namespace shardmill {
namespace {

int ValueOf(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

}  // namespace

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int count = 0;  // characters in `bits`
  int padding = 0;
  for (char c : text) {
    if (c == '\n' || c == '\r') continue;
    padding += c == '=';
    const int value = c == '=' ? 0 : ValueOf(c);
    // Nothing but padding may follow padding.
    if (value < 0 || (c != '=' && padding > 0) || padding > 2) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (++count < 4) continue;
    for (int shift = 16; shift >= 0; shift -= 8) out.push_back(static_cast<char>(bits >> shift));
    bits = 0;
    count = 0;
  }
  if (count != 0 || (padding > 0 && out.empty())) return std::nullopt;
  out.resize(out.size() - static_cast<size_t>(padding));
  return out;
}

}  // namespace shardmill
