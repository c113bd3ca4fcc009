// Labels as text, in lists and annotations: which of them are class ids, and which are missing.
//
// Free functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"

namespace shardmill {

// "7", "007", "7.0" and "-1" are whole numbers; nullopt: the text is none. Numbers that are too
// large for any id are the largest of the type, and those far below zero the smallest.
std::optional<int64_t> ParseWholeNumber(std::string_view text);

// What programs write where they have no value.
bool IsMissingLabel(std::string_view text);

// The ids of the labels when all are whole numbers; nullopt when one is a name. InvalidArgument
// when one is no usable id.
Result<std::optional<std::set<uint32_t>>> IdsOfLabels(const std::set<std::string>& labels);

// A note for each two names that differ in case and blanks alone.
std::vector<std::string> NoteSimilarNames(const std::vector<ClassInfo>& classes);

}  // namespace shardmill
