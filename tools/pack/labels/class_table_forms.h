// Class tables in other forms than CSV.
//
// Free functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/inputs/text_lines.h"

namespace shardmill {

struct TableEntry {
  uint64_t line = 0;  // 0: not known
  std::string name;
  std::optional<uint32_t> color = {};
  std::optional<uint32_t> id = {};  // as the table says it; it may be no usable one
};

// "7", as a number of 32 bits; nullopt for anything else.
std::optional<uint32_t> ParseClassId(std::string_view text);

// "219", "219.0": some tables hold decimals. nullopt for anything but a whole number 0 … 255.
std::optional<uint32_t> ParseLevel(std::string_view text);

// InvalidArgument where lines that are read as names alone, without a header, look like a table of
// another form: "names:", "road 128 64 128", "sky 0", or numbered lines behind one that is not.
Status CheckPlainNames(const std::vector<TextLine>& lines);

// "name:r,g,b:parts:actions", the labelmap.txt of VOC exports. nullopt: the lines are not of this
// form.
std::optional<std::vector<TableEntry>> ParseLabelMap(const std::vector<TextLine>& lines);

// "R G B name", the label_colors.txt of CamVid. nullopt: the lines are not of this form.
std::optional<std::vector<TableEntry>> ParseColorLines(const std::vector<TextLine>& lines);

// "ID NAME", "ID: NAME" or "ID,NAME" in every line. nullopt: the lines are not of this form.
std::optional<std::vector<TableEntry>> ParseNumberedNames(const std::vector<TextLine>& lines);

// A JSON list of names, or of objects with a name and perhaps a color ([r,g,b] or "#rrggbb");
// alone, or as "labels", "classes" or "categories" of an object; perhaps with an id.
Result<std::vector<TableEntry>> ParseClassJson(std::string_view text);

}  // namespace shardmill
