// Writes one JSON document, indented by two blanks or on one line, keys in the order in which they
// are given.
//
//   JsonWriter json;
//   json.BeginObject();
//   json.Key("records").Number(367);
//   json.Key("shards").BeginArray();
//   json.String("train-00000-of-00001.shard");
//   json.EndArray();
//   json.EndObject();
//   std::string text = json.Take();
//
// Numbers of 64 bits are written as JSON numbers. Strings that are not UTF-8 get U+FFFD in place
// of each bad byte; doubles that are not finite become null. Not for concurrent use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardmill {

enum class JsonStyle { kIndented, kOneLine };

class JsonWriter {
 public:
  explicit JsonWriter(JsonStyle style = JsonStyle::kIndented) : style_(style) {}

  JsonWriter& BeginObject();
  JsonWriter& EndObject();
  JsonWriter& BeginArray();
  JsonWriter& EndArray();
  JsonWriter& Key(std::string_view key);  // the next call writes its value
  JsonWriter& String(std::string_view value);
  JsonWriter& Number(int64_t value);
  JsonWriter& Number(uint64_t value);
  JsonWriter& Number(int value) { return Number(static_cast<int64_t>(value)); }
  JsonWriter& Number(uint32_t value) { return Number(static_cast<uint64_t>(value)); }
  JsonWriter& Number(double value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();

  // The document and a line end. Everything that was begun must have ended.
  std::string Take();

 private:
  JsonWriter& Value(std::string_view text);
  JsonWriter& Begin(char bracket);
  JsonWriter& End(char bracket);
  void Separate();  // comma, line end and indent, as the place asks for
  void NewLine();

  JsonStyle style_;
  std::string text_;
  std::vector<bool> has_members_;  // of each open object or array
  bool after_key_ = false;
};

// `value` in quotes, escaped as JSON asks for.
std::string JsonQuote(std::string_view value);

}  // namespace shardmill
