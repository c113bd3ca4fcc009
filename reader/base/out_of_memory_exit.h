// The last resort of a program that runs out of memory where no error can be returned: in what a
// library does when it is loaded, or in a function that must not throw.
#pragma once

#include <string>

namespace shardmill {

// From now on a std::bad_alloc that nobody catches ends the process with "PROGRAM: error: out of
// memory" and the exit code of trouble with the machine, not with SIGABRT. Any other exception
// ends it as before. For the whole process; a later call changes the name only.
void ExitWhenOutOfMemory(const std::string& program);

}  // namespace shardmill
