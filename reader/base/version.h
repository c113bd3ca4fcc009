// The version of the programs, as they print it and as recipes record it.
#pragma once

#include <string_view>

namespace shardmill {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace shardmill
