// Text and pictures as parts of an HTML page.
//
// Pure functions; safe for concurrent use.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace shardmill {

// Text that shows as it is, in an element or a quoted attribute: names from data can neither end
// it nor begin anything. Control characters and bytes that are not UTF-8 become \xNN.
std::string EscapeHtml(std::string_view text);

// A path or another long name, which breaks behind its parts before it breaks within them.
std::string LongName(std::string_view name);

std::string Base64(std::string_view bytes);

struct InlineFile {
  std::string_view type;  // "png" or "jpeg"
  std::string_view bytes;
};
// <img> with the file in it.
std::string InlinePicture(const InlineFile& file, const std::string& css_class,
                          std::string_view alt);

// A bar of `share` (0 … 1) of its column in the colour 0xRRGGBB.
std::string Bar(double share, uint32_t color);

// A row of cells; `tag` is td or th. The cells are HTML.
std::string TableRow(std::initializer_list<std::string> cells, std::string_view tag = "td");

}  // namespace shardmill
