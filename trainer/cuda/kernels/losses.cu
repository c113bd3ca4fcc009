// Kernels of cross_entropy.h and dice.h.
#include "trainer/cuda/kernels/cross_entropy.h"
#include "trainer/cuda/kernels/device_launch.cuh"
#include "trainer/cuda/kernels/dice.h"

namespace shardmill {

template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const LossWeightKernel&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const FoldKernel<double, DoubleSum>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const FoldFinishKernel<DoubleSum, FinishScaledSum>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const CrossEntropyKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const CrossEntropyKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const TargetProbabilityKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const TargetProbabilityKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const CountProbabilitiesKernel&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const ArgmaxKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const ArgmaxKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const LogOfSumKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const LogOfSumKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const DiceSumsKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const DiceSumsKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const FoldKernel<SliceSums<kDiceSums>, Sums<kDiceSums>>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const FoldFinishKernel<Sums<kDiceSums>, FinishDiceSums>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const DiceImageKernel&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const DiceLossKernel&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const DiceGradientKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const DiceGradientKernel<Bfloat16>&);

}  // namespace shardmill
