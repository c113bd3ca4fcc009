#include "trainer/layers/layer_factory.h"

#include <numeric>
#include <string>
#include <utility>

#include "trainer/layers/absorbed_layer.h"
#include "trainer/layers/add_layer.h"
#include "trainer/layers/batch_norm_layer.h"
#include "trainer/layers/concat_layer.h"
#include "trainer/layers/convolution_layer.h"
#include "trainer/layers/dropout_layer.h"
#include "trainer/layers/folded_convolution_layer.h"
#include "trainer/layers/pooling_layers.h"
#include "trainer/layers/prelu_layer.h"
#include "trainer/layers/relu_layer.h"
#include "trainer/layers/upsample_layer.h"

namespace shardmill {
namespace {

// What FoldingPays takes for the length of sequences; five seconds of speech.
constexpr int64_t kFramesOfSequence = 500;

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

Status CheckAdd(const LayerSpec& spec, const std::vector<int64_t>& input_channels) {
  for (const int64_t channels : input_channels) {
    if (channels <= input_channels.front()) continue;
    return InvalidArgumentError("layer \"" + spec.name + "\" adds " + std::to_string(channels) +
                                " channels to " + std::to_string(input_channels.front()) +
                                "; the first input must have the most");
  }
  return OkStatus();
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

template <typename PoolLayer>
Result<std::unique_ptr<Layer>> PreparePool(const LayerSpec& spec, const Shape& input,
                                           const LayerContext* context) {
  const PoolShape shape = {input, spec.window};
  RETURN_IF_ERROR(shape.Check());
  return std::unique_ptr<Layer>(new PoolLayer(shape, context));
}

// The second shape is what the pooling layer read.
Result<std::unique_ptr<Layer>> PrepareMaxUnpool(const LayerSpec& spec,
                                                const std::vector<Shape>& shapes,
                                                const LayerContext* context) {
  SHARDMILL_CHECK(shapes.size() == 2);
  const PoolShape pool = {shapes[1], spec.window};
  if (pool.Output() != shapes[0]) {
    return InvalidArgumentError("gets " + ShapeText(shapes[0]) + ", but \"" + spec.indices_of +
                                "\" made " + ShapeText(pool.Output()));
  }
  return std::unique_ptr<Layer>(new MaxUnpoolLayer(pool, context));
}

// The second shape is that of the images.
Result<std::unique_ptr<Layer>> PrepareCrop(const std::vector<Shape>& shapes,
                                           const LayerContext* context) {
  SHARDMILL_CHECK(shapes.size() == 2);
  if (shapes[0].h < shapes[1].h || shapes[0].w < shapes[1].w) {
    return InvalidArgumentError("cannot crop " + ShapeText(shapes[0]) + " to images of " +
                                ShapeText(shapes[1]));
  }
  return std::unique_ptr<Layer>(new ConcatLayer(shapes[0], shapes[1], context));
}

Result<std::unique_ptr<Layer>> PrepareUpsample(const LayerSpec& spec, const Shape& input,
                                               const LayerContext* context) {
  const UpsampleShape shape = {input, spec.factor, spec.factor, spec.upsample_mode};
  RETURN_IF_ERROR(shape.Check());
  return std::unique_ptr<Layer>(new UpsampleLayer(shape, context));
}

Result<std::unique_ptr<Layer>> PrepareStatisticsPool(const Shape& input,
                                                     const LayerContext* context) {
  if (input.h != 1) {
    return InvalidArgumentError("statistics pooling takes sequences (height 1), not " +
                                ShapeText(input));
  }
  return std::unique_ptr<Layer>(new StatisticsPoolLayer(input, context));
}

Result<std::unique_ptr<Layer>> PrepareConvolution(const LayerSpec& spec,
                                                  const LayerParameters& parameters,
                                                  const LayerPlace& place,
                                                  const LayerContext* context) {
  ConvolutionShape shape = ConvolutionShapeOf(spec, place.inputs.front());
  // Of padded images the weights know nothing.
  const ParameterInfo& weight = context->parameters->parameters()[parameters.weight];
  shape.zero_channels = shape.input.c - weight.dims[3] * spec.groups;
  shape.activation = place.fusion.activation;
  shape.forward_only = place.phase == Phase::kEvaluation;
  if (place.norm == nullptr) return ConvolutionLayer::Create(shape, parameters, context);
  return FoldedConvolutionLayer::Create(shape, parameters, *place.norm, context);
}

Result<std::unique_ptr<Layer>> PrepareByKind(const LayerSpec& spec,
                                             const LayerParameters& parameters,
                                             const LayerPlace& place, const LayerContext* context) {
  const std::vector<Shape>& inputs = place.inputs;
  const Shape& input = inputs.front();
  switch (spec.kind) {
    case LayerKind::kConvolution:
    case LayerKind::kTransposedConvolution:
      return PrepareConvolution(spec, parameters, place, context);
    case LayerKind::kBatchNorm:
      return std::unique_ptr<Layer>(
          new BatchNormLayer(spec.name, input, spec.activation, parameters, context));
    case LayerKind::kRelu:
      return std::unique_ptr<Layer>(new ReluLayer(input, ReluOf(spec), context));
    case LayerKind::kPrelu:
      return std::unique_ptr<Layer>(new PreluLayer(input, parameters, context));
    case LayerKind::kMaxPool:
      return PreparePool<MaxPoolLayer>(spec, input, context);
    case LayerKind::kAveragePool:
      return PreparePool<AveragePoolLayer>(spec, input, context);
    case LayerKind::kMaxUnpool:
      return PrepareMaxUnpool(spec, inputs, context);
    case LayerKind::kStatisticsPool:
      return PrepareStatisticsPool(input, context);
    case LayerKind::kUpsample:
      return PrepareUpsample(spec, input, context);
    case LayerKind::kAdd:
      return std::unique_ptr<Layer>(new AddLayer(inputs, spec.activation, context));
    case LayerKind::kCropToImages:
      return PrepareCrop(inputs, context);
    case LayerKind::kDropout:
      return std::unique_ptr<Layer>(new DropoutLayer(spec, parameters.dropout, input, context));
    case LayerKind::kGlobalAveragePool:
      return std::unique_ptr<Layer>(new GlobalAveragePoolLayer(input, context));
    case LayerKind::kConcat:
      return std::unique_ptr<Layer>(new ConcatLayer(inputs, context));
  }
  return InternalError("layer \"" + spec.name + "\" has an unknown kind");
}

}  // namespace

Result<int64_t> OutputChannels(const LayerSpec& spec, const std::vector<int64_t>& input_channels) {
  const bool joins = spec.kind == LayerKind::kConcat || spec.kind == LayerKind::kAdd;
  if (input_channels.empty() || (input_channels.size() > 1 && !joins)) {
    return InvalidArgumentError("layer \"" + spec.name + "\" has " +
                                std::to_string(input_channels.size()) + " inputs; it takes " +
                                (joins ? "one or more" : "one"));
  }
  if (IsConvolution(spec.kind)) {
    RETURN_IF_ERROR(CheckGroups(spec, input_channels.front()));
    return spec.channels;
  }
  if (spec.kind == LayerKind::kAdd) RETURN_IF_ERROR(CheckAdd(spec, input_channels));
  if (spec.kind == LayerKind::kDropout && !(spec.drop >= 0 && spec.drop < 1)) {
    return InvalidArgumentError("layer \"" + spec.name + "\" drops with probability " +
                                std::to_string(spec.drop) + "; it must be in [0, 1)");
  }
  if (spec.kind == LayerKind::kStatisticsPool) return 2 * input_channels.front();
  if (spec.kind != LayerKind::kConcat) return input_channels.front();
  return std::accumulate(input_channels.begin(), input_channels.end(), int64_t{0});
}

LayerParameters DeclareParameters(const LayerSpec& spec, int64_t input_channels,
                                  ParameterStore* store) {
  if (IsConvolution(spec.kind)) return DeclareConvolution(spec, input_channels, store);
  if (spec.kind == LayerKind::kBatchNorm) return DeclareBatchNorm(spec, input_channels, store);
  if (spec.kind == LayerKind::kPrelu) {
    LayerParameters parameters;
    parameters.slope = store->AddParameter(spec.name + "/slope", ParameterKind::kPreluSlope,
                                           {input_channels, 1, 1, 1}, 1);
    return parameters;
  }
  return LayerParameters();
}

bool FoldingPays(const LayerSpec& convolution, const Shape& input) {
  const ConvolutionShape shape = ConvolutionShapeOf(convolution, input);
  if (!shape.Check().ok()) return false;
  const Shape output = shape.Output();
  const int64_t pixels = output.h == 1 ? kFramesOfSequence : output.h * output.w;
  return pixels > shape.WeightElements() / shape.out_channels;
}

Result<std::unique_ptr<Layer>> PrepareLayer(const LayerSpec& spec,
                                            const LayerParameters& parameters,
                                            const LayerPlace& place, const LayerContext* context) {
  auto layer = PrepareByKind(spec, parameters, place, context);
  if (!layer.ok()) return layer.status().WithContext("layer \"" + spec.name + "\"");
  if (place.fusion.absorbed_by < 0) return layer;
  return std::unique_ptr<Layer>(new AbsorbedLayer(std::move(*layer)));
}

}  // namespace shardmill
