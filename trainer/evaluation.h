// Evaluation of a network on a whole split: every record once, one confusion matrix.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "reader/base/status.h"
#include "reader/dataset.h"
#include "trainer/data_task.h"
#include "trainer/graph.h"
#include "trainer/metrics.h"

namespace shardmill {

struct EvaluationOptions {
  std::string split;
  uint64_t batch = 1;
  // Called after each batch with the records done; OK to go on.
  std::function<Status(uint64_t records)> progress;
};

struct EvaluationResult {
  ConfusionMatrix matrix;
  LossResult loss;
  uint64_t records = 0;
  double seconds = 0;
};

// Leaves parameters and running statistics as they are. An error names the records of its batch.
Result<EvaluationResult> Evaluate(Graph* graph, std::shared_ptr<const Dataset> dataset,
                                  const DataTask& task, const EvaluationOptions& options);

}  // namespace shardmill
