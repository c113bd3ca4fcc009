#include "trainer/graph/graph.h"

#include <utility>

#include "trainer/graph/graph_implementation.h"

namespace shardmill {

Graph::Graph(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
Graph::~Graph() = default;

Result<std::unique_ptr<Graph>> Graph::Create(const ModelSpec& model, OpTable* ops,
                                             const GraphOptions& options) {
  auto implementation = std::make_unique<Implementation>(ops);
  RETURN_IF_ERROR(implementation->Initialize(model, options));
  return std::unique_ptr<Graph>(new Graph(std::move(implementation)));
}

Status Graph::Prepare(const Shape& images, Phase phase) {
  return implementation_->PlanFor(images, phase).status();
}

Result<int64_t> Graph::ArenaBytesFor(const Shape& images, Phase phase) {
  ASSIGN_OR_RETURN(const std::unique_ptr<GraphPlan> plan, implementation_->MakePlan(images, phase));
  return plan->arena_bytes();
}

Status Graph::SetLoss(const LossOptions& options) { return implementation_->SetLoss(options); }

Status Graph::Forward(const ImageBatch& images, Phase phase) {
  return implementation_->Forward(images, phase);
}

double Graph::copied_seconds() const { return implementation_->copied_seconds(); }

Result<LossResult> Graph::Loss(const LabelBatch& labels) {
  return implementation_->Loss(labels, std::nullopt);
}

Result<LossResult> Graph::Loss(const LabelBatch& labels, double total_weight) {
  return implementation_->Loss(labels, total_weight);
}

Result<double> Graph::LabelWeight(const LabelBatch& labels) {
  ASSIGN_OR_RETURN(const LossCall call, implementation_->StageLoss(labels));
  return implementation_->LabelWeight(call);
}

Status Graph::Backward(const GradientDone& done) { return implementation_->Backward(done); }

Status Graph::ShareBatches(SharedSums* sums) { return implementation_->ShareBatches(sums); }

Status Graph::Predict(LabelType type, void* classes) {
  return implementation_->Predict(type, classes);
}

Status Graph::ReadLogits(void* logits) { return implementation_->ReadLogits(logits); }

const Shape& Graph::logits_shape() const { return implementation_->Current().logits_shape(); }
const ModelSpec& Graph::spec() const { return implementation_->spec(); }
int64_t Graph::classes() const { return implementation_->model().layers.back().channels; }
int64_t Graph::input_channels() const { return implementation_->model().input_channels; }
ParameterStore& Graph::parameters() { return implementation_->parameters(); }
const ParameterStore& Graph::parameters() const { return implementation_->parameters(); }
int64_t Graph::arena_bytes() const { return implementation_->arena_bytes(); }
void Graph::set_profiling(bool enabled) { implementation_->SetProfiling(enabled); }
std::vector<LayerTime> Graph::layer_times() const { return implementation_->Times(); }

}  // namespace shardmill
