#include "trainer/cuda/runtime/device_code.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace shardmill {
namespace {

TEST(DeviceCode, DeviceRunsTheKernelsOfThisBuildOrThereIsNone) {
  int devices = 0;
  const cudaError_t found = cudaGetDeviceCount(&devices);
  const cudaError_t code = CheckDeviceCode();
  if (found == cudaSuccess && devices > 0) {
    EXPECT_EQ(code, cudaSuccess) << cudaGetErrorString(code);
  } else {
    EXPECT_NE(code, cudaSuccess);
    const char* const required = std::getenv("REQUIRE_GPU");
    ASSERT_TRUE(required == nullptr || std::string(required) != "1") << cudaGetErrorString(found);
    GTEST_SKIP() << "no GPU: " << cudaGetErrorString(found);
  }
}

}  // namespace
}  // namespace shardmill
