#include "reader/console/json_writer.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "reader/base/status.h"

namespace shardmill {
namespace {

// Bytes of the UTF-8 sequence at the start of `text`, or 0 when there is none.
size_t Utf8Length(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  // Sequences that are longer than needed, surrogates, and code points above U+10FFFF.
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;
  if (lead == 0xed && byte(1) > 0x9f) return 0;
  if (lead == 0xf0 && byte(1) < 0x90) return 0;
  if (lead == 0xf4 && byte(1) > 0x8f) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

std::string EscapeAscii(char c) {
  switch (c) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  if (static_cast<uint8_t>(c) >= 0x20 && c != 0x7f) return std::string(1, c);
  char escaped[8];
  std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
  return escaped;
}

template <typename T>
std::string ToText(T value) {
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

}  // namespace

std::string JsonQuote(std::string_view value) {
  std::string quoted = "\"";
  while (!value.empty()) {
    const size_t length = Utf8Length(value);
    if (length == 0) {
      quoted += "\xef\xbf\xbd";
    } else if (length == 1) {
      quoted += EscapeAscii(value.front());
    } else {
      quoted += value.substr(0, length);
    }
    value.remove_prefix(length == 0 ? 1 : length);
  }
  return quoted + "\"";
}

JsonWriter& JsonWriter::BeginObject() { return Begin('{'); }
JsonWriter& JsonWriter::EndObject() { return End('}'); }
JsonWriter& JsonWriter::BeginArray() { return Begin('['); }
JsonWriter& JsonWriter::EndArray() { return End(']'); }

JsonWriter& JsonWriter::Key(std::string_view key) {
  SHARDMILL_CHECK(!has_members_.empty() && !after_key_);
  Separate();
  text_ += JsonQuote(key) + ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view value) { return Value(JsonQuote(value)); }
JsonWriter& JsonWriter::Number(int64_t value) { return Value(ToText(value)); }
JsonWriter& JsonWriter::Number(uint64_t value) { return Value(ToText(value)); }
JsonWriter& JsonWriter::Number(double value) {
  return std::isfinite(value) ? Value(ToText(value)) : Null();
}
JsonWriter& JsonWriter::Bool(bool value) { return Value(value ? "true" : "false"); }
JsonWriter& JsonWriter::Null() { return Value("null"); }

std::string JsonWriter::Take() {
  SHARDMILL_CHECK(has_members_.empty() && !after_key_);
  return std::move(text_) + "\n";
}

JsonWriter& JsonWriter::Value(std::string_view text) {
  Separate();
  text_ += text;
  return *this;
}

JsonWriter& JsonWriter::Begin(char bracket) {
  Separate();
  text_ += bracket;
  has_members_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::End(char bracket) {
  SHARDMILL_CHECK(!has_members_.empty() && !after_key_);
  const bool had_members = has_members_.back();
  has_members_.pop_back();
  if (had_members) NewLine();
  text_ += bracket;
  return *this;
}

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_members_.empty()) return;
  if (has_members_.back()) text_ += style_ == JsonStyle::kOneLine ? ", " : ",";
  has_members_.back() = true;
  NewLine();
}

void JsonWriter::NewLine() {
  if (style_ == JsonStyle::kOneLine) return;
  text_ += '\n';
  text_.append(2 * has_members_.size(), ' ');
}

}  // namespace shardmill
