#include "trainer/cuda/dnn/device_description.h"

#include <cuda_runtime_api.h>

#include <utility>

#include "rapidjson/document.h"
#include "rapidjson/error/en.h"
#include "trainer/cuda/runtime/cuda_status.h"

namespace shardmill {
namespace {

// What plans are chosen by. cuDNN reads a missing number as 0 and finds no plan.
constexpr const char* kNumbers[] = {
    "deviceVer",
    "multiProcessorCount",
    "totalGlobalMem",
    "regsPerBlock",
    "warpSize",
    "maxSharedMemoryPerBlock",
    "maxSharedMemoryPerBlockOptin",
    "maxRegistersPerSM",
    "maxCtasPerSM",
    "maxThreadsPerBlock",
    "maxThreadsPerSM",
    "smClockRateKHz",
    "memClockRateKHz",
    "l2CacheSize",
};

std::string NameText(const std::string& device, int64_t version, int64_t multiprocessors) {
  return device + ", sm_" + std::to_string(version / 10) + ", " + std::to_string(multiprocessors) +
         " multiprocessors";
}

Status CheckNumbers(const rapidjson::Document& document) {
  for (const char* name : kNumbers) {
    const auto member = document.FindMember(name);
    if (member == document.MemberEnd() || !member->value.IsInt64() ||
        member->value.GetInt64() <= 0) {
      return InvalidArgumentError(std::string("\"") + name +
                                  "\" is missing in the device description, or no positive number");
    }
  }
  return OkStatus();
}

Result<std::string> NameOf(const std::string& json) {
  rapidjson::Document document;
  document.Parse(json.data(), json.size());
  if (document.HasParseError()) {
    return InvalidArgumentError("the device description is no JSON: " +
                                std::string(GetParseError_En(document.GetParseError())) +
                                " at byte " + std::to_string(document.GetErrorOffset()));
  }
  if (!document.IsObject()) {
    return InvalidArgumentError("the device description is no JSON object");
  }
  RETURN_IF_ERROR(CheckNumbers(document));
  const auto name = document.FindMember("deviceName");
  if (name == document.MemberEnd() || !name->value.IsString()) {
    return InvalidArgumentError("\"deviceName\" is missing in the device description, or no text");
  }
  return NameText(name->value.GetString(), document["deviceVer"].GetInt64(),
                  document["multiProcessorCount"].GetInt64());
}

}  // namespace

Result<DeviceDescription> DeviceDescription::FromJson(const std::string& json) {
  DeviceDescription description;
  ASSIGN_OR_RETURN(description.name_, NameOf(json));
  ASSIGN_OR_RETURN(description.properties_,
                   DnnBuilder(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, "the device")
                       .Text(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, json)
                       .Finalize());
  return description;
}

Result<DeviceDescription> DeviceDescription::OfDevice(int device) {
  cudaDeviceProp properties;
  RETURN_IF_ERROR(CudaStatus(cudaGetDeviceProperties(&properties, device), "describe the device"));
  DeviceDescription description;
  description.name_ = NameText(properties.name, 100 * properties.major + 10 * properties.minor,
                               properties.multiProcessorCount);
  const int32_t number = device;
  ASSIGN_OR_RETURN(description.properties_,
                   DnnBuilder(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, "the device")
                       .Value(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, number)
                       .Finalize());
  return description;
}

}  // namespace shardmill
