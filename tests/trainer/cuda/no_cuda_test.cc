// Stands in for the tests that need CUDA, where the build found none.
#include <gtest/gtest.h>

TEST(Cuda, IsPartOfThisBuild) {
  GTEST_SKIP() << "no CUDA, cuDNN and NCCL in CUDA_HOME or /usr/local/cuda";
}
