#include "trainer/training/create_step_engine.h"

#include <string>
#include <utility>

#include "trainer/cuda/step/device_step_engine.h"
#include "trainer/training/network.h"

namespace shardmill {
namespace {

// Forward and backward on any op table, the update on the host.
class HostStepEngine final : public StepEngine {
 public:
  HostStepEngine(TrainSetup* setup, Check check) : setup_(*setup), check_(std::move(check)) {}

  Result<std::optional<StepReport>> Step(FeedBatch batch, uint64_t step, bool stop) override;
  Result<std::optional<StepReport>> Settle() override { return std::optional<StepReport>(); }
  double copied_seconds() const override { return setup_.engine->copied_seconds(); }
  uint64_t pending() const override { return 0; }
  Status StateChanged() override {
    setup_.engine->ParametersChanged();
    return OkStatus();
  }

 private:
  TrainSetup& setup_;
  Check check_;
};

Result<std::optional<StepReport>> HostStepEngine::Step(FeedBatch batch, uint64_t step, bool stop) {
  ParameterStore& store = setup_.graph->parameters();
  BatchRows rows = batch.rows();
  rows.images.step = step;
  ASSIGN_OR_RETURN(const BatchOutcome outcome, setup_.engine->Train(rows, stop));
  StepReport report;
  report.batch = std::move(batch);
  report.step = step;
  report.loss = outcome.loss;
  report.gradient_norm = EuclideanNorm(store.gradients(), store.parameter_elements());
  report.learning_rate = LearningRate(setup_.schedule, step);
  report.stop = outcome.stop;
  RETURN_IF_ERROR(check_(report));
  const double clip = setup_.config.clip_norm();
  const double norm = report.gradient_norm;
  const double scale = clip > 0 && norm > clip ? clip / norm : 1;
  setup_.optimizer->Step(store.values(), store.gradients(), report.learning_rate,
                         static_cast<float>(scale));
  RETURN_IF_ERROR(StateChanged());
  report.is_updated = true;
  if (setup_.average) setup_.average->Update(step + 1);
  return std::optional<StepReport>(std::move(report));
}

}  // namespace

Result<std::unique_ptr<StepEngine>> CreateStepEngine(TrainSetup* setup, StepEngine::Check check) {
  if (DoesWholeSteps(*setup)) return CreateDeviceStepEngine(setup, std::move(check));
  return std::unique_ptr<StepEngine>(new HostStepEngine(setup, std::move(check)));
}

}  // namespace shardmill
