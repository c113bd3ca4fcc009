#include "trainer/models/unet.h"

#include <string>
#include <utility>
#include <vector>

#include "trainer/models/double_convolution.h"

namespace shardmill {
namespace {

constexpr int64_t kMaxChannels = 1 << 16;

Status CheckOptions(const UnetOptions& options) {
  if (options.classes < 2 || options.classes > kMaxChannels) {
    return InvalidArgumentError("U-Net needs 2 or more classes, not " +
                                std::to_string(options.classes));
  }
  const bool depth = options.depth >= 1 && options.depth <= 8;
  if (!depth || options.width < 1 || options.width > kMaxChannels >> options.depth) {
    return InvalidArgumentError("U-Net of width " + std::to_string(options.width) + " and depth " +
                                std::to_string(options.depth) +
                                ": the depth must lie in 1 … 8, the width in 1 … 65536 / 2^depth");
  }
  if (options.input_channels < 1) return InvalidArgumentError("images without channels");
  return OkStatus();
}

std::string AppendUpsampling(const std::string& prefix, const std::string& input,
                             const std::string& skip, int64_t channels,
                             std::vector<LayerSpec>* layers) {
  LayerSpec up;
  up.name = prefix + "/upsample";
  up.kind = LayerKind::kTransposedConvolution;
  up.inputs = {input};
  up.channels = channels;
  up.window = SquareWindow(2, 2, 0);
  // No bias: but for the padding, the batch norm behind the next convolution takes it out again.

  LayerSpec concat;
  concat.name = prefix + "/concat";
  concat.kind = LayerKind::kConcat;
  concat.inputs = {skip, up.name};
  layers->push_back(std::move(up));
  layers->push_back(concat);
  return concat.name;
}

}  // namespace

Result<ModelSpec> UnetSpec(const UnetOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  ModelSpec model;
  model.name = "unet";
  model.input_channels = options.input_channels;
  std::vector<LayerSpec>& layers = model.layers;
  std::vector<std::string> skips;
  std::string value = "images";
  for (int64_t level = 0; level < options.depth; ++level) {
    const std::string prefix = "down" + std::to_string(level + 1);
    skips.push_back(AppendDoubleConvolution(prefix, value, options.width << level, &layers));
    value = AppendHalving(prefix + "/pool", skips.back(), &layers);
  }
  value = AppendDoubleConvolution("bottom", value, options.width << options.depth, &layers);
  for (int64_t level = options.depth - 1; level >= 0; --level) {
    const std::string prefix = "up" + std::to_string(level + 1);
    const int64_t channels = options.width << level;
    value = AppendUpsampling(prefix, value, skips[level], channels, &layers);
    value = AppendDoubleConvolution(prefix, value, channels, &layers);
  }
  LayerSpec head;
  head.name = "head";
  head.kind = LayerKind::kConvolution;
  head.inputs = {value};
  head.channels = options.classes;
  head.bias = true;
  layers.push_back(std::move(head));
  return model;
}

}  // namespace shardmill
