// The rule for single files that commands write under a name of the user's.
//
// Free functions, safe from any thread.
#pragma once

#include <string>

#include "reader/base/status.h"

namespace shardmill {

enum class OutputKind { kPicture, kSafetensors, kTrace };

// Whether the file at `path`, which `option` names, may be written: its folder is there and takes
// new files, and what has that name is nothing, empty, or of the same kind. A mistyped name then
// costs no checkpoint, configuration, shard or photograph, and no results at the end of the work.
Status CheckOutputFile(const std::string& option, const std::string& path, OutputKind kind);

}  // namespace shardmill
