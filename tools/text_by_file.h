// Text about what was found in several files, a paragraph for each.
//
// Pure functions; safe for concurrent use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reader/console/terminal.h"
#include "reader/console/units.h"

namespace shardmill {

// "1 record", "1,234 records".
inline std::string CountOf(uint64_t count, const std::string& noun) {
  return FormatCount(count) + " " + noun + (count == 1 ? "" : "s");
}

// Items that stand next to each other and have the same `file` are told together: its name, what
// `describe(first, end)` makes of them, an empty line.
template <typename Item, typename Describe>
std::string TextByFile(const std::vector<Item>& items, bool colored, Describe describe) {
  std::string text;
  for (size_t first = 0; first < items.size();) {
    size_t end = first + 1;
    while (end < items.size() && items[end].file == items[first].file) ++end;
    const std::string name = EscapeControl(items[first].file);
    text += (colored ? "\x1b[1m" + name + "\x1b[0m\n" : name + "\n") +
            describe(items.data() + first, items.data() + end) + "\n";
    first = end;
  }
  return text;
}

}  // namespace shardmill
