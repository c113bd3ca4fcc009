// One training step of a network on the CPU, the same one whatever feeds it.
//
// Not for concurrent use.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "reader/base/status.h"
#include "reader/dataset.h"
#include "trainer/data/data_task.h"
#include "trainer/device.h"
#include "trainer/graph/graph.h"
#include "trainer/optimization/optimizer.h"

namespace shardmill {

class TrainingStep {
 public:
  struct Options {
    int64_t batch = 3;
    std::string model = "unet";  // a name of the catalog
    int64_t width = 0;           // channels of its first stage; 0: as published
    int threads = 0;             // 0: one for each core
  };
  // Images, classes and normalisation as the data set says.
  static Result<TrainingStep> Create(const Dataset& dataset, const Options& options);

  // Forward, loss, backward and an update with Adam.
  Status Run(const ImageBatch& images, const LabelBatch& labels);

  const DataTask& task() const { return task_; }
  int threads() const { return device_.threads; }

 private:
  TrainingStep() = default;

  DataTask task_;
  Device device_;
  std::unique_ptr<Graph> graph_;  // after device_: it uses its op table
  std::optional<Optimizer> optimizer_;
};

}  // namespace shardmill
