// The first bytes of a file, for headers.
#pragma once

#include <cstdint>
#include <string>

#include "reader/base/status.h"

namespace shardmill {

// At most `bytes` bytes; fewer when the file is shorter. NotFound or Io when it cannot be read.
Result<std::string> ReadFileStart(const std::string& path, uint64_t bytes);

}  // namespace shardmill
