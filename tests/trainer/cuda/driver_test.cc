#include "trainer/cuda/driver.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "trainer/cuda/plugin_library.h"

namespace shardmill {
namespace {

// Once the stand-in is loaded, it is what the name of the driver means in this process.
void LoadFakeDriver() {
  ASSERT_NE(dlopen("tests/trainer/cuda/libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), nullptr)
      << dlerror();
}

void SetDriver(const char* version, const char* initialization, const char* devices) {
  setenv("FAKE_CUDA_VERSION", version, 1);
  setenv("FAKE_CUDA_INIT", initialization, 1);
  setenv("FAKE_CUDA_DEVICES", devices, 1);
}

std::string Refusal() {
  const auto driver = FindCudaDriver();
  EXPECT_EQ(driver.status().code(), StatusCode::kUnavailable);
  return driver.status().message();
}

TEST(CudaDriver, SaysWhatIsMissing) {
  LoadFakeDriver();
  unsetenv("CUDA_VISIBLE_DEVICES");
  SetDriver("12040", "0", "0");
  EXPECT_EQ(Refusal(), "the NVIDIA driver (for CUDA 12.4) sees no GPU");
  SetDriver("12040", "100", "1");
  EXPECT_EQ(Refusal(), "the NVIDIA driver (for CUDA 12.4) sees no GPU");
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  EXPECT_EQ(Refusal(),
            "the NVIDIA driver (for CUDA 12.4) sees no GPU: CUDA_VISIBLE_DEVICES is \"\"");
  SetDriver("13010", "803", "1");
  EXPECT_EQ(Refusal(),
            "the NVIDIA driver (for CUDA 13.1) does not start: words of the driver (error 803)");
}

TEST(CudaDriver, TellsVersionAndDevices) {
  LoadFakeDriver();
  SetDriver("13010", "0", "8");
  const auto driver = FindCudaDriver();
  ASSERT_TRUE(driver.ok()) << driver.status().ToString();
  EXPECT_EQ(driver->version, 13010);
  EXPECT_EQ(driver->devices, 8);
}

TEST(CudaPluginLibrary, ProgramWithoutThePluginSaysSo) {
  LoadFakeDriver();
  SetDriver("13000", "0", "1");
  const auto device = OpenCudaDevice(0);
  EXPECT_EQ(device.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(device.status().message().find("this build has no CUDA backend"), std::string::npos)
      << device.status().message();
  SetDriver("13000", "0", "0");
  const std::string both = OpenCudaDevice(0).status().message();
  EXPECT_NE(both.find("sees no GPU"), std::string::npos) << both;
  EXPECT_NE(both.find("no CUDA backend"), std::string::npos) << both;
}

}  // namespace
}  // namespace shardmill
