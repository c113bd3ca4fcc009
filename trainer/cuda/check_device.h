// Whether a device of this machine can run this build.
#pragma once

#include <string>

#include "reader/base/status.h"

namespace shardmill {

// Makes the device current. See CudaPlugin::check_device.
Status CheckDevice(int device, std::string* name);

}  // namespace shardmill
