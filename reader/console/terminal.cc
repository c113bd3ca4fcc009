#include "reader/console/terminal.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace shardmill {
namespace {

// Length of the UTF-8 sequence at the start of `text` (shortest form, no surrogates, up to
// U+10FFFF), or 0 when there is none. `code_point` gets its value.
size_t Utf8Length(std::string_view text, uint32_t* code_point) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  uint8_t lead = byte(0);
  if (lead < 0x80) {
    *code_point = lead;
    return 1;
  }
  size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  uint32_t value = lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest[length] || value > 0x10FFFF || surrogate) return 0;
  *code_point = value;
  return length;
}

// Also what ends lines (U+2028, U+2029) and what changes the order in which letters are shown, so
// that a name looks like another.
bool IsControl(uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0) ||
         (code_point >= 0x2028 && code_point <= 0x202E) ||
         (code_point >= 0x2066 && code_point <= 0x2069);
}

void AppendEscaped(std::string_view bytes, std::string* out) {
  for (char c : bytes) {
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<uint8_t>(c));
    *out += escaped;
  }
}

}  // namespace

std::string EscapeControl(std::string_view text, KeepLineEnds keep) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    uint32_t code_point = 0;
    size_t length = Utf8Length(text, &code_point);
    std::string_view piece = text.substr(0, length == 0 ? 1 : length);
    bool kept_line_end = keep == KeepLineEnds::kYes && piece == "\n";
    if (length == 0 || (IsControl(code_point) && !kept_line_end)) {
      AppendEscaped(piece, &out);
    } else {
      out += piece;
    }
    text.remove_prefix(piece.size());
  }
  return out;
}

bool HoldsControl(std::string_view text) {
  while (!text.empty()) {
    uint32_t code_point = 0;
    const size_t length = Utf8Length(text, &code_point);
    if (length == 0 || IsControl(code_point)) return true;
    text.remove_prefix(length);
  }
  return false;
}

bool IsTerminal(FILE* stream) { return isatty(fileno(stream)) == 1; }

bool WantsColor(FILE* stream) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* terminal = std::getenv("TERM");
  bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  return IsTerminal(stream) && !dumb;
}

}  // namespace shardmill
