#include "trainer/models/model_builder.h"

#include <utility>

namespace shardmill {

ModelBuilder::ModelBuilder(std::string name, int64_t input_channels) {
  model_.name = std::move(name);
  model_.input_channels = input_channels;
}

LayerSpec& ModelBuilder::Append(const std::string& name, LayerKind kind,
                                std::vector<std::string> inputs) {
  LayerSpec& layer = model_.layers.emplace_back();
  layer.name = name;
  layer.kind = kind;
  layer.inputs = std::move(inputs);
  return layer;
}

std::string ModelBuilder::Convolution(const std::string& name, const std::string& input,
                                      int64_t channels, const Window& window, bool bias) {
  LayerSpec& layer = Append(name, LayerKind::kConvolution, {input});
  layer.channels = channels;
  layer.window = window;
  layer.bias = bias;
  return name;
}

std::string ModelBuilder::TransposedConvolution(const std::string& name, const std::string& input,
                                                int64_t channels, const Window& window, bool bias) {
  Convolution(name, input, channels, window, bias);
  model_.layers.back().kind = LayerKind::kTransposedConvolution;
  return name;
}

std::string ModelBuilder::BatchNorm(const std::string& name, const std::string& input,
                                    Activation activation) {
  Append(name, LayerKind::kBatchNorm, {input}).activation = activation;
  return name;
}

std::string ModelBuilder::MaxPool(const std::string& name, const std::string& input,
                                  const Window& window) {
  Append(name, LayerKind::kMaxPool, {input}).window = window;
  return name;
}

std::string ModelBuilder::MaxUnpool(const std::string& name, const std::string& input,
                                    const std::string& indices_of) {
  Append(name, LayerKind::kMaxUnpool, {input}).indices_of = indices_of;
  return name;
}

std::string ModelBuilder::Dropout(const std::string& name, const std::string& input, double drop,
                                  bool whole_channels) {
  LayerSpec& layer = Append(name, LayerKind::kDropout, {input});
  layer.drop = drop;
  layer.whole_channels = whole_channels;
  return name;
}

std::string ModelBuilder::Concat(const std::string& name, std::vector<std::string> inputs) {
  Append(name, LayerKind::kConcat, std::move(inputs));
  return name;
}

std::string ModelBuilder::Add(const std::string& name, std::vector<std::string> inputs,
                              Activation activation) {
  Append(name, LayerKind::kAdd, std::move(inputs)).activation = activation;
  return name;
}

std::string ModelBuilder::Plain(const std::string& name, LayerKind kind, const std::string& input) {
  Append(name, kind, {input});
  return name;
}

std::string ModelBuilder::NormalizedConvolution(const std::string& prefix, const std::string& input,
                                                int64_t channels, const Window& window) {
  const std::string value = Convolution(prefix + "/convolution", input, channels, window);
  return BatchNorm(prefix + "/norm", value, Activation::kRelu);
}

Window DoublingWindow() { return {3, 3, 2, 2, 1, 1, 0, 0, 1, 1}; }

}  // namespace shardmill
