#include "trainer/models/classifier.h"

#include <string>
#include <utility>

#include "trainer/models/double_convolution.h"

namespace shardmill {

Result<ModelSpec> ClassifierSpec(const ClassifierOptions& options) {
  const bool stages = options.stages >= 1 && options.stages <= 8;
  if (options.classes < 2 || options.width < 1 || !stages || options.width > 4096 ||
      options.input_channels < 1) {
    return InvalidArgumentError(
        "the classifier needs 2 or more classes, a width of 1 … 4096 and 1 … 8 stages");
  }
  ModelSpec model;
  model.name = "classifier";
  model.input_channels = options.input_channels;
  std::string value = "images";
  for (int64_t stage = 0; stage < options.stages; ++stage) {
    const std::string prefix = "stage" + std::to_string(stage + 1);
    value = AppendDoubleConvolution(prefix, value, options.width << stage, &model.layers);
    value = AppendHalving(prefix + "/pool", value, &model.layers);
  }
  LayerSpec average;
  average.name = "average";
  average.kind = LayerKind::kGlobalAveragePool;
  average.inputs = {value};

  LayerSpec head;
  head.name = "head";
  head.kind = LayerKind::kConvolution;
  head.inputs = {average.name};
  head.channels = options.classes;
  head.bias = true;
  model.layers.push_back(std::move(average));
  model.layers.push_back(std::move(head));
  return model;
}

}  // namespace shardmill
