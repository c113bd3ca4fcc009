// Kernels of input.h, confusion.h and update.h.
#include "trainer/cuda/kernels/confusion.h"
#include "trainer/cuda/kernels/device_launch.cuh"
#include "trainer/cuda/kernels/input.h"
#include "trainer/cuda/kernels/update.h"

namespace shardmill {

template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const WindowSumsKernel&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const InputKernel<float>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const InputKernel<Bfloat16>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const ConfusionKernel<uint8_t>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const ConfusionKernel<uint16_t>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const SquaresKernel&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const FoldFinishKernel<DoubleSum, FinishNorm>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const UpdateKernel<UpdateRule::kPlainSgd>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const UpdateKernel<UpdateRule::kMomentumSgd>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const UpdateKernel<UpdateRule::kNesterovSgd>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const UpdateKernel<UpdateRule::kAdam>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t,
                                    const UpdateKernel<UpdateRule::kRmsProp>&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const AddUpKernel&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const AddNumbersKernel&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const DivideKernel&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const AverageKernel&);
template cudaError_t LaunchOnDevice(cudaStream_t, int64_t, const NarrowKernel&);

}  // namespace shardmill
