#include "trainer/graph/graph_step.h"

#include "trainer/graph/graph_implementation.h"
#include "trainer/layers/dropout_layer.h"

namespace shardmill {

Status GraphStep::Begin(const ImageBatch& images) {
  ASSIGN_OR_RETURN(GraphPlan* const plan, graph_.PlanFor(images.shape, Phase::kTraining));
  graph_.current_ = plan;
  graph_.limit_is_known_ = false;
  return graph_.StageBatch(images);
}

bool GraphStep::CanBeCaptured(std::string* why) const {
  const LayerContext& context = graph_.context_;
  if (context.lengths != nullptr) *why = "batch norm leaves out the padding on the host";
  if (graph_.loss_options_.hard_probability > 0) *why = "hard pixels are chosen on the host";
  if (context.shared_sums != nullptr && context.norm_sums == nullptr) {
    *why = "batch norm adds its statistics over the ranks on the host";
  }
  return why->empty();
}

Stream& GraphStep::stream() const { return *graph_.stream_; }
void* GraphStep::input() const { return graph_.Current().images(); }
const Shape& GraphStep::input_shape() const { return graph_.Current().input_shape(); }
const void* GraphStep::arena() const { return graph_.arena_.data(); }
int64_t GraphStep::arena_bytes() const { return graph_.arena_.bytes(); }
const void* GraphStep::logits() const { return graph_.Current().logits(); }
const Shape& GraphStep::logits_shape() const { return graph_.Current().logits_shape(); }
const void* GraphStep::staged_labels() const { return graph_.staged_labels_.data(); }
const float* GraphStep::image_mean() const { return graph_.ImageMean(); }
const float* GraphStep::inverse_deviation() const { return graph_.InverseDeviation(); }

std::vector<uint64_t> GraphStep::DropoutKeys(uint64_t step) const {
  std::vector<uint64_t> keys;
  for (const ResolvedLayer& layer : graph_.model_.layers) {
    if (layer.parameters.dropout < 0) continue;
    keys.push_back(DropoutLayer::KeysOf(graph_.context_.seed, layer.spec.name).Bits(step));
  }
  return keys;
}

void GraphStep::set_dropout_keys(const uint64_t* keys) { graph_.context_.dropout_keys = keys; }

void GraphStep::set_norm_sums(DeviceNormSums* sums) { graph_.context_.norm_sums = sums; }

int GraphStep::layers() const { return static_cast<int>(graph_.model_.layers.size()); }

Status GraphStep::Forward(int layer) {
  const LayerContext& context = graph_.context_;
  GraphPlan& plan = graph_.Current();
  if (layer == 0 && context.IsPadded(plan.images_shape())) {
    RETURN_IF_ERROR(
        graph_.ops_->ZeroPadding(stream(), plan.input_shape(), context.lengths, plan.images()));
  }
  return plan.Forward(layer);
}

Status GraphStep::LossWeight(const LabelBatch& labels, double* weight) {
  ASSIGN_OR_RETURN(LossCall call, graph_.LossOf(labels));
  RETURN_IF_ERROR(graph_.CompleteLoss(&call));
  return graph_.ops_->LossWeight(stream(), call, weight);
}

Status GraphStep::Loss(const LabelBatch& labels, const double* total_weight, double* loss_sum) {
  ASSIGN_OR_RETURN(LossCall call, graph_.LossOf(labels));
  RETURN_IF_ERROR(graph_.CompleteLoss(&call));
  return graph_.EnqueueLoss(call, total_weight, loss_sum);
}

Status GraphStep::Backward(int layer) { return graph_.Current().Backward(layer); }

std::vector<int> GraphStep::ParametersOf(int layer) const {
  const LayerParameters& all = graph_.model_.layers[layer].parameters;
  std::vector<int> parameters;
  for (const int parameter : {all.weight, all.bias, all.scale, all.shift, all.slope}) {
    if (parameter >= 0) parameters.push_back(parameter);
  }
  return parameters;
}

}  // namespace shardmill
