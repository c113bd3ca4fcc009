#include "tests/bench/first_question/training_step.h"

#include <utility>

#include "proto/manifest.pb.h"
#include "trainer/models/model_catalog.h"
#include "trainer/training/network.h"

namespace shardmill {
namespace {

constexpr double kLearningRate = 1e-3;

}  // namespace

Result<TrainingStep> TrainingStep::Create(const Dataset& dataset, const Options& options) {
  TrainingStep step;
  ASSIGN_OR_RETURN(step.task_, DescribeTask(dataset.schema()));
  if (step.task_.kind != TaskKind::kSegmentation) {
    return InvalidArgumentError(
        "the first question is about segmentation; the set has no label "
        "maps");
  }
  ASSIGN_OR_RETURN(step.device_, OpenDevice({"cpu", options.threads, 1, 0, false}));
  const ModelEntry* entry = FindModel(options.model);
  if (entry == nullptr || entry->task != ModelTask::kClassMaps) {
    return InvalidArgumentError("'" + options.model + "' is no model of class maps");
  }
  const auto classes = static_cast<int64_t>(step.task_.classes.size());
  ASSIGN_OR_RETURN(const ModelSpec model,
                   BuildModel(*entry, {step.task_.image.c, classes, options.width, 0}));
  const ImageScale scale = ScaleOf(dataset.manifest().splits(0).statistics(), step.task_.image.c);
  GraphOptions graph;
  graph.image_mean = scale.mean;
  graph.image_deviation = scale.deviation;
  ASSIGN_OR_RETURN(step.graph_, Graph::Create(model, step.device_.ops.get(), graph));
  LossOptions loss;
  if (step.task_.ignore) loss.ignore = *step.task_.ignore;
  RETURN_IF_ERROR(step.graph_->SetLoss(loss));
  Shape shape = step.task_.image;
  shape.n = options.batch;
  RETURN_IF_ERROR(step.graph_->Prepare(shape, Phase::kTraining));
  OptimizerOptions adam;
  adam.kind = OptimizerKind::kAdam;
  ASSIGN_OR_RETURN(step.optimizer_,
                   Optimizer::Create(adam, OptimizerRanges(step.graph_->parameters())));
  return step;
}

Status TrainingStep::Run(const ImageBatch& images, const LabelBatch& labels) {
  RETURN_IF_ERROR(graph_->Forward(images, Phase::kTraining));
  RETURN_IF_ERROR(graph_->Loss(labels).status());
  RETURN_IF_ERROR(graph_->Backward());
  ParameterStore& store = graph_->parameters();
  optimizer_->Step(store.values(), store.gradients(), kLearningRate);
  return OkStatus();
}

}  // namespace shardmill
