// Kernels of elementwise.h and concat.h.
#include "trainer/cuda/kernels/concat.h"
#include "trainer/cuda/kernels/device_launch.cuh"
#include "trainer/cuda/kernels/elementwise.h"

namespace shardmill {

template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const ActivationForwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const ActivationForwardKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const ActivationBackwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const ActivationBackwardKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const AddKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const AddKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const DropoutKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const DropoutKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const NormalizeImagesKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const NormalizeImagesKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const ConcatForwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const ConcatForwardKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const ConcatBackwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const ConcatBackwardKernel<Bfloat16>&);

}  // namespace shardmill
