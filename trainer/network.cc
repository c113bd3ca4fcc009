#include "trainer/network.h"

#include <cmath>

#include "proto/checkpoint.pb.h"
#include "reader/base/checksum.h"
#include "trainer/models/classifier.h"
#include "trainer/models/unet.h"

namespace shardmill {
namespace {

Result<ModelSpec> SpecOf(const proto::TrainConfig& config, const DataTask& task) {
  const auto classes = static_cast<int64_t>(task.classes.size());
  const bool is_unet = config.model() == "unet";
  if (is_unet && task.kind != TaskKind::kSegmentation) {
    return InvalidArgumentError(
        "--model unet predicts a class map, but this data set has one class id per image; use "
        "--model classifier");
  }
  if (!is_unet && task.kind != TaskKind::kClassification) {
    return InvalidArgumentError(
        "--model classifier predicts one class per image, but this data set has class maps; use "
        "--model unet");
  }
  const int64_t smallest = int64_t{1} << config.depth();
  if (task.image.h < smallest || task.image.w < smallest) {
    return InvalidArgumentError("--depth " + std::to_string(config.depth()) +
                                " halves the images so often that they must "
                                "be at least " +
                                std::to_string(smallest) + " high and wide; these are " +
                                std::to_string(task.image.h) + " high × " +
                                std::to_string(task.image.w) + " wide: use a smaller --depth");
  }
  if (is_unet) {
    UnetOptions options;
    options.input_channels = task.image.c;
    options.classes = classes;
    options.width = config.width();
    options.depth = config.depth();
    return UnetSpec(options);
  }
  ClassifierOptions options;
  options.input_channels = task.image.c;
  options.classes = classes;
  options.width = config.width();
  options.stages = config.depth();
  return ClassifierSpec(options);
}

}  // namespace

Result<std::unique_ptr<Graph>> CreateNetwork(const proto::TrainConfig& config, const DataTask& task,
                                             const ImageScale& scale, OpTable* ops) {
  ASSIGN_OR_RETURN(const ModelSpec spec, SpecOf(config, task));
  GraphOptions options;
  options.seed = config.seed();
  options.image_mean = scale.mean;
  options.image_deviation = scale.deviation;
  return Graph::Create(spec, ops, options);
}

proto::ModelDescription DescribeModel(const std::string& name, const Graph& graph) {
  proto::ModelDescription model;
  model.set_name(name);
  model.set_input_channels(graph.input_channels());
  model.set_classes(graph.classes());
  for (const ParameterInfo& info : graph.parameters().parameters()) {
    proto::ModelTensor* tensor = model.add_parameters();
    tensor->set_name(info.name);
    for (const int64_t dim : info.dims) tensor->add_dims(dim);
    tensor->set_offset(info.offset);
    tensor->set_elements(info.elements);
  }
  for (const StatisticInfo& info : graph.parameters().statistics()) {
    proto::ModelTensor* tensor = model.add_statistics();
    tensor->set_name(info.name);
    tensor->add_dims(info.elements);
    tensor->set_offset(info.offset);
    tensor->set_elements(info.elements);
  }
  return model;
}

std::vector<TensorView> NetworkTensors(Graph* graph) {
  ParameterStore& store = graph->parameters();
  return {{"parameters", store.values(), store.parameter_elements()},
          {"statistics", store.running_statistics(), store.statistic_elements()}};
}

Status RestoreNetwork(const LoadedCheckpoint& checkpoint, Graph* graph) {
  ParameterStore& store = graph->parameters();
  RETURN_IF_ERROR(checkpoint.CopyTensor("parameters", store.values(), store.parameter_elements()));
  return checkpoint.CopyTensor("statistics", store.running_statistics(),
                               store.statistic_elements());
}

std::string WeightsHash(Graph* graph) {
  DigestStream digest;
  for (const TensorView& tensor : NetworkTensors(graph)) {
    digest.Update(tensor.data, tensor.elements * sizeof(float));
  }
  return DigestToHex(digest.Value());
}

std::vector<ParameterRange> OptimizerRanges(const ParameterStore& parameters) {
  std::vector<ParameterRange> ranges;
  int64_t next = 0;
  for (const ParameterInfo& info : parameters.parameters()) {
    // The gap behind a parameter belongs to its range: it is zero and stays so.
    if (!ranges.empty()) ranges.back().end = info.offset;
    next = info.offset + info.elements;
    ranges.push_back({info.offset, next, info.kind == ParameterKind::kConvolutionWeight});
  }
  if (!ranges.empty()) ranges.back().end = parameters.parameter_elements();
  return ranges;
}

double EuclideanNorm(const float* values, int64_t count) {
  // Independent sums keep the additions from waiting for each other; their number is fixed.
  constexpr int64_t kSums = 8;
  double sums[kSums] = {};
  const int64_t whole = count - count % kSums;
  for (int64_t i = 0; i < whole; i += kSums) {
    for (int64_t j = 0; j < kSums; ++j) {
      sums[j] += static_cast<double>(values[i + j]) * values[i + j];
    }
  }
  for (int64_t i = whole; i < count; ++i) {
    sums[i - whole] += static_cast<double>(values[i]) * values[i];
  }
  double sum = 0;
  for (const double part : sums) sum += part;
  return std::sqrt(sum);
}

}  // namespace shardmill
