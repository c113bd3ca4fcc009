// Kernels of batch_norm.h and channel_sums.h.
#include "trainer/cuda/kernels/batch_norm.h"
#include "trainer/cuda/kernels/channel_sums.h"
#include "trainer/cuda/kernels/device_launch.cuh"

namespace shardmill {

template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const SliceMomentsKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const SliceMomentsKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const FoldKernel<SliceMoments, Moments>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const BatchNormForwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const BatchNormForwardKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const FoldBatchNormKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const FoldBatchNormKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const NormGradientSumsKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const NormGradientSumsKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const BatchNormBackwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const BatchNormBackwardKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const FoldFinishKernel<Moments, FinishMoments<float>>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const FoldFinishKernel<Moments, FinishMoments<Bfloat16>>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const UpdateRunningKernel&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const FoldKernel<SliceSums<2>, Sums<2>>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const FoldFinishKernel<Sums<2>, FinishNormGradients>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const PreluForwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const PreluForwardKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const PreluBackwardKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const PreluBackwardKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const ChannelSumsKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const ChannelSumsKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const AddBiasKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const AddBiasKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const FoldKernel<SliceSums<1>, Sums<1>>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const FoldFinishKernel<Sums<1>, FinishVector>&);

}  // namespace shardmill
