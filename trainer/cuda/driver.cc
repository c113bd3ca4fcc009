#include "trainer/cuda/driver.h"

#include <dlfcn.h>

#include <cstdlib>

namespace shardmill {
namespace {

// The driver's interface is frozen; these three calls need no header.
constexpr char kDriverLibrary[] = "libcuda.so.1";
using DriverVersion = int (*)(int* version);
using Initialize = int (*)(unsigned flags);
using DeviceCount = int (*)(int* count);
using ErrorText = int (*)(int code, const char** text);
constexpr int kNoDevice = 100;

template <typename Function>
Function Symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

std::string Words(void* library, int code) {
  const char* text = nullptr;
  const auto error_text = Symbol<ErrorText>(library, "cuGetErrorString");
  if (error_text == nullptr || error_text(code, &text) != 0 || text == nullptr) {
    return "error " + std::to_string(code);
  }
  return std::string(text) + " (error " + std::to_string(code) + ")";
}

Status NoDevice(int version) {
  std::string message = "the NVIDIA driver (for CUDA " + CudaVersionText(version) + ") sees no GPU";
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr) message += ": CUDA_VISIBLE_DEVICES is \"" + std::string(visible) + "\"";
  return UnavailableError(message);
}

}  // namespace

std::string CudaVersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Result<CudaDriver> FindCudaDriver() {
  void* const library = dlopen(kDriverLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return UnavailableError("there is no NVIDIA driver (" + std::string(dlerror()) + ")");
  }
  const auto version = Symbol<DriverVersion>(library, "cuDriverGetVersion");
  const auto initialize = Symbol<Initialize>(library, "cuInit");
  const auto count = Symbol<DeviceCount>(library, "cuDeviceGetCount");
  if (version == nullptr || initialize == nullptr || count == nullptr) {
    return UnavailableError(std::string(kDriverLibrary) + " is no NVIDIA driver");
  }
  CudaDriver driver;
  if (const int code = version(&driver.version); code != 0) {
    return UnavailableError("the NVIDIA driver does not work: " + Words(library, code));
  }
  int code = initialize(0);
  if (code == 0) code = count(&driver.devices);
  if (code == kNoDevice || (code == 0 && driver.devices == 0)) return NoDevice(driver.version);
  if (code != 0) {
    return UnavailableError("the NVIDIA driver (for CUDA " + CudaVersionText(driver.version) +
                            ") does not start: " + Words(library, code));
  }
  return driver;
}

}  // namespace shardmill
