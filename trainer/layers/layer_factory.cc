#include "trainer/layers/layer_factory.h"

#include <numeric>
#include <string>
#include <utility>

#include "trainer/layers/batch_norm_layer.h"
#include "trainer/layers/concat_layer.h"
#include "trainer/layers/convolution_layer.h"
#include "trainer/layers/pooling_layers.h"
#include "trainer/layers/relu_layer.h"

namespace shardmill {
namespace {

bool IsConvolution(LayerKind kind) {
  return kind == LayerKind::kConvolution || kind == LayerKind::kTransposedConvolution;
}

ConvolutionShape ConvolutionShapeOf(const LayerSpec& spec, const Shape& input) {
  ConvolutionShape shape;
  shape.input = input;
  shape.out_channels = spec.channels;
  shape.window = spec.window;
  shape.groups = spec.groups;
  shape.transposed = spec.kind == LayerKind::kTransposedConvolution;
  shape.bias = spec.bias;
  return shape;
}

Status CheckGroups(const LayerSpec& spec, int64_t input_channels) {
  const bool divides = spec.channels > 0 && spec.groups > 0 && input_channels % spec.groups == 0 &&
                       spec.channels % spec.groups == 0;
  if (divides) return OkStatus();
  return InvalidArgumentError("layer \"" + spec.name + "\": " + std::to_string(spec.groups) +
                              " groups must divide " + std::to_string(input_channels) +
                              " input channels and " + std::to_string(spec.channels) +
                              " output channels");
}

LayerParameters DeclareConvolution(const LayerSpec& spec, int64_t input_channels,
                                   ParameterStore* store) {
  const Window& window = spec.window;
  const int64_t in_per_group = input_channels / spec.groups;
  // An output of a strided transposed convolution sums over a part of the taps only.
  const int64_t taps_summed = spec.kind == LayerKind::kTransposedConvolution
                                  ? std::max<int64_t>(1, window.kernel_h / window.stride_h) *
                                        std::max<int64_t>(1, window.kernel_w / window.stride_w)
                                  : window.kernel_h * window.kernel_w;
  LayerParameters parameters;
  parameters.weight = store->AddParameter(
      spec.name + "/weight", ParameterKind::kConvolutionWeight,
      {spec.channels, window.kernel_h, window.kernel_w, in_per_group}, taps_summed * in_per_group);
  if (spec.bias) {
    parameters.bias =
        store->AddParameter(spec.name + "/bias", ParameterKind::kBias, {spec.channels, 1, 1, 1}, 1);
  }
  return parameters;
}

LayerParameters DeclareBatchNorm(const LayerSpec& spec, int64_t channels, ParameterStore* store) {
  LayerParameters parameters;
  parameters.scale = store->AddParameter(spec.name + "/scale", ParameterKind::kBatchNormScale,
                                         {channels, 1, 1, 1}, 1);
  parameters.shift = store->AddParameter(spec.name + "/shift", ParameterKind::kBatchNormShift,
                                         {channels, 1, 1, 1}, 1);
  parameters.running_mean =
      store->AddStatistic(spec.name + "/running_mean", StatisticKind::kRunningMean, channels);
  parameters.running_variance = store->AddStatistic(spec.name + "/running_variance",
                                                    StatisticKind::kRunningVariance, channels);
  return parameters;
}

Result<std::unique_ptr<Layer>> PrepareMaxPool(const LayerSpec& spec, const Shape& input,
                                              const LayerContext* context) {
  const PoolShape shape = {input, spec.window};
  RETURN_IF_ERROR(shape.Check());
  return std::unique_ptr<Layer>(new MaxPoolLayer(shape, context));
}

Result<std::unique_ptr<Layer>> PrepareByKind(const LayerSpec& spec,
                                             const LayerParameters& parameters,
                                             const std::vector<Shape>& inputs,
                                             const LayerContext* context) {
  const Shape& input = inputs.front();
  switch (spec.kind) {
    case LayerKind::kConvolution:
    case LayerKind::kTransposedConvolution:
      return ConvolutionLayer::Create(ConvolutionShapeOf(spec, input), parameters, context);
    case LayerKind::kBatchNorm:
      return std::unique_ptr<Layer>(
          new BatchNormLayer(spec.name, input, spec.activation, parameters, context));
    case LayerKind::kRelu:
      return std::unique_ptr<Layer>(new ReluLayer(input, context));
    case LayerKind::kMaxPool:
      return PrepareMaxPool(spec, input, context);
    case LayerKind::kGlobalAveragePool:
      return std::unique_ptr<Layer>(new GlobalAveragePoolLayer(input, context));
    case LayerKind::kConcat:
      return std::unique_ptr<Layer>(new ConcatLayer(inputs, context));
  }
  return InternalError("layer \"" + spec.name + "\" has an unknown kind");
}

}  // namespace

Result<int64_t> OutputChannels(const LayerSpec& spec, const std::vector<int64_t>& input_channels) {
  const bool joins = spec.kind == LayerKind::kConcat;
  if (input_channels.empty() || (input_channels.size() > 1 && !joins)) {
    return InvalidArgumentError("layer \"" + spec.name + "\" has " +
                                std::to_string(input_channels.size()) + " inputs; it takes " +
                                (joins ? "one or more" : "one"));
  }
  if (IsConvolution(spec.kind)) {
    RETURN_IF_ERROR(CheckGroups(spec, input_channels.front()));
    return spec.channels;
  }
  return std::accumulate(input_channels.begin(), input_channels.end(), int64_t{0});
}

LayerParameters DeclareParameters(const LayerSpec& spec, int64_t input_channels,
                                  ParameterStore* store) {
  if (IsConvolution(spec.kind)) return DeclareConvolution(spec, input_channels, store);
  if (spec.kind == LayerKind::kBatchNorm) return DeclareBatchNorm(spec, input_channels, store);
  return LayerParameters();
}

Result<std::unique_ptr<Layer>> PrepareLayer(const LayerSpec& spec,
                                            const LayerParameters& parameters,
                                            const std::vector<Shape>& inputs,
                                            const LayerContext* context) {
  auto layer = PrepareByKind(spec, parameters, inputs, context);
  if (!layer.ok()) return layer.status().WithContext("layer \"" + spec.name + "\"");
  return layer;
}

}  // namespace shardmill
