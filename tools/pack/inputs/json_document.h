// JSON files of other programs, as a tree.
#pragma once

#include <string>
#include <string_view>

#include "rapidjson/document.h"
#include "reader/base/status.h"

namespace shardmill {

// InvalidArgument names the line of a mistake. However deep the text is nested, the stack is not
// used up.
Result<rapidjson::Document> ParseJson(std::string_view text);

// What a member of an object holds; nullptr: `value` is no object, or has no such member.
const rapidjson::Value* FindMember(const rapidjson::Value& value, const char* name);
// The member's text, or empty where there is none.
std::string TextMember(const rapidjson::Value& value, const char* name);

}  // namespace shardmill
