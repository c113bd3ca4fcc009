#include "trainer/models/double_convolution.h"

#include <utility>

namespace shardmill {

std::string AppendDoubleConvolution(const std::string& prefix, const std::string& input,
                                    int64_t channels, std::vector<LayerSpec>* layers) {
  std::string value = input;
  for (const char* number : {"1", "2"}) {
    LayerSpec convolution;
    convolution.name = prefix + "/convolution" + number;
    convolution.kind = LayerKind::kConvolution;
    convolution.inputs = {value};
    convolution.channels = channels;
    convolution.window = SquareWindow(3, 1, 1);

    LayerSpec norm;
    norm.name = prefix + "/norm" + number;
    norm.kind = LayerKind::kBatchNorm;
    norm.inputs = {convolution.name};
    norm.activation = Activation::kRelu;

    value = norm.name;
    layers->push_back(std::move(convolution));
    layers->push_back(std::move(norm));
  }
  return value;
}

std::string AppendHalving(const std::string& name, const std::string& input,
                          std::vector<LayerSpec>* layers) {
  LayerSpec pool;
  pool.name = name;
  pool.kind = LayerKind::kMaxPool;
  pool.inputs = {input};
  pool.window = SquareWindow(2, 2, 0);
  layers->push_back(std::move(pool));
  return name;
}

}  // namespace shardmill
