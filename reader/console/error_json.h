// What a command with --json prints when it fails: a program that reads stdout gets one object in
// each case.
//
// Pure function, safe from any thread.
#pragma once

#include <string>

#include "reader/base/status.h"

namespace shardmill {

// {"path", "status": "NotFound", "exit_code", "error"}; `path` is what the command was to work
// on, or empty.
std::string ErrorJson(const std::string& path, const Status& status);

}  // namespace shardmill
