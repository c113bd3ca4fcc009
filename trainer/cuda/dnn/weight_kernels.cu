// Kernels of weight_kernels.h.
#include "trainer/cuda/dnn/weight_kernels.h"

#include "trainer/cuda/kernels/device_launch.cuh"

namespace shardmill {

template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const WeightsToDnnKernel<float, float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const WeightsToDnnKernel<float, Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const WeightsToDnnKernel<Bfloat16, Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const WeightsFromDnnKernel<float, float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const WeightsFromDnnKernel<Bfloat16, float>&);

}  // namespace shardmill
