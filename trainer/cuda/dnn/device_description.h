// What cuDNN must know of a device to choose plans for it, whether the device is there or not.
#pragma once

#include <string>

#include "reader/base/status.h"
#include "trainer/cuda/dnn/descriptor.h"

namespace shardmill {

class DeviceDescription {
 public:
  // `json`: the properties in cuDNN's own form; see devices/ for those of some devices.
  // InvalidArgument when it is no such description.
  static Result<DeviceDescription> FromJson(const std::string& json);
  // Of a device of this machine. Unavailable when it is not there.
  static Result<DeviceDescription> OfDevice(int device);

  const DnnDescriptor& properties() const { return properties_; }
  // "NVIDIA H200, sm_90, 132 multiprocessors": what plans depend on. The same for a described and
  // a real device of one kind, though clocks and memory may differ.
  const std::string& name() const { return name_; }

 private:
  DnnDescriptor properties_;
  std::string name_;
};

}  // namespace shardmill
