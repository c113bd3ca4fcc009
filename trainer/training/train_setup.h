// Everything a training run works with, opened and checked before the first step.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/checkpoint.pb.h"
#include "reader/augment.h"
#include "reader/base/folder_lock.h"
#include "reader/base/status.h"
#include "reader/dataset.h"
#include "trainer/comm/communicator.h"
#include "trainer/data/data_task.h"
#include "trainer/device.h"
#include "trainer/engine/batch_engine.h"
#include "trainer/graph/graph.h"
#include "trainer/optimization/optimizer.h"
#include "trainer/optimization/schedule.h"
#include "trainer/optimization/weight_average.h"
#include "trainer/training/run_folder.h"

namespace shardmill {

// What the command line says besides the configuration.
struct TrainRequest {
  proto::TrainConfig given;  // by flags and file
  bool resume = false;
  std::string checkpoint;   // to resume from: a file, a run's folder, or empty: OUTPUT/last.ckpt
  bool overwrite = false;   // replace an earlier run in OUTPUT
  std::string trace;        // file for the Chrome trace of this process; empty: none
  std::string config_file;  // that `given` was read from; empty: none
  std::string plan_cache;   // see DeviceRequest
  // For --batch auto: takes the smallest batch, and leaves OUTPUT alone.
  bool measure_only = false;
  Communicator* communicator = nullptr;  // of the job; must outlive the setup
};

struct TrainSetup {
  proto::TrainConfig config;  // complete
  std::shared_ptr<const Dataset> dataset;
  DataTask task;
  Augment augment;  // of training
  Device device;
  std::unique_ptr<Graph> graph;  // after `device`: it uses its op table
  Communicator* communicator = nullptr;
  std::unique_ptr<BatchEngine> engine;  // works on `graph`
  std::optional<Optimizer> optimizer;
  std::optional<WeightAverage> average;  // with --ema
  ScheduleOptions schedule;
  std::vector<float> class_weights;  // in the loss; empty: all alike
  uint64_t train_records = 0;
  uint64_t val_records = 0;  // 0 when the run never evaluates
  uint64_t steps_per_epoch = 0;
  // What a checkpoint of this run says; `progress` is where the run starts and moves on with it.
  proto::Checkpoint description;
  std::string trace;                      // see TrainRequest
  std::string config_file;                // see TrainRequest
  bool overwrite = false;                 // see TrainRequest
  std::string resumed_from;               // path, empty for a new run
  bool has_checkpoint = false;            // there is one to go on from: resumed or written
  std::vector<std::string> notices;       // what a user should know before the first step
  std::optional<FolderLock> output_lock;  // of rank 0, as long as the run lasts

  uint64_t total_steps() const { return steps_per_epoch * config.epochs(); }
  std::string OutputPath(const std::string& name) const;
};

// What the options ask for.
Result<OptimizerOptions> OptimizerOptionsOf(const proto::TrainConfig& config);

// Reads data set and checkpoint, builds the network, and reserves the output folder, in which
// nothing of an earlier run is changed before Train. With several ranks all call it; only rank 0
// needs the checkpoint and has the output folder. All ranks get the same status.
Result<TrainSetup> PrepareTraining(const TrainRequest& request);

}  // namespace shardmill
