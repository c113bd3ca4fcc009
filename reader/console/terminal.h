// What may be written to a terminal: escaped names, and colour only where it is wanted.
//
// Free functions without state; safe from any thread.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace shardmill {

enum class KeepLineEnds { kNo, kYes };

// Replaces control characters (also the C1 range in UTF-8, and those that end lines or turn the
// direction of text) and bytes that are not UTF-8 by \xNN, so that a file name can neither move the
// cursor nor forge a line. Other text is unchanged.
std::string EscapeControl(std::string_view text, KeepLineEnds keep = KeepLineEnds::kNo);

// True when EscapeControl would change the text.
bool HoldsControl(std::string_view text);

bool IsTerminal(FILE* stream);

// True for a terminal, unless NO_COLOR is set to anything but the empty string or TERM is "dumb".
bool WantsColor(FILE* stream);

}  // namespace shardmill
