#include "trainer/graph/graph_implementation.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "trainer/cuda/kernels/bfloat16.h"
#include "trainer/graph/hard_pixels.h"

namespace shardmill {
namespace {

// Images of several sizes may come in any number of them: the plan that was not used for the
// longest time gives way.
constexpr int kMostPlans = 32;  // of evaluation

Status CheckOptions(const ModelSpec& model, const GraphOptions& options) {
  const size_t channels = static_cast<size_t>(model.input_channels);
  const auto fits = [&](const std::vector<float>& v) { return v.empty() || v.size() == channels; };
  if (!fits(options.image_mean) || !fits(options.image_deviation)) {
    return InvalidArgumentError("mean and deviation of the images must have one number for each " +
                                ("of the " + std::to_string(channels)) + " channels");
  }
  for (const float deviation : options.image_deviation) {
    if (deviation > 0 && std::isfinite(deviation)) continue;
    return InvalidArgumentError("a deviation of the images is " + std::to_string(deviation) +
                                "; it must be positive");
  }
  return OkStatus();
}

int64_t LabelBytes(const LabelBatch& labels, int64_t classes) {
  const int64_t pixels = labels.n * labels.h * labels.w;
  if (labels.type == LabelType::kOneHotF32) return pixels * classes * 4;
  return labels.type == LabelType::kIndexU8 ? pixels : pixels * 2;
}

}  // namespace

Status Graph::Implementation::Initialize(const ModelSpec& model, const GraphOptions& options) {
  RETURN_IF_ERROR(CheckOptions(model, options));
  spec_ = model;
  ASSIGN_OR_RETURN(stream_, ops_->CreateStream());
  ASSIGN_OR_RETURN(model_, ResolveModel(model, &parameters_));
  RETURN_IF_ERROR(parameters_.Allocate(ops_, options.seed));
  context_ = {ops_, stream_.get(), &parameters_, options.batch_norm_momentum,
              options.batch_norm_epsilon};
  context_.seed = options.seed;
  context_.fuses = options.fuse;
  ASSIGN_OR_RETURN(sums_, DeviceBuffer::Create(ops_, 4 * sizeof(double)));
  RETURN_IF_ERROR(UploadNormalization(options));
  SetProfiling(false);
  return OkStatus();
}

Status Graph::Implementation::UploadNormalization(const GraphOptions& options) {
  const size_t channels = static_cast<size_t>(model_.input_channels);
  std::vector<float> numbers = options.image_mean;
  numbers.resize(channels, 0.0f);
  for (const float deviation : options.image_deviation) numbers.push_back(1 / deviation);
  numbers.resize(2 * channels, 1.0f);
  const int64_t bytes = static_cast<int64_t>(numbers.size() * sizeof(float));
  ASSIGN_OR_RETURN(normalization_, DeviceBuffer::Create(ops_, bytes));
  RETURN_IF_ERROR(ops_->CopyFromHost(*stream_, numbers.data(), bytes, normalization_.data()));
  return stream_->Synchronize();
}

Result<std::unique_ptr<GraphPlan>> Graph::Implementation::MakePlan(const Shape& images,
                                                                   Phase phase) {
  if (images.c != model_.input_channels) {
    return InvalidArgumentError("the images have " + std::to_string(images.c) +
                                " channels, the model takes " +
                                std::to_string(model_.input_channels));
  }
  return GraphPlan::Create(&model_, &context_, images, phase);
}

Result<GraphPlan*> Graph::Implementation::PlanFor(const Shape& images, Phase phase) {
  // A plan for fewer threads has too little workspace, and one for more may compute other bits.
  const auto fits = [&](const std::unique_ptr<GraphPlan>& plan) {
    return plan->images_shape() == images && plan->phase() == phase &&
           plan->threads() == ops_->threads();
  };
  const auto known = std::find_if(plans_.begin(), plans_.end(), fits);
  if (known != plans_.end()) {
    std::rotate(known, known + 1, plans_.end());
    return plans_.back().get();
  }
  ASSIGN_OR_RETURN(std::unique_ptr<GraphPlan> plan, MakePlan(images, phase));
  if (Status status = GrowArena(plan->arena_bytes()); !status.ok()) {
    return status.WithContext("the activations of " + ShapeText(images));
  }
  plan->Bind(arena_.data());
  RETURN_IF_ERROR(DropOldPlans());
  plans_.push_back(std::move(plan));
  return plans_.back().get();
}

// Of evaluation only: captured steps may need what plans of training hold.
Status Graph::Implementation::DropOldPlans() {
  const auto is_dropped = [](const std::unique_ptr<GraphPlan>& plan) {
    return plan->phase() == Phase::kEvaluation;
  };
  if (std::count_if(plans_.begin(), plans_.end(), is_dropped) < kMostPlans) return OkStatus();
  RETURN_IF_ERROR(stream_->Synchronize());
  const auto oldest = std::find_if(plans_.begin(), plans_.end(), is_dropped);
  if (current_ == oldest->get()) current_ = nullptr;
  plans_.erase(oldest);
  return OkStatus();
}

Status Graph::Implementation::GrowArena(int64_t bytes) {
  if (bytes <= arena_.bytes()) return OkStatus();
  RETURN_IF_ERROR(stream_->Synchronize());
  // The old arena goes first: both together may not fit.
  current_ = nullptr;
  arena_.Reset();
  auto arena = DeviceBuffer::Create(ops_, bytes);
  if (!arena.ok()) {
    plans_.clear();
    return arena.status();
  }
  arena_ = std::move(arena).value();
  for (const auto& plan : plans_) plan->Bind(arena_.data());
  return OkStatus();
}

Status Graph::Implementation::SetLoss(const LossOptions& options) {
  const int64_t classes = model_.layers.back().channels;
  const int64_t given = static_cast<int64_t>(options.class_weights.size());
  if (given != 0 && given != classes) {
    return InvalidArgumentError("there are " + std::to_string(given) + " class weights for " +
                                std::to_string(classes) + " classes");
  }
  for (const float weight : options.class_weights) {
    if (weight >= 0 && std::isfinite(weight)) continue;
    return InvalidArgumentError("a class weight is " + std::to_string(weight) +
                                "; weights must be finite and not negative");
  }
  RETURN_IF_ERROR(CheckLossTerms(options));
  loss_options_ = options;
  class_weights_.Reset();
  if (given == 0) return OkStatus();
  ASSIGN_OR_RETURN(class_weights_, DeviceBuffer::Create(ops_, given * 4));
  RETURN_IF_ERROR(
      ops_->CopyFromHost(*stream_, options.class_weights.data(), given * 4, class_weights_.data()));
  return stream_->Synchronize();
}

Status Graph::Implementation::Forward(const ImageBatch& images, Phase phase) {
  SHARDMILL_CHECK(images.data != nullptr);
  ASSIGN_OR_RETURN(GraphPlan* const plan, PlanFor(images.shape, phase));
  current_ = plan;
  limit_is_known_ = false;
  const auto start = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(StageImages(images));
  copied_ += std::chrono::steady_clock::now() - start;
  for (int i = 0; i < static_cast<int>(model_.layers.size()); ++i) {
    RETURN_IF_ERROR(Timed(&forward_times_[i], [&] { return plan->Forward(i); }));
  }
  return OkStatus();
}

// The images as the first layer takes them.
Status Graph::Implementation::StageImages(const ImageBatch& images) {
  const int64_t bytes = images.shape.Elements() * ImageTypeBytes(images.type);
  ASSIGN_OR_RETURN(const void* data, staged_images_.Stage(ops_, *stream_, images.data, bytes));
  RETURN_IF_ERROR(StageBatch(images));
  void* const input = Current().images();
  const Shape& shape = Current().input_shape();
  RETURN_IF_ERROR(Timed(&images_time_, [&] {
    if (shape.c != images.shape.c) {
      return ops_->NormalizePaddedImages(*stream_, images.shape, images.type, data, ImageMean(),
                                         InverseDeviation(), shape.c, input);
    }
    return ops_->NormalizeImages(*stream_, images.shape, images.type, data, ImageMean(),
                                 InverseDeviation(), input);
  }));
  if (!context_.IsPadded(images.shape)) return OkStatus();
  return ops_->ZeroPadding(*stream_, shape, context_.lengths, input);
}

// What layers know of the batch.
Status Graph::Implementation::StageBatch(const ImageBatch& images) {
  context_.step = images.step;
  context_.first_row = images.first_row;
  context_.frames = images.shape.w;
  context_.lengths = nullptr;
  if (images.lengths == nullptr) return OkStatus();
  if (images.shape.h != 1) {
    return InvalidArgumentError("only sequences (height 1) may be padded, not " +
                                ShapeText(images.shape));
  }
  RETURN_IF_ERROR(Current().takes_padding());
  context_.valid_frames = 0;
  for (int64_t n = 0; n < images.shape.n; ++n) {
    if (images.lengths[n] < 1 || images.lengths[n] > images.shape.w) {
      return InvalidArgumentError("row " + std::to_string(n) + " of the batch has " +
                                  std::to_string(images.lengths[n]) + " of " +
                                  std::to_string(images.shape.w) + " frames");
    }
    context_.valid_frames += images.lengths[n];
  }
  ASSIGN_OR_RETURN(const void* lengths,
                   staged_lengths_.Stage(ops_, *stream_, images.lengths, images.shape.n * 4));
  context_.lengths = static_cast<const int32_t*>(lengths);
  return OkStatus();
}

Result<LossCall> Graph::Implementation::LossOf(const LabelBatch& labels) {
  SHARDMILL_CHECK(labels.data != nullptr);
  const Shape& logits = Current().logits_shape();
  if (labels.n != logits.n || labels.h != logits.h || labels.w != logits.w) {
    return InvalidArgumentError("the labels are " + ShapeText({labels.n, labels.h, labels.w, 1}) +
                                ", the predictions " +
                                ShapeText({logits.n, logits.h, logits.w, 1}));
  }
  LossCall call;
  call.shape = {logits, labels.type, loss_options_.ignore};
  call.workspace = CurrentForThisThread().workspace();
  call.class_weights = static_cast<const float*>(class_weights_.data());
  call.labels = labels.data;
  call.row_weights = labels.row_weights;
  return call;
}

Result<LossCall> Graph::Implementation::StageLoss(const LabelBatch& labels) {
  ASSIGN_OR_RETURN(LossCall call, LossOf(labels));
  const int64_t classes = call.shape.logits.c;
  ASSIGN_OR_RETURN(call.labels,
                   staged_labels_.Stage(ops_, *stream_, labels.data, LabelBytes(labels, classes)));
  if (labels.row_weights != nullptr) {
    ASSIGN_OR_RETURN(const void* rows,
                     staged_rows_.Stage(ops_, *stream_, labels.row_weights, labels.n * 4));
    call.row_weights = static_cast<const float*>(rows);
  }
  RETURN_IF_ERROR(CompleteLoss(&call));
  return call;
}

// The terms of training.
Status Graph::Implementation::CompleteLoss(LossCall* call) {
  if (Current().phase() == Phase::kEvaluation) return OkStatus();
  call->cross_entropy = loss_options_.cross_entropy;
  call->dice = loss_options_.dice;
  call->label_smoothing = loss_options_.label_smoothing;
  return loss_options_.hard_probability > 0 ? SelectHardPixels(call) : OkStatus();
}

Status Graph::Implementation::SelectHardPixels(LossCall* call) {
  const int64_t bytes = call->shape.logits.Pixels() * static_cast<int64_t>(sizeof(float));
  if (probabilities_.bytes() < bytes) {
    RETURN_IF_ERROR(stream_->Synchronize());
    ASSIGN_OR_RETURN(probabilities_, DeviceBuffer::Create(ops_, bytes));
  }
  call->probabilities = static_cast<const float*>(probabilities_.data());
  call->probability_limit = ProbabilityLimit();
  if (limit_is_known_) return OkStatus();
  ASSIGN_OR_RETURN(const double limit, FindProbabilityLimit(*call));
  RETURN_IF_ERROR(ops_->CopyFromHost(*stream_, &limit, sizeof(limit), ProbabilityLimit()));
  limit_is_known_ = true;
  return stream_->Synchronize();
}

Result<double> Graph::Implementation::FindProbabilityLimit(const LossCall& call) {
  constexpr int64_t kBytes = kProbabilityBins * static_cast<int64_t>(sizeof(double));
  auto* probabilities = static_cast<float*>(probabilities_.data());
  if (probability_counts_.bytes() == 0) {
    ASSIGN_OR_RETURN(probability_counts_, DeviceBuffer::Create(ops_, kBytes));
    host_counts_.resize(kProbabilityBins);
  }
  auto* counts = static_cast<double*>(probability_counts_.data());
  RETURN_IF_ERROR(ops_->TargetProbabilities(*stream_, call, Current().logits(), probabilities));
  RETURN_IF_ERROR(
      ops_->CountProbabilities(*stream_, call.shape.logits.Pixels(), probabilities, counts));
  RETURN_IF_ERROR(ops_->CopyToHost(*stream_, counts, kBytes, host_counts_.data()));
  RETURN_IF_ERROR(stream_->Synchronize());
  if (context_.shared_sums != nullptr) {
    RETURN_IF_ERROR(
        context_.shared_sums->Sum(host_counts_.data(), kProbabilityBins, "hard pixels"));
  }
  return ProbabilityLimitOf(host_counts_, loss_options_);
}

Result<double> Graph::Implementation::ReadSum(const double* sum) {
  double value = 0;
  RETURN_IF_ERROR(ops_->CopyToHost(*stream_, sum, sizeof(value), &value));
  RETURN_IF_ERROR(stream_->Synchronize());
  return value;
}

Result<double> Graph::Implementation::LabelWeight(const LossCall& call) {
  RETURN_IF_ERROR(ops_->LossWeight(*stream_, call, WeightSum()));
  return ReadSum(WeightSum());
}

Result<LossResult> Graph::Implementation::Loss(const LabelBatch& labels,
                                               std::optional<double> total_weight) {
  ASSIGN_OR_RETURN(const LossCall call, StageLoss(labels));
  const double* divisor = WeightSum();
  if (total_weight.has_value()) {
    divisor = TotalWeight();
    RETURN_IF_ERROR(ops_->CopyFromHost(*stream_, &*total_weight, sizeof(double), TotalWeight()));
  }
  RETURN_IF_ERROR(Timed(&loss_time_, [&]() -> Status {
    RETURN_IF_ERROR(ops_->LossWeight(*stream_, call, WeightSum()));
    return EnqueueLoss(call, divisor, LossSum());
  }));
  LossResult result;
  ASSIGN_OR_RETURN(result.weight_sum, ReadSum(WeightSum()));
  ASSIGN_OR_RETURN(result.loss_sum, ReadSum(LossSum()));
  return result;
}

Status Graph::Implementation::EnqueueLoss(const LossCall& call, const double* divisor,
                                          double* loss_sum) {
  const GraphPlan& plan = Current();
  RETURN_IF_ERROR(ops_->SoftmaxCrossEntropy(*stream_, call, plan.logits(), divisor, loss_sum,
                                            plan.logits_gradient()));
  if (call.dice == 0) return OkStatus();
  return ops_->AddDiceLoss(*stream_, call, plan.logits(), divisor, loss_sum,
                           plan.logits_gradient());
}

Status Graph::Implementation::ReportDone(const LayerParameters& parameters,
                                         const GradientDone& done) {
  RETURN_IF_ERROR(stream_->Synchronize());
  for (const int parameter :
       {parameters.weight, parameters.bias, parameters.scale, parameters.shift, parameters.slope}) {
    if (parameter >= 0) RETURN_IF_ERROR(done(parameter));
  }
  return OkStatus();
}

Status Graph::Implementation::ShareBatches(SharedSums* sums) {
  context_.shared_sums = sums;
  return OkStatus();
}

Status Graph::Implementation::Backward(const GradientDone& done) {
  GraphPlan& plan = CurrentForThisThread();
  SHARDMILL_CHECK(plan.phase() == Phase::kTraining);
  for (int i = static_cast<int>(model_.layers.size()) - 1; i >= 0; --i) {
    RETURN_IF_ERROR(Timed(&backward_times_[i], [&] { return plan.Backward(i); }));
    if (done) RETURN_IF_ERROR(ReportDone(model_.layers[i].parameters, done));
  }
  return stream_->Synchronize();
}

Status Graph::Implementation::Predict(LabelType type, void* classes) {
  SHARDMILL_CHECK(type != LabelType::kOneHotF32);
  const Shape& shape = Current().logits_shape();
  if (ops_->host_memory()) {
    return ops_->Argmax(*stream_, shape, Current().logits(), type, classes);
  }
  const int64_t bytes = shape.Pixels() * (type == LabelType::kIndexU8 ? 1 : 2);
  if (predictions_.bytes() < bytes) {
    ASSIGN_OR_RETURN(predictions_, DeviceBuffer::Create(ops_, bytes));
  }
  RETURN_IF_ERROR(ops_->Argmax(*stream_, shape, Current().logits(), type, predictions_.data()));
  RETURN_IF_ERROR(ops_->CopyToHost(*stream_, predictions_.data(), bytes, classes));
  return stream_->Synchronize();
}

Status Graph::Implementation::ReadLogits(void* logits) {
  const int64_t elements = Current().logits_shape().Elements();
  const ElementType type = ops_->element_type();
  const bool is_narrow = type == ElementType::kBf16;
  std::vector<Bfloat16> narrow(is_narrow ? elements : 0);
  RETURN_IF_ERROR(ops_->CopyToHost(*stream_, Current().logits(), elements * ElementBytes(type),
                                   is_narrow ? narrow.data() : logits));
  RETURN_IF_ERROR(stream_->Synchronize());
  for (size_t i = 0; i < narrow.size(); ++i) static_cast<float*>(logits)[i] = ToFloat(narrow[i]);
  return OkStatus();
}

void Graph::Implementation::SetProfiling(bool enabled) {
  profiling_ = enabled;
  images_time_ = loss_time_ = TimeCounter();
  forward_times_.assign(model_.layers.size(), TimeCounter());
  backward_times_.assign(model_.layers.size(), TimeCounter());
}

std::vector<LayerTime> Graph::Implementation::Times() const {
  std::vector<LayerTime> times;
  const auto add = [&](const std::string& layer, const char* direction, const TimeCounter& time) {
    times.push_back({layer, direction, time.calls, time.nanoseconds, time.fastest_nanoseconds});
  };
  add("images", "forward", images_time_);
  for (size_t i = 0; i < model_.layers.size(); ++i) {
    add(model_.layers[i].spec.name, "forward", forward_times_[i]);
  }
  add("loss", "forward", loss_time_);
  for (size_t i = model_.layers.size(); i-- > 0;) {
    add(model_.layers[i].spec.name, "backward", backward_times_[i]);
  }
  return times;
}

}  // namespace shardmill
