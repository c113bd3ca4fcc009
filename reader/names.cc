#include "reader/names.h"

#include <cstdio>
#include <cstring>

namespace shardmill {
namespace {

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Length of the UTF-8 sequence at the start of `text`, 0 when it is malformed.
size_t Utf8SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
  if (lead == 0xED && byte(1) > 0x9F) return 0;  // surrogate
  if (lead == 0xF0 && byte(1) < 0x90) return 0;  // overlong
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;  // above U+10FFFF
  return length;
}

// Takes exactly five digits off the end of `text`.
std::optional<uint32_t> TakeFiveDigits(std::string_view* text) {
  constexpr size_t kDigits = 5;
  if (text->size() < kDigits) return std::nullopt;
  uint32_t value = 0;
  for (const char c : text->substr(text->size() - kDigits)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<uint32_t>(c - '0');
  }
  text->remove_suffix(kDigits);
  return value;
}

// Whether all bytes are 0x20 to 0x7E; most keys are, and eight are looked at in one go. The last
// eight may overlap those before: a loop over what is left costs more, since lengths vary.
bool IsPrintableAscii(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  // The top bit of a byte tells that it is 0x80 or above, below 0x20, or 0x7F.
  const auto bad_bits = [](uint64_t word) { return word | (word - kOnes * 0x20) | (word + kOnes); };
  if (text.size() < 8) {
    uint64_t word = kOnes * ' ';
    std::memcpy(&word, text.data(), text.size());
    return (bad_bits(word) & kOnes * 0x80) == 0;
  }
  uint64_t bad = 0;
  uint64_t word;
  for (size_t i = 0; i + 8 < text.size(); i += 8) {
    std::memcpy(&word, text.data() + i, 8);
    bad |= bad_bits(word);
  }
  std::memcpy(&word, text.data() + text.size() - 8, 8);
  return ((bad | bad_bits(word)) & kOnes * 0x80) == 0;
}

bool TakeSuffix(std::string_view suffix, std::string_view* text) {
  if (text->size() < suffix.size() || text->substr(text->size() - suffix.size()) != suffix) {
    return false;
  }
  text->remove_suffix(suffix.size());
  return true;
}

}  // namespace

bool IsPlainName(std::string_view name) {
  if (name.empty() || name.size() > 64 || !IsLetterOrDigit(name[0])) return false;
  for (const char c : name) {
    if (!IsLetterOrDigit(c) && c != '_' && c != '.' && c != '-') return false;
  }
  return true;
}

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool IsRecordKey(std::string_view key) {
  if (key.empty() || key.size() > kMaxKeyBytes) return false;
  if (IsPrintableAscii(key)) return true;
  if (!IsValidUtf8(key)) return false;
  for (const char c : key) {
    if (static_cast<uint8_t>(c) < 0x20 || c == 0x7F) return false;
  }
  return true;
}

std::string ShardFileName(const std::string& split, uint32_t shard_number, uint32_t shard_count) {
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "-%05u-of-%05u.shard", shard_number, shard_count);
  return split + numbers;
}

std::optional<ShardName> ParseShardFileName(std::string_view name) {
  if (!TakeSuffix(".shard", &name)) return std::nullopt;
  const std::optional<uint32_t> count = TakeFiveDigits(&name);
  if (!count || *count == 0 || *count > kMaxShards) return std::nullopt;
  if (!TakeSuffix("-of-", &name)) return std::nullopt;
  const std::optional<uint32_t> number = TakeFiveDigits(&name);
  if (!number || *number >= *count) return std::nullopt;
  if (!TakeSuffix("-", &name) || !IsPlainName(name)) return std::nullopt;
  return ShardName{std::string(name), *number, *count};
}

}  // namespace shardmill
