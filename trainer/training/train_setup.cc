#include "trainer/training/train_setup.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <set>
#include <system_error>

#include "proto/manifest.pb.h"
#include "reader/base/checksum.h"
#include "reader/base/file.h"
#include "reader/statistics.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/comm/job_end.h"
#include "trainer/config/config.h"
#include "trainer/config/unused_options.h"
#include "trainer/data/class_weights.h"
#include "trainer/data/data_feed.h"
#include "trainer/data/input_augmentation.h"
#include "trainer/training/network.h"
#include "trainer/training/rank_facts.h"
#include "trainer/training/run_output.h"
#include "trainer/training/step_memory_of.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

// The checkpoint that --resume means.
std::string CheckpointPath(const TrainRequest& request) {
  if (request.checkpoint.empty()) return JoinPath(request.given.output(), kLastCheckpoint);
  return CheckpointFile(request.checkpoint, kLastCheckpoint);
}

Result<LoadedCheckpoint> ReadResumed(const TrainRequest& request) {
  const std::string path = CheckpointPath(request);
  Result<LoadedCheckpoint> checkpoint = LoadedCheckpoint::Read(path);
  if (checkpoint.ok() || checkpoint.status().code() != StatusCode::kNotFound) return checkpoint;
  return NotFoundError("there is no checkpoint '" + path +
                       "' to resume from; start the run without --resume, or name its checkpoint");
}

// The same on all ranks: rank 0 reads the file, the others get its bytes.
Result<LoadedCheckpoint> ShareResumed(const TrainRequest& request) {
  Communicator* const ranks = request.communicator;
  if (ranks->size() == 1) return ReadResumed(request);
  std::optional<LoadedCheckpoint> read;
  Status status;
  if (ranks->rank() == 0) {
    Result<LoadedCheckpoint> result = ReadResumed(request);
    status = result.status();
    if (result.ok()) read = std::move(result).value();
  }
  RETURN_IF_ERROR(AgreeOnStatus(ranks, status, "checkpoint to resume from"));
  uint64_t size = read ? read->bytes().size() : 0;
  RETURN_IF_ERROR(ranks->Broadcast(&size, sizeof size, 0, "size of the checkpoint"));
  std::string bytes = read ? read->bytes() : std::string(size, '\0');
  RETURN_IF_ERROR(ranks->Broadcast(bytes.data(), static_cast<int64_t>(size), 0, "checkpoint"));
  if (read) return std::move(*read);
  return LoadedCheckpoint::FromBytes(CheckpointPath(request), std::move(bytes));
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
  const bool maps = config.io() != "pread";
  ASSIGN_OR_RETURN(setup->dataset,
                   Dataset::Open(config.dataset(), {},
                                 {ChecksumPolicy::kFirstTouch,
                                  maps ? FileAccess::kMapped : FileAccess::kPread}));
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
  ASSIGN_OR_RETURN(setup->task, DescribeTask(setup->dataset->schema(), config.soft_labels()));
  ASSIGN_OR_RETURN(const DataTask smallest,
                   WithSmallestImages(*setup->dataset, setup->task, config.train_split()));
  ASSIGN_OR_RETURN(setup->augment, InputAugmentation(config, smallest));
  if (setup->task.SizesVary() && !setup->augment.HasCrop()) {
    return InvalidArgumentError(
        config.dataset() + " has images of several sizes, the smallest " +
        std::to_string(smallest.image.h) + " high and " + std::to_string(smallest.image.w) +
        " wide: train on windows of one size with --train-crop HEIGHTxWIDTH (evaluation takes "
        "whole images), or pack the data set with --crop or --resize");
  }
  const auto batch = static_cast<uint64_t>(config.batch());
  setup->steps_per_epoch = setup->train_records / batch;
  if (setup->steps_per_epoch == 0) {
    return InvalidArgumentError(
        "split '" + config.train_split() + "' has " + std::to_string(setup->train_records) +
        " records, fewer than one batch of " + std::to_string(batch) + "; use a smaller --batch");
  }
  return OkStatus();
}

// GPUs are deterministic with one graph.
bool UsesMicroShards(const TrainSetup& setup) {
  return setup.config.deterministic() && setup.device.device_ops == nullptr;
}

// One graph, or one per micro-shard.
Status BuildEngine(const std::function<Result<std::unique_ptr<Graph>>()>& make_graph,
                   TrainSetup* setup) {
  const proto::TrainConfig& config = setup->config;
  ASSIGN_OR_RETURN(setup->graph, make_graph());
  ASSIGN_OR_RETURN(setup->engine,
                   UsesMicroShards(*setup)
                       ? CreateMicroShardEngine(setup->graph.get(), make_graph, setup->communicator,
                                                config.micro_shards(), config.accumulate())
                       : CreateRankEngine(setup->graph.get(), setup->communicator,
                                          config.accumulate(), setup->device.device_ops));
  Shape batch = TrainingTask(setup->task, setup->augment).image;
  if (setup->task.sequences) {
    ASSIGN_OR_RETURN(batch.w, LongestSequence(*setup->dataset, setup->task, config.train_split()));
  }
  batch.n = config.batch();
  RETURN_IF_ERROR(CheckStepFits(*setup, config.batch()));
  return setup->engine->Prepare(batch);
}

// What the network must be able to work on: the smaller one of training and evaluation.
Result<DataTask> SmallestTask(const TrainSetup& setup) {
  DataTask task = TrainingTask(setup.task, setup.augment);
  if (setup.val_records == 0) return task;
  ASSIGN_OR_RETURN(const DataTask evaluated,
                   WithSmallestImages(*setup.dataset, setup.task, setup.config.val_split()));
  task.image.h = std::min(task.image.h, evaluated.image.h);
  task.image.w = std::min(task.image.w, evaluated.image.w);
  return task;
}

// `stored`: the model that the checkpoint has, where the run goes on with that; else null.
Status BuildNetwork(const proto::Model* stored, TrainSetup* setup) {
  const proto::TrainConfig& config = setup->config;
  const proto::Split* split = FindSplit(setup->dataset->manifest(), config.train_split());
  SHARDMILL_CHECK(split != nullptr);
  const ImageScale scale = ScaleOf(split->statistics(), setup->task.image.c);
  LossOptions loss;
  ASSIGN_OR_RETURN(
      loss.class_weights,
      ClassWeights(config.class_weights(), setup->dataset->schema().classes, split->statistics()));
  if (config.class_weights() == "none") loss.class_weights.clear();
  setup->class_weights = loss.class_weights;
  if (setup->task.image_type == ImageType::kF32 && MomentsOfChannels(split->statistics()).empty()) {
    setup->notices.push_back(
        std::string(setup->task.sequences ? "the features" : "the images") +
        " are floats, of which the data set has no mean and deviation: the network sees them as "
        "they are");
  }
  const std::string absent =
      AbsentClassesNotice(setup->dataset->schema().classes, split->statistics());
  if (!absent.empty()) setup->notices.push_back(absent);
  if (setup->task.ignore) loss.ignore = *setup->task.ignore;
  loss.cross_entropy = config.cross_entropy();
  loss.dice = config.dice();
  loss.label_smoothing = config.label_smoothing();
  loss.hard_probability = config.ohem();
  loss.hard_share = config.ohem_share();
  ASSIGN_OR_RETURN(const DataTask smallest, SmallestTask(*setup));
  RETURN_IF_ERROR(BuildEngine(
      [&]() -> Result<std::unique_ptr<Graph>> {
        ASSIGN_OR_RETURN(std::unique_ptr<Graph> graph,
                         CreateNetwork(config, smallest, scale, setup->device.ops.get(), stored));
        RETURN_IF_ERROR(graph->SetLoss(loss));
        return graph;
      },
      setup));

  proto::TrainedOn* trained_on = setup->description.mutable_trained_on();
  trained_on->set_dataset_id(setup->dataset->manifest().dataset_id());
  for (const std::string& name : setup->task.classes) trained_on->add_classes(name);
  for (const float value : scale.mean) trained_on->add_image_mean(value);
  for (const float value : scale.deviation) trained_on->add_image_deviation(value);
  *setup->description.mutable_model() = DescribeModel(*setup->graph);
  return OkStatus();
}

Status BuildOptimizer(TrainSetup* setup) {
  const proto::TrainConfig& config = setup->config;
  ASSIGN_OR_RETURN(const OptimizerOptions options, OptimizerOptionsOf(config));
  ASSIGN_OR_RETURN(setup->optimizer,
                   Optimizer::Create(options, OptimizerRanges(setup->graph->parameters())));
  if (config.ema() > 0) {
    Result<WeightAverage> average =
        WeightAverage::Create(config.ema(), &setup->graph->parameters());
    if (!average.ok()) return average.status().WithContext("--ema");
    setup->average = std::move(average).value();
  }
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

// Inside an epoch the batches must go on as they began: else records of it would be repeated and
// others left out.
Status CheckSameOrder(const proto::Checkpoint& before, const proto::TrainConfig& now) {
  const proto::TrainConfig& then = before.config();
  struct Option {
    const char* flag;
    std::string then, now;
  };
  const Option options[] = {{"--batch", std::to_string(then.batch()), std::to_string(now.batch())},
                            {"--seed", std::to_string(then.seed()), std::to_string(now.seed())},
                            {"--train-split", then.train_split(), now.train_split()}};
  for (const Option& option : options) {
    if (option.then == option.now) continue;
    const std::string flag = option.flag;
    return InvalidArgumentError(
        "the checkpoint stands inside an epoch, behind " +
        std::to_string(before.progress().step_in_epoch()) + " batches: another " + flag +
        " would repeat records of this epoch or leave some out; resume with " + flag + " " +
        option.then + ", or from the end of an epoch");
  }
  return OkStatus();
}

// Scores of one split say nothing of those of another. In place the best checkpoint would be
// replaced by whatever is the best on that one.
Status ForgetBestOfOtherSplit(const proto::TrainConfig& before, TrainSetup* setup) {
  proto::Progress& progress = *setup->description.mutable_progress();
  const std::string& now = setup->config.val_split();
  if (!progress.has_best_epoch() || setup->val_records == 0 || before.val_split() == now) {
    return OkStatus();
  }
  if (GoesOnInPlace(*setup)) {
    return InvalidArgumentError(setup->OutputPath(kBestCheckpoint) +
                                " was chosen by its score on split '" + before.val_split() +
                                "', which says nothing of one on '" + now + "': go on with " +
                                "--val-split " + before.val_split() +
                                ", or choose another --output, where the best is chosen anew");
  }
  progress.clear_best_epoch();
  progress.clear_best_score();
  progress.clear_best_class_iou();
  setup->notices.push_back("the best score so far is of split '" + before.val_split() +
                           "', not of '" + now +
                           "': the best is chosen among the epochs that follow");
  return OkStatus();
}

// Where the old run stood must be a place of this one.
Status CheckProgress(const proto::Checkpoint& before, const TrainSetup& setup) {
  const proto::Progress& progress = before.progress();
  if (progress.epoch() >= static_cast<uint64_t>(setup.config.epochs())) {
    return InvalidArgumentError("the run is complete: " + std::to_string(progress.epoch()) +
                                " epochs are done; ask for more with --epochs");
  }
  if (progress.step_in_epoch() > 0) RETURN_IF_ERROR(CheckSameOrder(before, setup.config));
  if (progress.step_in_epoch() > setup.steps_per_epoch) {
    return InvalidArgumentError("the checkpoint stands at step " +
                                std::to_string(progress.step_in_epoch()) + " of its epoch, but " +
                                "an epoch now has " + std::to_string(setup.steps_per_epoch));
  }
  return OkStatus();
}

// A checkpoint of before there were several ranks does not say.
int RanksOf(const proto::Environment& environment) { return std::max(environment.ranks(), 1); }

bool GoesOnBitForBit(const proto::Environment& then, const proto::Environment& now) {
  if (then.backend() != now.backend() || then.isa() != now.isa()) return false;
  if (then.micro_shards() != now.micro_shards()) return false;
  // Of micro-shards, ranks and threads may come and go.
  if (now.micro_shards() > 0) return true;
  return then.threads() == now.threads() && RanksOf(then) == RanksOf(now);
}

std::string PartsText(const proto::Environment& environment) {
  std::string text = environment.backend() + ", " + environment.isa() + ", ";
  if (environment.micro_shards() > 0) {
    return text + "--deterministic with " + std::to_string(environment.micro_shards()) +
           " micro-shards";
  }
  if (RanksOf(environment) > 1) text += std::to_string(RanksOf(environment)) + " ranks of ";
  return text + std::to_string(environment.threads()) + " threads";
}

// The weights of the network are restored already.
Status RestoreAverage(const LoadedCheckpoint& checkpoint, TrainSetup* setup) {
  if (!setup->average) return OkStatus();
  if (HasWeightAverage(checkpoint)) return setup->average->Restore(checkpoint);
  setup->notices.push_back("the checkpoint has no average of the weights: it starts from them");
  ASSIGN_OR_RETURN(setup->average,
                   WeightAverage::Create(setup->config.ema(), &setup->graph->parameters()));
  return OkStatus();
}

Status Restore(const LoadedCheckpoint& checkpoint, TrainSetup* setup) {
  const proto::Checkpoint& before = checkpoint.description();
  RETURN_IF_ERROR(CheckResumable(before, setup->description).WithContext(checkpoint.path()));
  RETURN_IF_ERROR(CheckProgress(before, *setup).WithContext(checkpoint.path()));
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
  RETURN_IF_ERROR(RestoreAverage(checkpoint, setup));
  *setup->description.mutable_progress() = before.progress();
  setup->resumed_from = checkpoint.path();
  setup->has_checkpoint = true;
  RETURN_IF_ERROR(ForgetBestOfOtherSplit(before.config(), setup));
  proto::TrainConfig config_before = before.config();
  config_before.set_limit_steps(setup->config.limit_steps());
  for (const std::string& difference : ConfigDifferences(config_before, setup->config)) {
    setup->notices.push_back("changed since the checkpoint: " + difference);
  }
  const proto::Environment& now = setup->description.environment();
  const proto::Environment& then = before.environment();
  if (!GoesOnBitForBit(then, now)) {
    setup->notices.push_back("the checkpoint was made with " + PartsText(then) +
                             ": the run goes on, but not bit for bit");
  }
  return OkStatus();
}

// What a run goes on with where nothing is given. The limit on steps says when one process stops,
// so it is none of the run's own.
proto::TrainConfig ConfigToResume(const LoadedCheckpoint& checkpoint,
                                  const proto::TrainConfig& given) {
  proto::TrainConfig config = checkpoint.description().config();
  config.clear_limit_steps();
  if (given.has_model() && given.model() != config.model()) {
    // Those of the other model say nothing of this one.
    config.clear_width();
    config.clear_depth();
  }
  return config;
}

// A model that came from a file is in the checkpoint; the file may have changed since.
const proto::Model* StoredModel(const TrainRequest& request, const LoadedCheckpoint* checkpoint,
                                const proto::TrainConfig& config) {
  if (checkpoint == nullptr || request.given.has_model() || !IsModelFile(config.model()) ||
      !checkpoint->description().model().has_layers()) {
    return nullptr;
  }
  return &checkpoint->description().model().layers();
}

// What all ranks must agree on. Folders may have other names on other hosts, and the number of
// threads and the way of reading change no result that is promised.
std::vector<RankFact> FactsOf(const TrainSetup& setup) {
  const std::set<std::string> own = {"--dataset", "--output", "--io", "--threads",
                                     "--loader-threads"};
  const proto::Manifest& manifest = setup.dataset->manifest();
  std::vector<RankFact> facts = {
      {"the version of the program", setup.description.environment().program_version()},
      {"the kind of device (--device auto takes the CPU where it finds no GPU)",
       setup.device.device_ops != nullptr ? "GPU" : "CPU"},
      {"the data set", manifest.dataset_id() + " (manifest " + manifest.digest() + ")"}};
  for (const auto& [flag, value] : ConfigTexts(setup.config)) {
    if (own.count(flag) == 0) facts.push_back({flag, value});
  }
  // Options that may name files mean what these hold.
  const std::vector<float>& weights = setup.class_weights;
  const Digest model = Digest128(setup.description.model().SerializeAsString());
  const Digest of_weights = Digest128(weights.data(), weights.size() * sizeof(float));
  facts.push_back({"the content of --model", DigestToHex(model)});
  facts.push_back({"the content of --class-weights", DigestToHex(of_weights)});
  return facts;
}

Result<TrainSetup> PrepareOwn(const TrainRequest& request, const LoadedCheckpoint* checkpoint) {
  TrainSetup setup;
  setup.communicator = request.communicator;
  setup.trace = request.trace;
  setup.config_file = request.config_file;
  setup.overwrite = request.overwrite;
  setup.config = CompleteConfig(
      checkpoint != nullptr ? ConfigToResume(*checkpoint, request.given) : proto::TrainConfig(),
      request.given);
  RETURN_IF_ERROR(CheckConfig(setup.config));
  if (request.measure_only) {
    setup.config.set_batch(request.communicator->size() * setup.config.accumulate());
  }
  CompleteModelSize(&setup.config);
  const RankLayout& layout = request.communicator->layout();
  DeviceRequest device;
  device.name = setup.config.device();
  device.threads = setup.config.threads();
  device.local_ranks = layout.local_size;
  device.local_rank = layout.local_rank;
  device.deterministic = setup.config.deterministic();
  device.precision = setup.config.precision();
  device.plan_cache = request.plan_cache;
  device.ranks = layout.size;
  ASSIGN_OR_RETURN(setup.device, OpenDevice(device));
  if (!setup.device.notice.empty()) setup.notices.push_back(setup.device.notice);
  if (setup.config.accumulate() > 1 && layout.size > 1 && !UsesMicroShards(setup)) {
    setup.notices.push_back(
        "with --accumulate it depends on the number of ranks which records are normalised "
        "together: results differ from those of one rank beyond rounding, but for --deterministic");
  }
  proto::Environment* environment = setup.description.mutable_environment();
  *environment = DescribeEnvironment(setup.device);
  environment->set_ranks(layout.size);
  if (UsesMicroShards(setup)) environment->set_micro_shards(setup.config.micro_shards());
  *setup.description.mutable_config() = setup.config;
  RETURN_IF_ERROR(OpenData(&setup));
  for (std::string& unused : UnusedOptions(request.given, setup.config, setup.task.kind)) {
    setup.notices.push_back(std::move(unused));
  }
  RETURN_IF_ERROR(BuildNetwork(StoredModel(request, checkpoint, setup.config), &setup));
  if (setup.device.plans_text) setup.notices.push_back(setup.device.plans_text());
  RETURN_IF_ERROR(BuildOptimizer(&setup));
  if (checkpoint != nullptr) RETURN_IF_ERROR(Restore(*checkpoint, &setup));
  if (layout.rank == 0 && !request.measure_only) {
    RETURN_IF_ERROR(ReserveOutput(&setup));
  }
  return setup;
}

}  // namespace

std::string TrainSetup::OutputPath(const std::string& name) const {
  return JoinPath(config.output(), name);
}

Result<OptimizerOptions> OptimizerOptionsOf(const proto::TrainConfig& config) {
  OptimizerOptions options;
  ASSIGN_OR_RETURN(options.kind, ParseOptimizerKind(config.optimizer()));
  options.weight_decay = config.weight_decay();
  options.momentum = config.momentum();
  options.nesterov = config.nesterov();
  options.beta1 = config.beta1();
  options.beta2 = config.beta2();
  options.rms_decay = config.rms_decay();
  return options;
}

Result<TrainSetup> PrepareTraining(const TrainRequest& request) {
  SHARDMILL_CHECK(request.communicator != nullptr);
  std::optional<LoadedCheckpoint> checkpoint;
  if (request.resume) {
    ASSIGN_OR_RETURN(checkpoint, ShareResumed(request));
  }
  // Nothing is exchanged from here until all ranks are ready or have failed.
  Result<TrainSetup> setup = PrepareOwn(request, checkpoint ? &*checkpoint : nullptr);
  RETURN_IF_ERROR(AgreeOnStatus(request.communicator, setup.status(), "preparation"));
  RETURN_IF_ERROR(CompareFacts(request.communicator, FactsOf(*setup)));
  return setup;
}

}  // namespace shardmill
