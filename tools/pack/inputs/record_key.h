// Record keys: the names by which records are known for ever.
#pragma once

#include <string>
#include <string_view>

#include "reader/base/status.h"

namespace shardmill {

// The key of a file: its path below the source folder, with control characters and bytes that are
// not UTF-8 as %XX, and so that different paths have different keys: "%" as %25, and the "#" of a
// "#vN" at the end as %23. InvalidArgument when that is no key (too long).
Result<std::string> RecordKey(std::string_view relative_path);

}  // namespace shardmill
