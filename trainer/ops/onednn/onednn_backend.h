// The backend of CPUs. A portable build does not have it.
#pragma once

#include <memory>
#include <string>

#include "trainer/ops/op_table.h"

namespace shardmill {

// What convolutions multiply. All tensors, and all sums, are f32 in either case.
enum class ConvolutionPrecision { kF32, kBf16 };

// f32 on the host: oneDNN for convolutions, own vector code for the rest. Uses OpenMP's threads;
// their number must not change after the first convolution was prepared. Unavailable when the
// processor has no instructions for bf16, or the build has no oneDNN.
Result<std::unique_ptr<OpTable>> CreateOnednnOps(
    ConvolutionPrecision precision = ConvolutionPrecision::kF32);

std::string OnednnVersion();         // "oneDNN 2.6.3"
std::string OnednnInstructionSet();  // "AVX-512": what its kernels use on this processor

}  // namespace shardmill
