#include "trainer/evaluation/scorer.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "proto/checkpoint.pb.h"
#include "reader/console/terminal.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/data/data_feed.h"
#include "trainer/optimization/weight_average.h"
#include "trainer/training/network.h"
#include "trainer/training/run_folder.h"

namespace shardmill {
namespace {

// The classes of the checkpoint must be those of the data set, in the same order.
Status CheckClasses(const proto::TrainedOn& trained_on, const DataTask& task) {
  const std::vector<std::string> known(trained_on.classes().begin(), trained_on.classes().end());
  if (known == task.classes) return OkStatus();
  for (size_t k = 0; k < std::min(known.size(), task.classes.size()); ++k) {
    if (known[k] == task.classes[k]) continue;
    return InvalidArgumentError("class " + std::to_string(k) + " is '" + known[k] +
                                "' in the checkpoint and '" + task.classes[k] +
                                "' in the data set");
  }
  return InvalidArgumentError("the checkpoint knows " + std::to_string(known.size()) +
                              " classes, the data set has " + std::to_string(task.classes.size()));
}

Result<std::unique_ptr<Graph>> RestoreGraph(const LoadedCheckpoint& checkpoint,
                                            const DataTask& task, OpTable* ops) {
  const proto::Checkpoint& description = checkpoint.description();
  RETURN_IF_ERROR(CheckClasses(description.trained_on(), task).WithContext(checkpoint.path()));
  if (description.model().input_channels() != task.image.c) {
    return InvalidArgumentError(checkpoint.path() + ": trained on images of " +
                                std::to_string(description.model().input_channels()) +
                                " channels, the data set has " + std::to_string(task.image.c));
  }
  ImageScale scale;
  const proto::TrainedOn& trained_on = description.trained_on();
  scale.mean.assign(trained_on.image_mean().begin(), trained_on.image_mean().end());
  scale.deviation.assign(trained_on.image_deviation().begin(), trained_on.image_deviation().end());
  ASSIGN_OR_RETURN(
      std::unique_ptr<Graph> graph,
      CreateNetwork(description.config(), task, scale, ops,
                    description.model().has_layers() ? &description.model().layers() : nullptr));
  RETURN_IF_ERROR(HasWeightAverage(checkpoint)
                      ? RestoreAverageAsWeights(checkpoint, &graph->parameters())
                      : RestoreNetwork(checkpoint, graph.get()));
  LossOptions loss;
  if (task.ignore) loss.ignore = *task.ignore;
  RETURN_IF_ERROR(graph->SetLoss(loss));
  return graph;
}

// Where the data set has no class ids, what the network was trained on must do.
std::string SoftLabelsOf(const LoadedCheckpoint& checkpoint, const Dataset& dataset) {
  const std::string& name = checkpoint.description().config().soft_labels();
  return dataset.schema().FindField(name) ? name : "none";
}

}  // namespace

Result<Scorer> PrepareScorer(const ScorerOptions& options, Communicator* ranks) {
  Scorer scorer;
  DeviceRequest device;
  device.name = options.device;
  device.threads = options.threads;
  device.local_ranks = ranks->layout().local_size;
  device.local_rank = ranks->layout().local_rank;
  device.plan_cache = options.plan_cache;
  ASSIGN_OR_RETURN(scorer.device, OpenDevice(device));
  if (!scorer.device.notice.empty() && !options.quiet && ranks->rank() == 0) {
    std::fprintf(stderr, "note: %s\n", scorer.device.notice.c_str());
  }
  ASSIGN_OR_RETURN(const LoadedCheckpoint checkpoint,
                   LoadedCheckpoint::Read(CheckpointFile(options.checkpoint, kBestCheckpoint)));
  const std::string& trained_in = checkpoint.description().config().precision();
  if (!trained_in.empty() && trained_in != "f32" && !options.quiet && ranks->rank() == 0) {
    std::fprintf(stderr,
                 "note: trained in %s; this computes in f32, and scores may differ a little\n",
                 EscapeControl(trained_in).c_str());
  }
  ASSIGN_OR_RETURN(scorer.dataset, Dataset::Open(options.dataset, options.split));
  ASSIGN_OR_RETURN(scorer.task, DescribeTask(scorer.dataset->schema(),
                                             SoftLabelsOf(checkpoint, *scorer.dataset)));
  ASSIGN_OR_RETURN(const DataTask smallest,
                   WithSmallestImages(*scorer.dataset, scorer.task, options.split));
  ASSIGN_OR_RETURN(scorer.graph, RestoreGraph(checkpoint, smallest, scorer.device.ops.get()));
  return scorer;
}

}  // namespace shardmill
