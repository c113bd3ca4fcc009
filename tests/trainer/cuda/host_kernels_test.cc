// Every operation of the GPU's op table, run on the host, in both element types.
#include "trainer/cuda/ops/host_kernels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/trainer/cuda/operation_suite.h"
#include "tests/trainer/cuda/step_suite.h"
#include "tests/trainer/tensor_near.h"
#include "trainer/cuda/kernels/bfloat16.h"
#include "trainer/cuda/ops/host_backend.h"
#include "trainer/cuda/ops/kernel_ops.h"
#include "trainer/ops/reference/reference_backend.h"

namespace shardmill {
namespace {

// One pixel; odd sizes and channels; whole groups; more channels than slices.
const Shape kShapes[] = {{1, 1, 1, 1},  {1, 5, 7, 3},   {2, 9, 6, 17},
                         {3, 8, 8, 16}, {2, 3, 3, 130}, {1, 31, 33, 12}};

void ExpectAgreement(const Shape& shape, SuiteLabels labels) {
  const auto reference = CreateReferenceOps(ElementType::kF32);
  const auto full = CreateHostKernelOps(ElementType::kF32, KernelOrder::kDescending);
  const auto narrow = CreateHostKernelOps(ElementType::kBf16, KernelOrder::kDescending);
  const auto expected = RunOperations(reference.get(), shape, labels);
  ExpectNearResults(RunOperations(full.get(), shape, labels), expected, kNormTolerance);
  ExpectNearResults(RunOperations(narrow.get(), shape, labels), expected, kBfloat16Tolerance);
}

TEST(HostKernels, BothTypesAgreeWithReference) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(ShapeText(shape));
    ExpectAgreement(shape, SuiteLabels::kSome);
  }
}

TEST(HostKernels, BatchOfIgnoredLabelsAgreesWithReference) {
  ExpectAgreement({1, 5, 7, 3}, SuiteLabels::kAllIgnored);
  ExpectAgreement({2, 4, 4, 12}, SuiteLabels::kAllIgnored);
}

// Devices run indices in any order, and at once.
TEST(HostKernels, OrderOfTheIndicesDoesNotChangeABit) {
  for (const ElementType type : {ElementType::kF32, ElementType::kBf16}) {
    KernelOps<HostKernelBackend> up(type, KernelOrder::kAscending);
    KernelOps<HostKernelBackend> down(type, KernelOrder::kDescending);
    ExpectSameBits(RunOperations(&up, {2, 21, 19, 11}, SuiteLabels::kSome),
                   RunOperations(&down, {2, 21, 19, 11}, SuiteLabels::kSome));
    ExpectSameBits(StepSuite<KernelOps<HostKernelBackend>>(&up).Run(),
                   StepSuite<KernelOps<HostKernelBackend>>(&down).Run());
  }
}

// From float to bf16: halves go to the even neighbour, NaN and infinity stay.
TEST(Bfloat16, RoundsToTheNearest) {
  EXPECT_EQ(Rounded<Bfloat16>(1.0f), 1.0f);
  EXPECT_EQ(Rounded<Bfloat16>(1.0f + 0x1p-8f), 1.0f);
  EXPECT_EQ(Rounded<Bfloat16>(1.0f + 0x1.8p-7f), 1.0f + 0x1p-6f);
  EXPECT_EQ(Rounded<Bfloat16>(1.0f + 0x1.1p-8f), 1.0f + 0x1p-7f);
  EXPECT_EQ(Rounded<Bfloat16>(-3.0e38f), -Rounded<Bfloat16>(3.0e38f));
  EXPECT_EQ(Rounded<Bfloat16>(INFINITY), INFINITY);
  EXPECT_EQ(Rounded<Bfloat16>(3.4e38f), INFINITY);
  EXPECT_TRUE(std::isnan(Rounded<Bfloat16>(NAN)));
}

}  // namespace
}  // namespace shardmill
