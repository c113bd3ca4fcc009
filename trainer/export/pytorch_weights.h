// The weights of a checkpoint under the names and in the layouts of PyTorch's modules.
//
// "down1/convolution1/weight" becomes "down1.convolution1.weight"; kernels are turned from
// [out, height, width, in] to those of Conv2d, [out, in / groups, height, width], or of
// ConvTranspose2d, [in, out / groups, height, width]; scale, shift and running statistics of batch
// norm become weight, bias, running_mean and running_var, slopes of PReLU weight. A model of the
// same module names loads them with load_state_dict.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/checkpoint/checkpoint.h"

namespace shardmill {

struct NamedArray {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> values;
};

enum class WeightChoice {
  kAverage,  // the moving average, where the checkpoint has one
  kNewest,
};

// InvalidArgument when the checkpoint does not say what its layers are.
Result<std::vector<NamedArray>> PytorchWeights(const LoadedCheckpoint& checkpoint,
                                               WeightChoice choice);

}  // namespace shardmill
