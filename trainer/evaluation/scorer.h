// A trained network on a data set, ready to score or to predict.
#pragma once

#include <memory>
#include <string>

#include "reader/base/status.h"
#include "reader/dataset.h"
#include "trainer/comm/communicator.h"
#include "trainer/data/data_task.h"
#include "trainer/device.h"
#include "trainer/graph/graph.h"

namespace shardmill {

struct ScorerOptions {
  std::string dataset;
  std::string checkpoint;
  std::string split = "val";
  std::string device = "auto";
  int threads = 0;
  std::string plan_cache;  // see DeviceRequest
  bool quiet = false;      // no notes on stderr
};

struct Scorer {
  Device device;
  std::shared_ptr<const Dataset> dataset;  // the split only
  DataTask task;
  std::unique_ptr<Graph>
      graph;  // with the weights of the checkpoint, or their average if it has one
};

// InvalidArgument when the checkpoint does not suit the data set.
Result<Scorer> PrepareScorer(const ScorerOptions& options, Communicator* ranks);

}  // namespace shardmill
