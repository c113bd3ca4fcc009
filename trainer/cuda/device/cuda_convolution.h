// A convolution on the device: cuDNN's plans, and small kernels around them.
#pragma once

#include <memory>

#include "trainer/cuda/device/cuda_backend.h"
#include "trainer/cuda/dnn/convolution_plan_set.h"

namespace shardmill {

// `backend` must outlive the operation. With bf16 the weights are bf16, the bias and both gradients
// f32; else all is f32.
std::unique_ptr<ConvolutionOp> CreateCudaConvolution(CudaBackend* backend,
                                                     const ConvolutionShape& shape,
                                                     const ConvolutionPlanSet& plans);

}  // namespace shardmill
