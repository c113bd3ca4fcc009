// The first bytes of a file, for headers.
#pragma once

#include <cstdint>
#include <string>

namespace shardmill {

// At most `bytes` bytes; fewer when the file is shorter, none when it cannot be read.
std::string ReadFileStart(const std::string& path, uint64_t bytes);

}  // namespace shardmill
