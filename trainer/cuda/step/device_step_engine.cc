#include "trainer/cuda/step/device_step_engine.h"

#include <chrono>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "trainer/cuda/step/device_step.h"
#include "trainer/cuda/step/input_moves.h"
#include "trainer/data/input_augmentation.h"
#include "trainer/training/network.h"
#include "trainer/training/step_memory_of.h"

namespace shardmill {
namespace {

// Batches of the loader: those of steps under way, the one that is waited for, and one to fill.
constexpr int kLoaderSlots = DeviceStep::kMostPending + 2;

class DeviceStepEngine final : public StepEngine {
 public:
  DeviceStepEngine(TrainSetup* setup, Check check) : setup_(*setup), check_(std::move(check)) {}

  Status Start();
  void ShapeFeed(TrainingFeedOptions* options) override;
  Status feed_failure() const override { return feed_failure_; }
  Result<std::optional<StepReport>> Step(FeedBatch batch, uint64_t step, bool stop) override;
  Result<std::optional<StepReport>> Settle() override;
  double copied_seconds() const override { return std::chrono::duration<double>(copied_).count(); }
  uint64_t pending() const override { return static_cast<uint64_t>(step_->pending()); }
  Status StateChanged() override;
  std::vector<std::string> notes() const override;

 private:
  Status ConnectRanks();
  Result<StepReport> Report();
  std::vector<float>* Average() { return setup_.average ? &setup_.average->parameters() : nullptr; }
  std::vector<float>* AverageStatistics() {
    return setup_.average ? &setup_.average->statistics() : nullptr;
  }

  TrainSetup& setup_;
  Check check_;
  std::unique_ptr<DeviceCommunicator> ranks_;  // null: there is only this one
  std::deque<StepReport> reports_;    // oldest first; they keep the memory of their batches
  std::unique_ptr<DeviceStep> step_;  // after them: it waits for the copies
  std::optional<InputMoves> moves_;
  std::string feed_note_;  // why the loader moves the images; may be empty
  Status feed_failure_;
  std::chrono::steady_clock::duration copied_{};
};

Status DeviceStepEngine::Start() {
  const proto::TrainConfig& config = setup_.config;
  DeviceStepOptions options;
  ASSIGN_OR_RETURN(options.state.optimizer, OptimizerOptionsOf(config));
  options.state.ranges = OptimizerRanges(setup_.graph->parameters());
  options.state.average_decay = config.ema();
  options.clip_norm = config.clip_norm();
  std::string why;
  if (InputMoves::CanDo(setup_.augment, setup_.task, &why)) {
    moves_.emplace(setup_.augment, setup_.task, config.seed(), config.train_split());
  }
  if (!why.empty()) {
    feed_note_ =
        "images are augmented by the threads of the loader, on the CPU: the GPU's kernel " + why;
  }
  ASSIGN_OR_RETURN(const StepMemoryRequest memory, StepMemoryRequestOf(setup_, config.batch()));
  options.batch_bytes = memory.BatchBytes();
  options.rows = memory.rows;
  options.passes = memory.passes;
  options.outside = static_cast<float>(setup_.augment.pad_value);
  options.outside_label = setup_.task.ignore ? static_cast<int64_t>(*setup_.task.ignore) : 0;
  RETURN_IF_ERROR(ConnectRanks());
  ASSIGN_OR_RETURN(step_, DeviceStep::Create(setup_.graph.get(), setup_.device.device_ops,
                                             ranks_.get(), options));
  return StateChanged();
}

Status DeviceStepEngine::ConnectRanks() {
  if (setup_.communicator->size() == 1) return OkStatus();
  DeviceOpTable* const ops = setup_.device.device_ops;
  CommunicatorOptions options;
  options.timeout_seconds = setup_.config.rank_timeout();
  ASSIGN_OR_RETURN(ranks_, setup_.device.connect_ranks(
                               ops->runtime(), DeviceStep::ComputeStream(setup_.graph.get(), ops),
                               setup_.communicator, options));
  return OkStatus();
}

// Memory that the device copies from by itself; and rows as they are stored, where it moves them.
void DeviceStepEngine::ShapeFeed(TrainingFeedOptions* options) {
  CudaRuntime* const runtime = setup_.device.device_ops->runtime();
  options->slots = kLoaderSlots;
  options->allocate = [this, runtime](uint64_t bytes) -> void* {
    const auto memory = runtime->AllocatePinned(static_cast<int64_t>(bytes));
    if (memory.ok()) return *memory;
    feed_failure_ = memory.status().WithContext("memory for batches; use a smaller --batch");
    return nullptr;
  };
  options->release = [runtime](void* memory, uint64_t) {
    if (!runtime->FreePinned(memory).ok()) return;  // the device is lost
  };
  if (moves_) options->augment = Augment();
}

Result<std::optional<StepReport>> DeviceStepEngine::Step(FeedBatch batch, uint64_t step,
                                                         bool stop) {
  DeviceBatch pushed;
  pushed.rows = batch.rows();
  pushed.rows.images.step = step;
  if (moves_) {
    const Shape moved = TrainingTask(setup_.task, setup_.augment).image;
    pushed.height = moved.h;
    pushed.width = moved.w;
    ASSIGN_OR_RETURN(pushed.moves, moves_->Of(batch.lease, pushed.rows.images.first_row));
  }
  // The report keeps the memory longer than the copy does, also where the step fails.
  StepReport& report = reports_.emplace_back();
  report.batch = std::move(batch);
  report.step = step;
  report.learning_rate = LearningRate(setup_.schedule, step);
  const auto start = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(step_->Push(pushed, [] {}));
  copied_ += std::chrono::steady_clock::now() - start;
  RETURN_IF_ERROR(step_->Enqueue(report.learning_rate, stop));
  if (step_->pending() < DeviceStep::kMostPending) return std::optional<StepReport>();
  ASSIGN_OR_RETURN(StepReport done, Report());
  return std::optional<StepReport>(std::move(done));
}

std::vector<std::string> DeviceStepEngine::notes() const {
  std::vector<std::string> notes;
  if (!feed_note_.empty()) notes.push_back(feed_note_);
  if (!step_->note().empty()) notes.push_back(step_->note());
  return notes;
}

Result<StepReport> DeviceStepEngine::Report() {
  ASSIGN_OR_RETURN(const DeviceOutcome outcome, step_->Await());
  StepReport report = std::move(reports_.front());
  reports_.pop_front();
  report.loss = outcome.loss;
  report.gradient_norm = outcome.gradient_norm;
  report.stop = outcome.stop;
  report.is_updated = true;
  RETURN_IF_ERROR(check_(report));
  return report;
}

Result<std::optional<StepReport>> DeviceStepEngine::Settle() {
  std::optional<StepReport> last;
  if (step_->pending() > 0) {
    ASSIGN_OR_RETURN(last, Report());
  }
  SHARDMILL_CHECK(step_->pending() == 0);
  RETURN_IF_ERROR(step_->state().CopyToHost(&*setup_.optimizer, Average(), AverageStatistics()));
  return last;
}

Status DeviceStepEngine::StateChanged() {
  return step_->state().CopyFromHost(*setup_.optimizer, Average(), AverageStatistics());
}

}  // namespace

bool DoesWholeSteps(const TrainSetup& setup) {
  if (setup.device.device_ops == nullptr) return false;
  return setup.communicator->size() == 1 || setup.device.connect_ranks;
}

Result<std::unique_ptr<StepEngine>> CreateDeviceStepEngine(TrainSetup* setup,
                                                           StepEngine::Check check) {
  auto engine = std::make_unique<DeviceStepEngine>(setup, std::move(check));
  RETURN_IF_ERROR(engine->Start());
  return std::unique_ptr<StepEngine>(std::move(engine));
}

}  // namespace shardmill
