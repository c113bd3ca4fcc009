// The device descriptions of the source tree.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "reader/base/file.h"
#include "trainer/cuda/dnn/device_description.h"

namespace shardmill {

inline std::string DeviceJson(const std::string& name) {
  const auto json = ReadFile("trainer/cuda/dnn/devices/" + name + ".json", 1 << 16);
  EXPECT_TRUE(json.ok()) << json.status().ToString();
  return json.ok() ? *json : "";
}

inline DeviceDescription DescribedDevice(const std::string& name) {
  auto device = DeviceDescription::FromJson(DeviceJson(name));
  SHARDMILL_CHECK(device.ok());
  return std::move(*device);
}

}  // namespace shardmill
