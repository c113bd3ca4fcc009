// Where the running program lies, and with it its plug-ins.
#pragma once

#include <string>

#include "reader/base/status.h"

namespace shardmill {

// The path of `file` in the folder of the running executable. Unavailable when the system does not
// say where that is.
Result<std::string> PathBesideProgram(const std::string& file);

}  // namespace shardmill
