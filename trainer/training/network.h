// The network of a run: model by name, made for a data set, and its numbers as named buffers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/data/data_task.h"
#include "trainer/graph/graph.h"
#include "trainer/optimization/optimizer.h"

namespace shardmill {

namespace proto {
class Model;
class ModelDescription;
class TrainConfig;
}  // namespace proto

// Whether this is what --model calls a file.
bool IsModelFile(const std::string& model);

// The error of a --model that is neither one of the program's own nor a file.
Status UnknownModel(const std::string& name);

// Width and depth as published where they are 0 and the model is one of the program's own.
void CompleteModelSize(proto::TrainConfig* config);

// Builds the model that `config` names, or the one that a checkpoint has stored, with weights from
// the seed. InvalidArgument when the model does not suit the data set. `ops` must outlive the
// graph.
Result<std::unique_ptr<Graph>> CreateNetwork(const proto::TrainConfig& config, const DataTask& task,
                                             const ImageScale& scale, OpTable* ops,
                                             const proto::Model* stored = nullptr);

proto::ModelDescription DescribeModel(const Graph& graph);

// The flat buffers of `graph` under the names that checkpoints use.
std::vector<TensorView> NetworkTensors(Graph* graph);
// Copies them from a checkpoint.
Status RestoreNetwork(const LoadedCheckpoint& checkpoint, Graph* graph);

// XXH3-128 of parameters and running statistics, 32 hex digits.
std::string WeightsHash(Graph* graph);

// One range per parameter: only convolution weights decay.
std::vector<ParameterRange> OptimizerRanges(const ParameterStore& parameters);

// Square root of the sum of squares; NaN or infinite when an element is.
double EuclideanNorm(const float* values, int64_t count);

}  // namespace shardmill
