// Which errors are faults of an input, so that it may be left out.
#pragma once

#include "reader/base/status.h"

namespace shardmill {

// An input that is cut, garbage or of a wrong kind is so wherever it is packed. A file that is gone
// or that the system does not give out (a disk, a mount, a permission) is trouble of this machine
// at this moment: no set may be made as if such inputs did not exist, so it ends the pack.
inline bool IsInputFault(const Status& status) {
  return status.code() == StatusCode::kDataLoss || status.code() == StatusCode::kInvalidArgument;
}

}  // namespace shardmill
