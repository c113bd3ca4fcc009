#include "trainer/train_setup.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "proto/manifest.pb.h"
#include "reader/base/file.h"
#include "trainer/checkpoint.h"
#include "trainer/class_weights.h"
#include "trainer/config.h"
#include "trainer/network.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

bool Exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// The checkpoint that --resume means.
std::string CheckpointPath(const TrainRequest& request) {
  if (request.checkpoint.empty()) return JoinPath(request.given.output(), kLastCheckpoint);
  std::error_code error;
  const bool is_folder = fs::is_directory(request.checkpoint, error);
  return is_folder ? JoinPath(request.checkpoint, kLastCheckpoint) : request.checkpoint;
}

Result<LoadedCheckpoint> ReadResumed(const TrainRequest& request) {
  const std::string path = CheckpointPath(request);
  Result<LoadedCheckpoint> checkpoint = LoadedCheckpoint::Read(path);
  if (checkpoint.ok() || checkpoint.status().code() != StatusCode::kNotFound) return checkpoint;
  return NotFoundError("there is no checkpoint '" + path +
                       "' to resume from; start the run without --resume, or name its checkpoint");
}

Status CheckConfig(const proto::TrainConfig& config) {
  if (config.dataset().empty()) {
    return InvalidArgumentError(
        "no data set given: name its folder first, as in 'shardmill-train DATASET --epochs 30'");
  }
  return OkStatus();
}

const proto::Split* FindSplit(const proto::Manifest& manifest, const std::string& name) {
  for (const proto::Split& split : manifest.splits()) {
    if (split.name() == name) return &split;
  }
  return nullptr;
}

Status OpenData(TrainSetup* setup) {
  const proto::TrainConfig& config = setup->config;
  ASSIGN_OR_RETURN(setup->dataset, Dataset::Open(config.dataset()));
  ASSIGN_OR_RETURN(const Dataset::Split* train, setup->dataset->split(config.train_split()));
  setup->train_records = train->records();
  if (config.eval_every() > 0) {
    Result<const Dataset::Split*> val = setup->dataset->split(config.val_split());
    if (!val.ok()) {
      return InvalidArgumentError(val.status().message() +
                                  "; choose with --val-split, or train without evaluation: "
                                  "--eval-every 0");
    }
    setup->val_records = (*val)->records();
    if (setup->val_records == 0) {
      return InvalidArgumentError("split '" + config.val_split() +
                                  "' has no records to evaluate on; use --eval-every 0");
    }
  }
  ASSIGN_OR_RETURN(setup->task, DescribeTask(setup->dataset->schema()));
  const auto batch = static_cast<uint64_t>(config.batch());
  setup->steps_per_epoch = setup->train_records / batch;
  if (setup->steps_per_epoch == 0) {
    return InvalidArgumentError(
        "split '" + config.train_split() + "' has " + std::to_string(setup->train_records) +
        " records, fewer than one batch of " + std::to_string(batch) + "; use a smaller --batch");
  }
  return OkStatus();
}

Status BuildNetwork(TrainSetup* setup) {
  const proto::TrainConfig& config = setup->config;
  const proto::Split* split = FindSplit(setup->dataset->manifest(), config.train_split());
  SHARDMILL_CHECK(split != nullptr);
  const ImageScale scale = ScaleOf(split->statistics(), setup->task.image.c);
  ASSIGN_OR_RETURN(setup->graph,
                   CreateNetwork(config, setup->task, scale, setup->device.ops.get()));
  LossOptions loss;
  ASSIGN_OR_RETURN(
      loss.class_weights,
      ClassWeights(config.class_weights(), setup->dataset->schema().classes, split->statistics()));
  if (config.class_weights() == "none") loss.class_weights.clear();
  if (setup->task.ignore) loss.ignore = *setup->task.ignore;
  RETURN_IF_ERROR(setup->graph->SetLoss(loss));
  Shape batch = setup->task.image;
  batch.n = config.batch();
  RETURN_IF_ERROR(setup->graph->Prepare(batch, Phase::kTraining));

  proto::TrainedOn* trained_on = setup->description.mutable_trained_on();
  trained_on->set_dataset_id(setup->dataset->manifest().dataset_id());
  for (const std::string& name : setup->task.classes) trained_on->add_classes(name);
  for (const float value : scale.mean) trained_on->add_image_mean(value);
  for (const float value : scale.deviation) trained_on->add_image_deviation(value);
  *setup->description.mutable_model() = DescribeModel(config.model(), *setup->graph);
  return OkStatus();
}

Status BuildOptimizer(TrainSetup* setup) {
  const proto::TrainConfig& config = setup->config;
  OptimizerOptions options;
  ASSIGN_OR_RETURN(options.kind, ParseOptimizerKind(config.optimizer()));
  options.weight_decay = config.weight_decay();
  options.momentum = config.momentum();
  options.nesterov = config.nesterov();
  options.beta1 = config.beta1();
  options.beta2 = config.beta2();
  ASSIGN_OR_RETURN(setup->optimizer,
                   Optimizer::Create(options, OptimizerRanges(setup->graph->parameters())));
  ScheduleOptions& schedule = setup->schedule;
  ASSIGN_OR_RETURN(schedule.kind, ParseScheduleKind(config.schedule()));
  schedule.base_rate = config.lr();
  schedule.total_steps = setup->total_steps();
  schedule.warmup_steps = config.warmup_steps();
  schedule.power = config.poly_power();
  schedule.step_steps = setup->steps_per_epoch * config.step_epochs();
  schedule.step_factor = config.step_factor();
  schedule.final_rate = config.final_lr();
  return CheckSchedule(schedule);
}

// Where the old run stood must be a place of this one.
Status CheckProgress(const proto::Progress& progress, const TrainSetup& setup) {
  if (progress.epoch() >= static_cast<uint64_t>(setup.config.epochs())) {
    return InvalidArgumentError("the run is complete: " + std::to_string(progress.epoch()) +
                                " epochs are done; ask for more with --epochs");
  }
  if (progress.step_in_epoch() > setup.steps_per_epoch) {
    return InvalidArgumentError("the checkpoint stands at step " +
                                std::to_string(progress.step_in_epoch()) + " of its epoch, but " +
                                "an epoch now has " + std::to_string(setup.steps_per_epoch) +
                                "; resume with the batch of the run");
  }
  return OkStatus();
}

Status Restore(const LoadedCheckpoint& checkpoint, TrainSetup* setup) {
  const proto::Checkpoint& before = checkpoint.description();
  RETURN_IF_ERROR(CheckResumable(before, setup->description).WithContext(checkpoint.path()));
  RETURN_IF_ERROR(CheckProgress(before.progress(), *setup).WithContext(checkpoint.path()));
  RETURN_IF_ERROR(RestoreNetwork(checkpoint, setup->graph.get()));
  std::vector<std::vector<float>>& moments = setup->optimizer->moments();
  int stored_moments = 0;
  for (const proto::CheckpointTensor& tensor : before.tensors()) {
    stored_moments += tensor.name().rfind("moment", 0) == 0;
  }
  if (before.config().optimizer() != setup->config.optimizer() ||
      stored_moments != static_cast<int>(moments.size())) {
    setup->notices.push_back("the optimizer has changed: its moments start from zero");
  } else {
    for (size_t i = 0; i < moments.size(); ++i) {
      RETURN_IF_ERROR(checkpoint.CopyTensor("moment" + std::to_string(i), moments[i].data(),
                                            static_cast<int64_t>(moments[i].size())));
    }
    setup->optimizer->set_steps_taken(before.progress().optimizer_steps());
  }
  *setup->description.mutable_progress() = before.progress();
  setup->resumed_from = checkpoint.path();
  for (const std::string& difference : ConfigDifferences(before.config(), setup->config)) {
    setup->notices.push_back("changed since the checkpoint: " + difference);
  }
  const proto::Environment& now = setup->description.environment();
  const proto::Environment& then = before.environment();
  if (then.threads() != now.threads() || then.isa() != now.isa() ||
      then.backend() != now.backend()) {
    setup->notices.push_back("the checkpoint was made with " + then.backend() + ", " + then.isa() +
                             ", " + std::to_string(then.threads()) +
                             " threads: the run goes on, but not bit for bit");
  }
  return OkStatus();
}

Status MakeOutputReady(const TrainRequest& request, const TrainSetup& setup) {
  const std::string& output = setup.config.output();
  std::error_code error;
  fs::create_directories(output, error);
  if (error) return IoError("cannot create the folder " + output + ": " + error.message());
  const bool in_place =
      !setup.resumed_from.empty() && fs::equivalent(FolderName(setup.resumed_from), output, error);
  if (!in_place) {
    for (const char* name : {kLastCheckpoint, kBestCheckpoint}) {
      const std::string path = setup.OutputPath(name);
      if (!Exists(path)) continue;
      if (!request.overwrite) {
        return InvalidArgumentError("the folder " + output + " already holds a run (" + name +
                                    "): go on with --resume, choose another --output, or replace "
                                    "it with --overwrite");
      }
      fs::remove(path, error);
      if (error) return IoError("cannot remove " + path + ": " + error.message());
    }
  }
  const std::string config = ConfigToJson(setup.config);
  ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(setup.OutputPath("config.json")));
  RETURN_IF_ERROR(file.Append(config.data(), config.size()));
  return file.Commit();
}

}  // namespace

std::string TrainSetup::OutputPath(const std::string& name) const {
  return JoinPath(config.output(), name);
}

Result<TrainSetup> PrepareTraining(const TrainRequest& request) {
  TrainSetup setup;
  std::optional<LoadedCheckpoint> checkpoint;
  proto::TrainConfig base;
  if (request.resume) {
    ASSIGN_OR_RETURN(checkpoint, ReadResumed(request));
    base = checkpoint->description().config();
  }
  setup.config = CompleteConfig(base, request.given);
  RETURN_IF_ERROR(CheckConfig(setup.config));
  ASSIGN_OR_RETURN(setup.device, OpenDevice(setup.config.device(), setup.config.threads()));
  if (!setup.device.notice.empty()) setup.notices.push_back(setup.device.notice);
  *setup.description.mutable_environment() = DescribeEnvironment(setup.device);
  *setup.description.mutable_config() = setup.config;
  RETURN_IF_ERROR(OpenData(&setup));
  RETURN_IF_ERROR(BuildNetwork(&setup));
  RETURN_IF_ERROR(BuildOptimizer(&setup));
  if (checkpoint) RETURN_IF_ERROR(Restore(*checkpoint, &setup));
  RETURN_IF_ERROR(MakeOutputReady(request, setup));
  return setup;
}

}  // namespace shardmill
