// Kernels of pooling.h, upsample.h and whole_image.h.
#include "trainer/cuda/kernels/device_launch.cuh"
#include "trainer/cuda/kernels/pooling.h"
#include "trainer/cuda/kernels/upsample.h"
#include "trainer/cuda/kernels/whole_image.h"

namespace shardmill {

template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const MaxPoolForwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const MaxPoolForwardKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const MaxPoolBackwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const MaxPoolBackwardKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const MaxPoolGatherKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const MaxPoolGatherKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const AveragePoolForwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const AveragePoolForwardKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const AveragePoolBackwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const AveragePoolBackwardKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const UpsampleForwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const UpsampleForwardKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const UpsampleBackwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const UpsampleBackwardKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const GlobalAveragePoolForwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const GlobalAveragePoolForwardKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const GlobalAveragePoolBackwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const GlobalAveragePoolBackwardKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const StatisticsPoolForwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const StatisticsPoolForwardKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const StatisticsPoolBackwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const StatisticsPoolBackwardKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const ZeroPaddingKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const ZeroPaddingKernel<Bfloat16>&);

}  // namespace shardmill
