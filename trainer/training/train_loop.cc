#include "trainer/training/train_loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/console/json_writer.h"
#include "trainer/checkpoint/checkpoint_writer.h"
#include "trainer/comm/job_end.h"
#include "trainer/comm/reachable_work.h"
#include "trainer/config/config.h"
#include "trainer/data/data_feed.h"
#include "trainer/engine/weight_check.h"
#include "trainer/evaluation/evaluation.h"
#include "trainer/logs/run_log.h"
#include "trainer/logs/run_trace.h"
#include "trainer/prediction/evaluation_pictures.h"
#include "trainer/training/batch_guard.h"
#include "trainer/training/create_step_engine.h"
#include "trainer/training/network.h"
#include "trainer/training/run_output.h"
#include "trainer/training/step_engine.h"
#include "trainer/training/step_memory_of.h"

namespace shardmill {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of shards that are opened with pread, too, the loader reads through the page cache.
Io IoOf(const proto::TrainConfig& config) {
  return config.io() == "direct" ? Io::kDirect : Io::kMapped;
}

class TrainLoop {
 public:
  TrainLoop(TrainSetup* setup, Console* console)
      : setup_(*setup),
        config_(setup->config),
        progress_(*setup->description.mutable_progress()),
        communicator_(*setup->communicator),
        console_(*console),
        guard_(setup),
        trace_(setup->trace, setup->communicator) {}

  Result<TrainSummary> Run();
  // Of a run that has ended, or was interrupted, on all ranks.
  Status WriteTrace();

 private:
  Status OpenOutput();
  Status OpenLog();
  Status ShareState();
  Status OpenFeed();
  Status RunEpoch();
  Status RunStep();
  Status Settle();
  Status FinishStep(const StepReport& report);
  void SayNotes();
  double TakeTimes(StepEvent* event);
  Status CheckLoss(const StepReport& report);
  Status CloseEpoch();
  Result<EvaluationEvent> RunEvaluation();
  Status LogPictures();
  void SwapAverage();
  void KeepIfBest(EvaluationEvent* event);
  // Writes a checkpoint in the background.
  Status Save(const std::string& path, CheckpointWriter::Aftermath aftermath);
  Status StartWriting(const std::string& path, CheckpointWriter::Aftermath aftermath);
  Status FinishWriting();
  Status StopIfInterrupted();
  bool LimitReached() const {
    return config_.limit_steps() > 0 &&
           progress_.steps() + steps_->pending() >= config_.limit_steps();
  }
  bool EvaluationIsDue() const;

  TrainSetup& setup_;
  const proto::TrainConfig& config_;
  proto::Progress& progress_;  // the state of the run; saved with each checkpoint
  Communicator& communicator_;
  Console& console_;
  std::optional<RunLog> log_;  // of rank 0
  BatchGuard guard_;
  RunTrace trace_;
  std::unique_ptr<StepEngine> steps_;
  std::unique_ptr<DataFeed> feed_;  // after the engine, which has memory for its batches
  CheckpointWriter writer_;         // of rank 0
  bool stop_ = false;               // some rank was asked to stop; the same on all ranks
  double step_start_ = 0;           // where the time of the next step begins
  double wait_ms_ = 0;              // for data, since then
  double communicated_ = 0;         // seconds before then
  double copied_ = 0;               // likewise
  std::set<std::string> said_;      // notes of the engine
  EpochEvent epoch_;                // sums over the epoch that is running
  TrainSummary summary_;
};

Result<TrainSummary> TrainLoop::Run() {
  const double start = Now();
  summary_.first_steps = progress_.steps();
  ASSIGN_OR_RETURN(steps_, CreateStepEngine(&setup_, [this](const StepReport& report) {
                     return CheckLoss(report);
                   }));
  RETURN_IF_ERROR(ShareState());
  if (communicator_.rank() == 0) {
    RETURN_IF_ERROR(WorkReachably(&communicator_, [this] { return OpenOutput(); }));
  }
  RETURN_IF_ERROR(trace_.Start());
  RETURN_IF_ERROR(OpenFeed());
  while (progress_.epoch() < static_cast<uint64_t>(config_.epochs()) && !LimitReached()) {
    RETURN_IF_ERROR(RunEpoch());
  }
  if (LimitReached()) RETURN_IF_ERROR(Save(setup_.OutputPath(kLastCheckpoint), {}));
  RETURN_IF_ERROR(FinishWriting());
  summary_.complete = progress_.epoch() == static_cast<uint64_t>(config_.epochs());
  summary_.steps = progress_.steps();
  summary_.epochs = progress_.epoch();
  if (progress_.has_best_epoch()) {
    summary_.best_score = progress_.best_score();
    summary_.best_epoch = progress_.best_epoch() + 1;
  }
  summary_.weights_hash = WeightsHash(setup_.graph.get());
  summary_.seconds = Now() - start;
  return summary_;
}

Status TrainLoop::WriteTrace() {
  if (!trace_.IsOn()) return OkStatus();
  const Status own = trace_.Write(feed_ ? feed_->trace_lanes() : std::vector<TraceLane>());
  RETURN_IF_ERROR(communicator_.Barrier("end of the trace"));
  return AgreeOnStatus(&communicator_, own, "trace");
}

Status TrainLoop::OpenLog() {
  RunLogOptions options;
  options.folder = config_.output();
  options.tensorboard = config_.tensorboard();
  options.classes = setup_.task.classes;
  if (GoesOnInPlace(setup_)) {
    const bool is_behind_evaluation = progress_.step_in_epoch() == 0;
    options.place = LogPlace{progress_.steps(), is_behind_evaluation};
  }
  ASSIGN_OR_RETURN(RunLog log, RunLog::Open(options));
  log_.emplace(std::move(log));
  return OkStatus();
}

// Of rank 0. All ranks are ready to train: from here on an earlier run is replaced.
Status TrainLoop::OpenOutput() {
  ASSIGN_OR_RETURN(const std::string note, TakeOutput(&setup_));
  if (!note.empty()) console_.Message("note: " + note);
  RETURN_IF_ERROR(OpenLog());
  const proto::Checkpoint& description = setup_.description;
  return log_->WriteStart(progress_.steps(), [&](JsonWriter* json) {
    json->Key("dataset_id").String(description.trained_on().dataset_id());
    json->Key("program").String(description.environment().program_version());
    json->Key("backend").String(description.environment().backend());
    json->Key("isa").String(description.environment().isa());
    json->Key("threads").Number(description.environment().threads());
    json->Key("ranks").Number(description.environment().ranks());
    json->Key("config");
    WriteConfig(config_, json);
  });
}

// All ranks begin with the same numbers, whatever they have read or computed.
Status TrainLoop::ShareState() {
  RETURN_IF_ERROR(BroadcastState(&communicator_, setup_.graph.get(), &*setup_.optimizer));
  if (setup_.average) {
    RETURN_IF_ERROR(BroadcastValues(&communicator_, &setup_.average->parameters(), "average"));
    RETURN_IF_ERROR(BroadcastValues(&communicator_, &setup_.average->statistics(), "average"));
  }
  setup_.engine->ParametersChanged();
  RETURN_IF_ERROR(steps_->StateChanged());
  return CompareHashes(&communicator_, WeightsHash(setup_.graph.get()), progress_.steps());
}

Status TrainLoop::OpenFeed() {
  TrainingFeedOptions options;
  options.split = config_.train_split();
  options.batch = config_.batch();
  options.seed = config_.seed();
  options.epochs = config_.epochs();
  options.first_epoch = progress_.epoch();
  options.first_step = progress_.step_in_epoch();
  options.rank = communicator_.rank();
  options.ranks = communicator_.size();
  options.augment = setup_.augment;
  options.threads = config_.loader_threads();
  if (trace_.IsOn()) options.trace_spans = RunTrace::kMaxSpans;
  options.io = IoOf(config_);
  steps_->ShapeFeed(&options);
  if (options.first_step == setup_.steps_per_epoch) {
    // Only the end of that epoch is left to do.
    ++options.first_epoch;
    options.first_step = 0;
  }
  if (options.first_epoch >= options.epochs) return OkStatus();
  auto feed = DataFeed::OpenTraining(setup_.dataset, setup_.task, options);
  RETURN_IF_ERROR(steps_->feed_failure());
  ASSIGN_OR_RETURN(feed_, std::move(feed));
  return OkStatus();
}

Status TrainLoop::RunEpoch() {
  epoch_ = EpochEvent();
  // Evaluation and checkpoints before it are no time of a step.
  step_start_ = Now();
  communicated_ = communicator_.waited_seconds();
  copied_ = steps_->copied_seconds();
  while (progress_.step_in_epoch() + steps_->pending() < setup_.steps_per_epoch) {
    if (LimitReached()) return Settle();
    RETURN_IF_ERROR(RunStep());
    RETURN_IF_ERROR(StopIfInterrupted());
  }
  RETURN_IF_ERROR(Settle());
  RETURN_IF_ERROR(CloseEpoch());
  const bool run_is_done = progress_.epoch() == static_cast<uint64_t>(config_.epochs());
  return run_is_done ? OkStatus() : StopIfInterrupted();
}

// Asks for a step, and finishes the one that is reported.
Status TrainLoop::RunStep() {
  const uint64_t step = progress_.steps() + steps_->pending();
  communicator_.set_step(static_cast<int64_t>(step) + 1);
  trace_.SetStep(progress_.epoch() + 1, step + 1);
  const uint64_t before_wait = SteadyNanoseconds();
  ASSIGN_OR_RETURN(std::optional<FeedBatch> batch, feed_->Next());
  const uint64_t behind_wait = SteadyNanoseconds();
  wait_ms_ += 1e-6 * static_cast<double>(behind_wait - before_wait);
  trace_.Add(RunTrace::Lane::kSteps, "waiting for data", before_wait, behind_wait);
  if (!batch) return InternalError("the loader ended before the epoch did");
  const double copied = steps_->copied_seconds();
  ASSIGN_OR_RETURN(const std::optional<StepReport> report,
                   steps_->Step(std::move(*batch), step, WasInterrupted()));
  // A step begins with its copy.
  const auto behind_copy =
      behind_wait + static_cast<uint64_t>(1e9 * (steps_->copied_seconds() - copied));
  trace_.Add(RunTrace::Lane::kSteps, "copying", behind_wait, behind_copy);
  trace_.Add(RunTrace::Lane::kSteps, "computing", behind_copy, SteadyNanoseconds());
  if (report) RETURN_IF_ERROR(FinishStep(*report));
  if (config_.compare_every() == 0 || (step + 1) % config_.compare_every() != 0) return OkStatus();
  RETURN_IF_ERROR(Settle());
  return CompareHashes(&communicator_, WeightsHash(setup_.graph.get()), progress_.steps());
}

// The last step that was asked for is done, and its numbers are those of the host.
Status TrainLoop::Settle() {
  ASSIGN_OR_RETURN(const std::optional<StepReport> report, steps_->Settle());
  return report ? FinishStep(*report) : OkStatus();
}

Status TrainLoop::FinishStep(const StepReport& report) {
  stop_ = stop_ || report.stop;
  progress_.set_steps(progress_.steps() + 1);
  progress_.set_step_in_epoch(progress_.step_in_epoch() + 1);
  progress_.set_optimizer_steps(setup_.optimizer->steps_taken());
  progress_.set_epoch_loss_sum(progress_.epoch_loss_sum() + report.loss.loss_sum);
  progress_.set_epoch_weight_sum(progress_.epoch_weight_sum() + report.loss.weight_sum);
  StepEvent event;
  event.step = progress_.steps();
  event.epoch = progress_.epoch() + 1;
  event.loss = report.loss.Mean();
  event.learning_rate = report.learning_rate;
  event.gradient_norm = report.gradient_norm;
  event.images = report.batch.lease.global_rows();
  const double end = TakeTimes(&event);
  epoch_.learning_rate = event.learning_rate;
  SayNotes();
  console_.Step(event, end);
  return log_ ? log_->Write(event) : OkStatus();
}

// Each once, when it is known.
void TrainLoop::SayNotes() {
  if (communicator_.rank() != 0) return;
  for (const std::string& note : steps_->notes()) {
    if (said_.insert(note).second) console_.Message("note: " + note);
  }
}

// Since the step before was finished. Returns the time now.
double TrainLoop::TakeTimes(StepEvent* event) {
  const double end = Now();
  event->wait_ms = std::exchange(wait_ms_, 0);
  const double communicated = communicator_.waited_seconds();
  event->communication_ms = 1e3 * (communicated - std::exchange(communicated_, communicated));
  const double copied = steps_->copied_seconds();
  event->copy_ms = 1e3 * (copied - std::exchange(copied_, copied));
  event->compute_ms = 1e3 * (end - std::exchange(step_start_, end)) - event->TotalMs();
  epoch_.images += event->images;
  epoch_.Add(*event);
  summary_.images += event->images;
  summary_.Add(*event);
  return end;
}

// Loss and gradient are those of all ranks: all fail here, or none does.
Status TrainLoop::CheckLoss(const StepReport& report) {
  RETURN_IF_ERROR(guard_.CheckFinite(report.batch, report.loss, report.gradient_norm));
  ASSIGN_OR_RETURN(const std::optional<OutlierEvent> outlier,
                   guard_.CheckOutlier(report.batch, report.loss, report.is_updated));
  if (!outlier) return OkStatus();
  if (communicator_.rank() == 0) console_.Message("warning: " + OutlierText(*outlier));
  return log_ ? log_->Write(*outlier) : OkStatus();
}

bool TrainLoop::EvaluationIsDue() const {
  if (config_.eval_every() == 0) return false;
  const uint64_t done = progress_.epoch() + 1;
  return done % config_.eval_every() == 0 || done == static_cast<uint64_t>(config_.epochs());
}

// Progress moves to the next epoch only behind the evaluation: an interrupted one is done again.
Status TrainLoop::CloseEpoch() {
  std::optional<EvaluationEvent> evaluation;
  if (EvaluationIsDue()) {
    Result<EvaluationEvent> result = RunEvaluation();
    if (!result.ok() && result.status().code() == StatusCode::kCancelled) {
      stop_ = true;
      return StopIfInterrupted();
    }
    ASSIGN_OR_RETURN(evaluation, std::move(result));
    KeepIfBest(&*evaluation);
    if (log_) RETURN_IF_ERROR(log_->Write(*evaluation));
  }
  const double weight = progress_.epoch_weight_sum();
  epoch_.loss = weight > 0 ? progress_.epoch_loss_sum() / weight : 0;
  epoch_.epoch = progress_.epoch() + 1;
  epoch_.step = progress_.steps();
  epoch_.evaluation = evaluation ? &*evaluation : nullptr;
  console_.Epoch(epoch_, evaluation ? ScoreOf(setup_.task.kind, evaluation->scores) : std::nullopt,
                 Now());

  progress_.set_epoch(progress_.epoch() + 1);
  progress_.set_step_in_epoch(0);
  progress_.set_epoch_loss_sum(0);
  progress_.set_epoch_weight_sum(0);
  // last.ckpt after all others: a run that is killed in between does the epoch again.
  std::vector<std::string> names;
  CheckpointWriter::Aftermath aftermath;
  const auto keep = static_cast<uint64_t>(config_.keep_epochs());
  if (keep > 0) names.push_back(setup_.OutputPath(EpochCheckpoint(progress_.epoch())));
  if (keep > 0 && progress_.epoch() > keep) {
    aftermath.remove = setup_.OutputPath(EpochCheckpoint(progress_.epoch() - keep));
  }
  if (evaluation && evaluation->best) names.push_back(setup_.OutputPath(kBestCheckpoint));
  names.push_back(setup_.OutputPath(kLastCheckpoint));
  const std::string path = names.front();
  aftermath.also.assign(names.begin() + 1, names.end());
  return Save(path, std::move(aftermath));
}

Result<EvaluationEvent> TrainLoop::RunEvaluation() {
  const double begin = Now();
  EvaluationOptions options;
  options.split = config_.val_split();
  options.batch = static_cast<uint64_t>(EvaluationBatch(config_.batch(), config_.accumulate()));
  options.io = IoOf(config_);
  options.progress = [this, begin](uint64_t records) {
    console_.Busy(ProgressText("evaluating", records, setup_.val_records, Now() - begin), Now());
    return CheckInterrupt();
  };
  const uint64_t start = SteadyNanoseconds();
  SwapAverage();
  Result<EvaluationResult> evaluated =
      Evaluate(setup_.engine.get(), &communicator_, setup_.dataset, setup_.task, options);
  const Status drawn = evaluated.ok() ? LogPictures() : OkStatus();
  SwapAverage();
  RETURN_IF_ERROR(drawn);
  ASSIGN_OR_RETURN(const EvaluationResult result, std::move(evaluated));
  trace_.Add(RunTrace::Lane::kSteps, "evaluating", start, SteadyNanoseconds());
  EvaluationEvent event;
  event.split = options.split;
  event.step = progress_.steps();
  event.epoch = progress_.epoch() + 1;
  event.loss = result.loss.Mean();
  event.scores = ComputeScores(result.matrix);
  event.seconds = result.seconds;
  event.records = result.records;
  return event;
}

// Of the network that was evaluated.
Status TrainLoop::LogPictures() {
  if (!log_ || !log_->TakesPictures()) return OkStatus();
  PictureEvent event;
  event.split = config_.val_split();
  event.step = progress_.steps();
  const auto count = static_cast<uint64_t>(std::min(config_.log_pictures(), config_.batch()));
  ASSIGN_OR_RETURN(event.pictures, DrawPredictions(setup_.graph.get(), setup_.dataset, setup_.task,
                                                   event.split, count));
  return event.pictures.empty() ? OkStatus() : log_->Write(event);
}

// Evaluations see the average of the weights, where there is one.
void TrainLoop::SwapAverage() {
  if (!setup_.average) return;
  setup_.average->Swap();
  setup_.engine->ParametersChanged();
}

void TrainLoop::KeepIfBest(EvaluationEvent* event) {
  const std::optional<double> score = ScoreOf(setup_.task.kind, event->scores);
  if (!score || (progress_.has_best_epoch() && *score <= progress_.best_score())) return;
  event->best = true;
  progress_.set_best_epoch(progress_.epoch());
  progress_.set_best_score(*score);
  progress_.clear_best_class_iou();
  for (const std::optional<double>& iou : event->scores.class_iou) {
    progress_.add_best_class_iou(iou.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
}

Status TrainLoop::Save(const std::string& path, CheckpointWriter::Aftermath aftermath) {
  for (const TensorView& tensor : NetworkTensors(setup_.graph.get())) {
    if (!std::isfinite(EuclideanNorm(tensor.data, tensor.elements))) {
      return communicator_.AbortTogether(InvalidArgumentError(
          "a weight is not finite after step " + std::to_string(progress_.steps()) +
          (setup_.has_checkpoint ? "; the last checkpoint is kept" : "") + "; try a lower --lr"));
    }
  }
  const uint64_t start = SteadyNanoseconds();
  if (communicator_.rank() == 0) {
    // Waits for the checkpoint before this one.
    RETURN_IF_ERROR(
        WorkReachably(&communicator_, [&] { return StartWriting(path, std::move(aftermath)); }));
  }
  RETURN_IF_ERROR(communicator_.Barrier("checkpoint"));
  setup_.has_checkpoint = true;
  trace_.Add(RunTrace::Lane::kSteps, "starting a checkpoint", start, SteadyNanoseconds());
  return OkStatus();
}

Status TrainLoop::StartWriting(const std::string& path, CheckpointWriter::Aftermath aftermath) {
  std::vector<TensorView> tensors = NetworkTensors(setup_.graph.get());
  const std::vector<std::vector<float>>& moments = setup_.optimizer->moments();
  for (size_t i = 0; i < moments.size(); ++i) {
    tensors.push_back(
        {"moment" + std::to_string(i), moments[i].data(), static_cast<int64_t>(moments[i].size())});
  }
  if (setup_.average) {
    for (const TensorView& tensor : setup_.average->Tensors()) tensors.push_back(tensor);
  }
  return writer_.Start(path, setup_.description, tensors, std::move(aftermath));
}

// Before the run ends: the last checkpoint is on the disk of rank 0.
Status TrainLoop::FinishWriting() {
  if (communicator_.rank() == 0) {
    RETURN_IF_ERROR(WorkReachably(&communicator_, [this] { return writer_.Wait(); }));
  }
  return communicator_.Barrier("end of the checkpoint");
}

Status TrainLoop::StopIfInterrupted() {
  // Alone there is nobody to agree with: the newest signal counts.
  if (communicator_.size() == 1) stop_ = stop_ || WasInterrupted();
  if (!stop_) return OkStatus();
  RETURN_IF_ERROR(Settle());
  RETURN_IF_ERROR(Save(setup_.OutputPath(kLastCheckpoint), {}));
  RETURN_IF_ERROR(FinishWriting());
  const Status own = CheckInterrupt();
  return CancelledError((own.ok() ? "another rank was asked to stop" : own.message()) +
                        " after step " + std::to_string(progress_.steps()) + "; " +
                        setup_.OutputPath(kLastCheckpoint) +
                        " is written, --resume goes on from it");
}

}  // namespace

Result<TrainSummary> Train(TrainSetup* setup, Console* console) {
  TrainLoop loop(setup, console);
  Result<TrainSummary> summary = loop.Run();
  // An interruption comes to all ranks alike; after other errors they may stand anywhere.
  if (summary.ok()) {
    summary->trace = loop.WriteTrace();
  } else if (summary.status().code() == StatusCode::kCancelled) {
    const Status trace = loop.WriteTrace();
    if (trace.ok()) return summary;
    return CancelledError(summary.status().message() +
                          "; the trace could not be written: " + trace.message());
  }
  return summary;
}

}  // namespace shardmill
