#include "reader/base/out_of_memory_exit.h"

#include <cxxabi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

#include "reader/base/status.h"

namespace shardmill {
namespace {

// Made beforehand: there is no memory for it then.
char message[512];
std::terminate_handler handler_before = nullptr;

bool IsOutOfMemory() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  return type != nullptr &&
         (*type == typeid(std::bad_alloc) || *type == typeid(std::bad_array_new_length));
}

[[noreturn]] void HandleTerminate() {
  if (IsOutOfMemory()) {
    (void)(::write(STDERR_FILENO, message, std::strlen(message)) == 0);
    // Nothing is cleaned up: what was unfinished stays as a kill would leave it.
    std::_Exit(ExitCode(IoError("")));
  }
  if (handler_before != nullptr) handler_before();
  std::abort();
}

}  // namespace

void ExitWhenOutOfMemory(const std::string& program) {
  std::snprintf(message, sizeof message,
                "%s: error: out of memory; give more, or ask for fewer threads\n", program.c_str());
  const std::terminate_handler before = std::set_terminate(HandleTerminate);
  if (before != HandleTerminate) handler_before = before;
}

}  // namespace shardmill
