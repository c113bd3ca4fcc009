// Opens the files that a run writes bit by bit.
#pragma once

#include <string>

#include "reader/base/status.h"

namespace shardmill {

enum class LogStart { kEmpty, kAtEnd };

// The descriptor of the file at `path`, made where there is none. A pipe is taken where something
// reads it; else InvalidArgument: opening must not wait for a reader that may never come.
Result<int> OpenLog(const std::string& path, LogStart start);

}  // namespace shardmill
