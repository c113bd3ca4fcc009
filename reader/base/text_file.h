// Text that people write with editors of all kinds. Free functions, safe from any thread.
#pragma once

#include <cstdint>
#include <string>

#include "reader/base/status.h"

namespace shardmill {

// As ReadFile, without the UTF-8 byte-order mark that some editors put before the text.
Result<std::string> ReadTextFile(const std::string& path, uint64_t max_bytes);

}  // namespace shardmill
