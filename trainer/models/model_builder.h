// Writes model descriptions layer by layer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/graph/model_spec.h"

namespace shardmill {

// Every call appends one layer and returns the name of the value that it makes: the layer's name.
class ModelBuilder {
 public:
  ModelBuilder(std::string name, int64_t input_channels);

  std::string Convolution(const std::string& name, const std::string& input, int64_t channels,
                          const Window& window, bool bias = false);
  std::string TransposedConvolution(const std::string& name, const std::string& input,
                                    int64_t channels, const Window& window, bool bias = false);
  std::string BatchNorm(const std::string& name, const std::string& input, Activation activation);
  std::string MaxPool(const std::string& name, const std::string& input, const Window& window);
  std::string MaxUnpool(const std::string& name, const std::string& input,
                        const std::string& indices_of);
  std::string Dropout(const std::string& name, const std::string& input, double drop,
                      bool whole_channels);
  std::string Concat(const std::string& name, std::vector<std::string> inputs);
  std::string Add(const std::string& name, std::vector<std::string> inputs, Activation activation);
  // A layer that has nothing but its kind.
  std::string Plain(const std::string& name, LayerKind kind, const std::string& input);

  // Convolution without bias, batch norm and ReLU: `prefix`/convolution, `prefix`/norm.
  std::string NormalizedConvolution(const std::string& prefix, const std::string& input,
                                    int64_t channels, const Window& window);

  ModelSpec Take() { return std::move(model_); }

 private:
  LayerSpec& Append(const std::string& name, LayerKind kind, std::vector<std::string> inputs);

  ModelSpec model_;
};

// The window of a transposed 3 × 3 convolution that doubles height and width.
Window DoublingWindow();

}  // namespace shardmill
