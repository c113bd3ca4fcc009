// What a Graph is made of; see graph.h.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "trainer/graph/graph.h"
#include "trainer/graph/graph_plan.h"
#include "trainer/graph/resolved_model.h"
#include "trainer/layers/layer.h"

namespace shardmill {

// Host data where the op table can read it: the data itself, or a copy in a buffer that grows.
class Staging {
 public:
  Result<const void*> Stage(OpTable* ops, Stream& stream, const void* host, int64_t bytes) {
    if (ops->host_memory()) return host;
    if (buffer_.bytes() < bytes) {
      RETURN_IF_ERROR(stream.Synchronize());
      ASSIGN_OR_RETURN(buffer_, DeviceBuffer::Create(ops, bytes));
    }
    RETURN_IF_ERROR(ops->CopyFromHost(stream, host, bytes, buffer_.data()));
    return static_cast<const void*>(buffer_.data());
  }

  const void* data() const { return buffer_.data(); }

 private:
  DeviceBuffer buffer_;
};

struct TimeCounter {
  void Add(std::chrono::steady_clock::duration time) {
    const int64_t passed = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
    fastest_nanoseconds = calls == 0 ? passed : std::min(fastest_nanoseconds, passed);
    nanoseconds += passed;
    calls += 1;
  }

  int64_t calls = 0;
  int64_t nanoseconds = 0;
  int64_t fastest_nanoseconds = 0;
};

class Graph::Implementation {
 public:
  explicit Implementation(OpTable* ops) : ops_(ops) {}

  Status Initialize(const ModelSpec& model, const GraphOptions& options);
  Result<std::unique_ptr<GraphPlan>> MakePlan(const Shape& images, Phase phase);
  Result<GraphPlan*> PlanFor(const Shape& images, Phase phase);
  Status SetLoss(const LossOptions& options);
  Status Forward(const ImageBatch& images, Phase phase);
  // The loss of labels in memory of the host, or of the op table.
  Result<LossCall> StageLoss(const LabelBatch& labels);
  Result<LossCall> LossOf(const LabelBatch& labels);
  Result<double> LabelWeight(const LossCall& call);
  Result<LossResult> Loss(const LabelBatch& labels, std::optional<double> total_weight);
  Status Backward(const GradientDone& done);
  Status ShareBatches(SharedSums* sums);
  Status Predict(LabelType type, void* classes);
  Status ReadLogits(void* logits);
  std::vector<LayerTime> Times() const;
  void SetProfiling(bool enabled);

  GraphPlan& Current() const {
    SHARDMILL_CHECK(current_ != nullptr);
    return *current_;
  }
  // For what needs the workspace of the plan.
  GraphPlan& CurrentForThisThread() const {
    SHARDMILL_CHECK(Current().threads() >= ops_->threads());
    return Current();
  }
  ParameterStore& parameters() { return parameters_; }
  const ModelSpec& spec() const { return spec_; }
  const ResolvedModel& model() const { return model_; }
  int64_t arena_bytes() const { return arena_.bytes(); }
  double copied_seconds() const { return std::chrono::duration<double>(copied_).count(); }

  // The pieces of a step of a device; see graph_step.h.
  friend class GraphStep;

 private:
  Status CompleteLoss(LossCall* call);
  Status EnqueueLoss(const LossCall& call, const double* divisor, double* loss_sum);
  // Device memory: mean and inverse deviation per channel; the three sums of the loss and the
  // limit of hard pixels.
  Status UploadNormalization(const GraphOptions& options);
  float* ImageMean() const { return static_cast<float*>(normalization_.data()); }
  float* InverseDeviation() const { return ImageMean() + model_.input_channels; }
  double* WeightSum() const { return static_cast<double*>(sums_.data()); }
  double* TotalWeight() const { return WeightSum() + 1; }
  double* LossSum() const { return WeightSum() + 2; }
  double* ProbabilityLimit() const { return WeightSum() + 3; }

  Status GrowArena(int64_t bytes);
  Status DropOldPlans();
  Status SelectHardPixels(LossCall* call);
  Result<double> FindProbabilityLimit(const LossCall& call);
  Status ReportDone(const LayerParameters& parameters, const GradientDone& done);
  Result<double> ReadSum(const double* sum);

  // Runs `body` and adds its time to `counter` when profiling.
  template <typename Body>
  Status Timed(TimeCounter* counter, const Body& body) {
    if (!profiling_) return body();
    const auto start = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(body());
    RETURN_IF_ERROR(stream_->Synchronize());
    counter->Add(std::chrono::steady_clock::now() - start);
    return OkStatus();
  }

  OpTable* ops_;
  std::unique_ptr<Stream> stream_;
  ParameterStore parameters_;
  ModelSpec spec_;
  ResolvedModel model_;
  LayerContext context_;
  LossOptions loss_options_;
  DeviceBuffer normalization_, class_weights_, sums_, arena_, predictions_;
  Status StageImages(const ImageBatch& images);
  Status StageBatch(const ImageBatch& images);
  Staging staged_images_, staged_labels_, staged_rows_, staged_lengths_;
  DeviceBuffer probabilities_, probability_counts_;
  std::vector<double> host_counts_;
  bool limit_is_known_ = false;  // of the last forward
  std::vector<std::unique_ptr<GraphPlan>> plans_;
  GraphPlan* current_ = nullptr;

  std::chrono::steady_clock::duration copied_{};
  bool profiling_ = false;
  TimeCounter images_time_, loss_time_;
  std::vector<TimeCounter> forward_times_, backward_times_;  // per layer
};

}  // namespace shardmill
