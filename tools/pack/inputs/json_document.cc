#include "tools/pack/inputs/json_document.h"

#include <algorithm>

#include "rapidjson/error/en.h"

namespace shardmill {

Result<rapidjson::Document> ParseJson(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    text.remove_prefix(kByteOrderMark.size());
  }
  rapidjson::Document document;
  // Without its full precision, which shifts by undefined amounts for numbers such as 0e62, and is
  // better by a few units in the last place alone.
  document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
      text.data(), text.size());
  if (!document.HasParseError()) return document;
  const auto end =
      text.begin() + static_cast<std::ptrdiff_t>(std::min(document.GetErrorOffset(), text.size()));
  const auto line = std::count(text.begin(), end, '\n') + 1;
  return InvalidArgumentError("line " + std::to_string(line) + ": this is no JSON: " +
                              rapidjson::GetParseError_En(document.GetParseError()));
}

const rapidjson::Value* FindMember(const rapidjson::Value& value, const char* name) {
  if (!value.IsObject()) return nullptr;
  const auto member = value.FindMember(name);
  return member == value.MemberEnd() ? nullptr : &member->value;
}

std::string TextMember(const rapidjson::Value& value, const char* name) {
  const rapidjson::Value* member = FindMember(value, name);
  if (member == nullptr || !member->IsString()) return "";
  return std::string(member->GetString(), member->GetStringLength());
}

}  // namespace shardmill
