#include "reader/base/exception_status.h"

#include <exception>
#include <new>
#include <string>

namespace shardmill {

Status OutOfMemoryError(std::string_view where, std::string_view advice) {
  return IoError(std::string(where) + ": out of memory; " + std::string(advice));
}

Status ExceptionStatus(std::string_view where) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return OutOfMemoryError(where);
  } catch (const std::exception& error) {
    return InternalError(std::string(where) + ": unexpected exception: " + error.what());
  } catch (...) {
    return InternalError(std::string(where) + ": unexpected exception of unknown kind");
  }
}

}  // namespace shardmill
