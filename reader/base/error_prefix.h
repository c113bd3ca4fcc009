// How the error messages of this process begin, whoever prints them.
#pragma once

#include <string>

namespace shardmill {

// `command` as its user wrote it: "shardmill pack". For the whole process, before it has other
// threads.
void SetErrorPrefix(const std::string& command);

// "shardmill pack: error: ", or "error: " where no command was set. From any thread.
std::string ErrorPrefix();

}  // namespace shardmill
