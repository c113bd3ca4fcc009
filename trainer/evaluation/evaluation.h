// Evaluation of a network on a whole split: every record once, one confusion matrix. With several
// ranks each has a part of every batch, and all get the same result.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "reader/base/status.h"
#include "reader/batch_loader.h"
#include "reader/dataset.h"
#include "trainer/comm/communicator.h"
#include "trainer/data/data_task.h"
#include "trainer/engine/batch_engine.h"
#include "trainer/evaluation/metrics.h"

namespace shardmill {

struct EvaluationOptions {
  std::string split;
  uint64_t batch = 1;
  Io io = Io::kMapped;
  // Called after each batch with the records done, of all ranks; OK to go on. What it returns
  // ends the evaluation on all ranks: there Evaluate returns Cancelled.
  std::function<Status(uint64_t records)> progress;
};

struct EvaluationResult {
  ConfusionMatrix matrix;
  LossResult loss;
  uint64_t records = 0;
  double seconds = 0;
};

// Leaves parameters and running statistics as they are. An error names the records of its batch.
Result<EvaluationResult> Evaluate(BatchEngine* engine, Communicator* communicator,
                                  std::shared_ptr<const Dataset> dataset, const DataTask& task,
                                  const EvaluationOptions& options);

}  // namespace shardmill
