// The error that an exception becomes where it must not go on: at the entry of a thread, of a
// command, of a callback.
#pragma once

#include <string_view>

#include "reader/base/status.h"

namespace shardmill {

// Memory that is not to be had is trouble of this machine at this moment, like a full disk: Io, and
// no input is at fault. `advice` says what to do then.
Status OutOfMemoryError(std::string_view where,
                        std::string_view advice = "give more, or ask for fewer threads");

// "WHERE: …" for the exception that is being handled: call it in a catch block. OutOfMemoryError()
// for std::bad_alloc, else Internal: nothing else may leave our code.
Status ExceptionStatus(std::string_view where);

}  // namespace shardmill
