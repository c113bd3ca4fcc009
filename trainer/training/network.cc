#include "trainer/training/network.h"

#include <cmath>

#include "proto/checkpoint.pb.h"
#include "proto/model.pb.h"
#include "reader/base/checksum.h"
#include "reader/console/command_line.h"
#include "trainer/models/model_catalog.h"
#include "trainer/models/model_file.h"

namespace shardmill {
namespace {

// Whether the model predicts what the data set has.
Status CheckTask(const ModelEntry& entry, const DataTask& task) {
  const bool has_maps = task.kind == TaskKind::kSegmentation;
  const ModelTask wanted = has_maps         ? ModelTask::kClassMaps
                           : task.sequences ? ModelTask::kSequences
                                            : ModelTask::kClassIds;
  if (entry.task == wanted) return OkStatus();
  if (task.sequences || (entry.task == ModelTask::kSequences && !has_maps)) {
    return InvalidArgumentError("--model " + entry.name + " reads " +
                                (task.sequences ? "images, but this data set has sequences; use "
                                                  "--model tdnn"
                                                : "sequences, but this data set has images; use "
                                                  "--model classifier or resnet18"));
  }
  if (has_maps) {
    return InvalidArgumentError("--model " + entry.name + " predicts one class per " +
                                (entry.task == ModelTask::kClassIds ? "image" : "sequence") +
                                ", but this data set has class maps; use --model unet, "
                                "encoder_decoder, enet or fc_densenet56");
  }
  return InvalidArgumentError("--model " + entry.name +
                              " predicts a class map, but this data set has one class id per "
                              "image; use --model classifier or resnet18");
}

Status CheckDepth(int64_t depth, const DataTask& task) {
  const int64_t smallest = int64_t{1} << depth;
  if (task.image.h >= smallest && task.image.w >= smallest) return OkStatus();
  return InvalidArgumentError("--depth " + std::to_string(depth) +
                              " halves the images so often that they must be at least " +
                              std::to_string(smallest) + " high and wide; these are " +
                              std::to_string(task.image.h) + " high × " +
                              std::to_string(task.image.w) + " wide: use a smaller --depth");
}

Result<ModelSpec> SpecOf(const proto::TrainConfig& config, const DataTask& task,
                         const proto::Model* stored) {
  const auto classes = static_cast<int64_t>(task.classes.size());
  if (stored != nullptr) return SpecOfModel(*stored, task.image.c, classes);
  if (IsModelFile(config.model())) {
    if (config.width() != 0 || config.depth() != 0) {
      return InvalidArgumentError("--width and --depth do not apply to a model file");
    }
    ASSIGN_OR_RETURN(const proto::Model model, ReadModelFile(config.model()));
    return SpecOfModel(model, task.image.c, classes);
  }
  const ModelEntry* entry = FindModel(config.model());
  if (entry == nullptr) return UnknownModel(config.model());
  RETURN_IF_ERROR(CheckTask(*entry, task));
  ModelSize size = {task.image.c, classes, config.width(), config.depth()};
  if (size.depth == 0) size.depth = entry->depth;
  if (entry->depth > 0) RETURN_IF_ERROR(CheckDepth(size.depth, task));
  return BuildModel(*entry, size);
}

}  // namespace

Status UnknownModel(const std::string& name) {
  std::string known;
  for (const std::string& model : ModelNames()) known += (known.empty() ? "" : ", ") + model;
  const std::string nearest = NearestName(name, ModelNames());
  return InvalidArgumentError("--model: '" + name + "' is not one of " + known +
                              ", nor the name of a file (which has a '.' or '/')" +
                              (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
}

bool IsModelFile(const std::string& model) {
  return FindModel(model) == nullptr && model.find_first_of("./") != std::string::npos;
}

void CompleteModelSize(proto::TrainConfig* config) {
  const ModelEntry* entry = FindModel(config->model());
  if (entry == nullptr) return;
  if (config->width() == 0) config->set_width(static_cast<int32_t>(entry->width));
  if (config->depth() == 0) config->set_depth(static_cast<int32_t>(entry->depth));
}

Result<std::unique_ptr<Graph>> CreateNetwork(const proto::TrainConfig& config, const DataTask& task,
                                             const ImageScale& scale, OpTable* ops,
                                             const proto::Model* stored) {
  ASSIGN_OR_RETURN(const ModelSpec spec, SpecOf(config, task, stored));
  GraphOptions options;
  options.seed = config.seed();
  options.image_mean = scale.mean;
  options.image_deviation = scale.deviation;
  ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph, Graph::Create(spec, ops, options));
  if (graph->classes() == static_cast<int64_t>(task.classes.size())) return graph;
  return InvalidArgumentError(
      "the last layer of the model, \"" + spec.layers.back().name + "\", makes " +
      std::to_string(graph->classes()) + " channels, but the data set has " +
      std::to_string(task.classes.size()) + " classes; write 'classes: true'");
}

proto::ModelDescription DescribeModel(const Graph& graph) {
  proto::ModelDescription model;
  model.set_name(graph.spec().name);
  *model.mutable_layers() = ModelOfSpec(graph.spec());
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
