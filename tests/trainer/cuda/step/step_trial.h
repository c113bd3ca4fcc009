// A small network trained for some steps, once on a simulated device and once by the graph and the
// optimizer of the host, on the same batches.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/trainer/small_training.h"
#include "trainer/cuda/ops/host_kernels.h"
#include "trainer/cuda/simulated/simulated_ops.h"
#include "trainer/cuda/step/device_step.h"
#include "trainer/engine/gradient_passes.h"
#include "trainer/optimization/weight_average.h"
#include "trainer/training/network.h"

namespace shardmill {

struct StepTrial {
  ModelSpec model = SmallUnet();
  ElementType type = ElementType::kF32;
  LossOptions loss;
  OptimizerOptions optimizer;
  double rate = 0.01;
  double clip_norm = 0;
  double average = 0;
  int passes = 1;
  bool capture = true;
};

struct TrialOutcome {
  std::vector<double> losses, norms;
  std::vector<float> values, statistics, average;
};

// Ends the test with the words of what failed.
inline void Must(const Status& status) {
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  SHARDMILL_CHECK(status.ok());
}

inline Samples BatchOf(int step, const Shape& shape = {2, 8, 16, 3}) {
  return Samples(shape, static_cast<uint64_t>(100 + step));
}

inline void KeepNumbers(ParameterStore* store, TrialOutcome* outcome) {
  outcome->values.assign(store->values(), store->values() + store->parameter_elements());
  outcome->statistics.assign(store->running_statistics(),
                             store->running_statistics() + store->statistic_elements());
}

// Leaves the gradient of the mean loss.
inline Result<LossResult> GradientOnHost(Graph* graph, int passes, const BatchRows& rows) {
  if (passes > 1) {
    ASSIGN_OR_RETURN(const LossResult loss, GradientPasses(passes).Run(graph, rows, nullptr));
    DivideGradients(loss.weight_sum, &graph->parameters());
    return loss;
  }
  RETURN_IF_ERROR(graph->Forward(rows.images, Phase::kTraining));
  ASSIGN_OR_RETURN(const LossResult loss, graph->Loss(rows.labels));
  RETURN_IF_ERROR(graph->Backward());
  return loss;
}

// By the host, on any op table.
inline TrialOutcome TrainOnHost(const StepTrial& trial, OpTable* ops,
                                const std::vector<Samples>& batches) {
  const auto graph = MakeGraph(trial.model, ops, PixelOptions());
  SHARDMILL_CHECK(graph->SetLoss(trial.loss).ok());
  ParameterStore& store = graph->parameters();
  auto optimizer = Optimizer::Create(trial.optimizer, OptimizerRanges(store));
  std::unique_ptr<WeightAverage> average;
  if (trial.average > 0) {
    average = std::make_unique<WeightAverage>(*WeightAverage::Create(trial.average, &store));
  }
  TrialOutcome outcome;
  for (size_t step = 0; step < batches.size(); ++step) {
    ImageBatch images = batches[step].images();
    images.step = step;
    const auto loss =
        GradientOnHost(graph.get(), trial.passes, {images, batches[step].labels(), images.shape.n});
    SHARDMILL_CHECK(loss.ok());
    const double norm = EuclideanNorm(store.gradients(), store.parameter_elements());
    const bool is_long = trial.clip_norm > 0 && norm > trial.clip_norm;
    optimizer->Step(store.values(), store.gradients(), trial.rate,
                    static_cast<float>(is_long ? trial.clip_norm / norm : 1));
    SHARDMILL_CHECK(store.NarrowValues().ok());
    if (average) average->Update(step + 1);
    outcome.losses.push_back(loss->Mean());
    outcome.norms.push_back(norm);
  }
  KeepNumbers(&store, &outcome);
  if (average) outcome.average = average->parameters();
  return outcome;
}

// A device with one network, and the ring of pinned memory that a loader would have.
class DeviceTrial {
 public:
  static constexpr int64_t kDeviceBytes = 1 << 30;  // of the simulated one

  explicit DeviceTrial(const StepTrial& trial, int pinned_buffers = 3)
      : DeviceTrial(trial, CreateSimulatedOps(trial.type, std::make_unique<SimulatedRuntime>()),
                    pinned_buffers) {}
  // On any device.
  DeviceTrial(const StepTrial& trial, std::unique_ptr<DeviceOpTable> ops, int pinned_buffers = 3)
      : trial_(trial), ops_(std::move(ops)), pinned_(static_cast<size_t>(pinned_buffers)) {
    simulated_ = dynamic_cast<SimulatedRuntime*>(ops_->runtime());
    if (simulated_ != nullptr) simulated_->set_device_bytes(kDeviceBytes);
    graph_ = MakeGraph(trial.model, ops_.get(), PixelOptions());
    SHARDMILL_CHECK(graph_->SetLoss(trial.loss).ok());
    auto optimizer = Optimizer::Create(trial.optimizer, OptimizerRanges(store()));
    optimizer_ = std::make_unique<Optimizer>(std::move(*optimizer));
    if (trial.average > 0) {
      average_ = std::make_unique<WeightAverage>(*WeightAverage::Create(trial.average, &store()));
    }
  }

  Status Start(DeviceCommunicator* ranks = nullptr, int64_t rows = 2) {
    DeviceStepOptions options;
    options.state = {trial_.optimizer, OptimizerRanges(store()), trial_.average};
    options.clip_norm = trial_.clip_norm;
    options.batch_bytes = kBufferBytes;
    options.rows = rows;
    options.outside_label = 4;
    options.passes = trial_.passes;
    options.capture = trial_.capture;
    ASSIGN_OR_RETURN(step_, DeviceStep::Create(graph_.get(), ops_.get(), ranks, options));
    for (Buffer& buffer : pinned_) {
      ASSIGN_OR_RETURN(void* const memory, device_runtime()->AllocatePinned(kBufferBytes));
      buffer.memory = static_cast<char*>(memory);
    }
    return step_->state().CopyFromHost(*optimizer_, average_ ? &average_->parameters() : nullptr,
                                       average_ ? &average_->statistics() : nullptr);
  }

  // One step; keeps the outcome of the one before, if that is still awaited.
  Status Step(const Samples& samples, int64_t global_rows = 0, DeviceBatch moved = {}) {
    RETURN_IF_ERROR(Push(samples, global_rows, std::move(moved)));
    RETURN_IF_ERROR(step_->Enqueue(trial_.rate, false));
    return step_->pending() == DeviceStep::kMostPending ? Keep() : OkStatus();
  }
  Status Finish() {
    while (step_->pending() > 0) RETURN_IF_ERROR(Keep());
    RETURN_IF_ERROR(graph_stream().Synchronize());
    RETURN_IF_ERROR(step_->state().CopyToHost(optimizer_.get(),
                                              average_ ? &average_->parameters() : nullptr,
                                              average_ ? &average_->statistics() : nullptr));
    KeepNumbers(&store(), &outcome_);
    if (average_) outcome_.average = average_->parameters();
    return OkStatus();
  }
  void Close() { step_.reset(); }

  // All of it.
  TrialOutcome Train(const std::vector<Samples>& batches) {
    Must(Start(nullptr, batches.front().shape.n));
    for (const Samples& samples : batches) Must(Step(samples));
    Must(Finish());
    return outcome_;
  }

  DeviceStep& step() { return *step_; }
  SimulatedRuntime& runtime() { return *simulated_; }
  DeviceOpTable& ops() { return *ops_; }
  Graph& graph() { return *graph_; }
  Stream& graph_stream() { return GraphStep(graph_.get()).stream(); }
  ParameterStore& store() { return graph_->parameters(); }
  Optimizer& optimizer() { return *optimizer_; }
  const TrialOutcome& outcome() const { return outcome_; }

 private:
  static constexpr int64_t kBufferBytes = 1 << 15;
  struct Buffer {
    char* memory = nullptr;
    bool lent = false;
  };

  Status Keep() {
    ASSIGN_OR_RETURN(const DeviceOutcome outcome, step_->Await());
    outcome_.losses.push_back(outcome.loss.Mean());
    outcome_.norms.push_back(outcome.gradient_norm);
    return OkStatus();
  }
  CudaRuntime* device_runtime() { return ops_->runtime(); }
  // As a loader: into a buffer that nobody has, and then it is the step's.
  Status Push(const Samples& samples, int64_t global_rows, DeviceBatch batch) {
    Buffer* buffer = &pinned_[static_cast<size_t>(pushed_ % pinned_.size())];
    if (buffer->lent) return InternalError("the loader has no free buffer");
    const LabelBatch labels = samples.labels();
    const int64_t label_bytes = labels.n * LabelRowBytes(labels);
    const int64_t bytes = static_cast<int64_t>(samples.pixels.size()) + label_bytes;
    SHARDMILL_CHECK(bytes <= kBufferBytes);
    device_runtime()->NoteHostAccess({"loader", {}, {{buffer->memory, bytes}}});
    std::memcpy(buffer->memory, samples.pixels.data(), samples.pixels.size());
    std::memcpy(buffer->memory + samples.pixels.size(), labels.data,
                static_cast<size_t>(label_bytes));
    batch.rows = {samples.images(), labels, global_rows > 0 ? global_rows : samples.shape.n};
    batch.rows.images.data = buffer->memory;
    batch.rows.images.step = static_cast<uint64_t>(pushed_);
    batch.rows.labels.data = buffer->memory + samples.pixels.size();
    buffer->lent = true;
    ++pushed_;
    return step_->Push(batch, [buffer] { buffer->lent = false; });
  }

  StepTrial trial_;
  SimulatedRuntime* simulated_ = nullptr;
  std::unique_ptr<DeviceOpTable> ops_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<WeightAverage> average_;
  std::vector<Buffer> pinned_;  // before step_, which gives them back when it ends
  std::unique_ptr<DeviceStep> step_;
  int64_t pushed_ = 0;
  TrialOutcome outcome_;
};

}  // namespace shardmill
