#include "trainer/engine/gradient_passes.h"

#include <algorithm>
#include <string>

namespace shardmill {

Status GradientPasses::Check(int64_t global_images, int parts) const {
  if (passes_ == 1 || global_images / parts >= passes_) return OkStatus();
  return InvalidArgumentError("a batch of " + std::to_string(global_images) + " in " +
                              std::to_string(parts) + (parts == 1 ? " part" : " parts") +
                              " is too small for --accumulate " + std::to_string(passes_) +
                              "; use a larger --batch");
}

Status GradientPasses::Prepare(Graph* graph, const Shape& images) const {
  for (int64_t pass = 0; pass < passes_; ++pass) {
    Shape own = images;
    own.n = images.n * (pass + 1) / passes_ - images.n * pass / passes_;
    RETURN_IF_ERROR(graph->Prepare(own, Phase::kTraining));
  }
  return OkStatus();
}

void GradientPasses::Keep(int pass, const ParameterStore& store, const float* gradients) {
  kept_.resize(store.parameter_elements());
  if (pass == 0) {
    std::copy_n(gradients, kept_.size(), kept_.begin());
    return;
  }
  for (size_t i = 0; i < kept_.size(); ++i) kept_[i] += gradients[i];
}

Result<LossResult> GradientPasses::Run(Graph* graph, const BatchRows& rows,
                                       const Graph::GradientDone& done) {
  ParameterStore& store = graph->parameters();
  const int64_t all = rows.images.shape.n;
  LossResult sum;
  for (int pass = 0; pass < passes_; ++pass) {
    const BatchRows part = SelectRows(rows, all * pass / passes_, all * (pass + 1) / passes_);
    RETURN_IF_ERROR(graph->Forward(part.images, Phase::kTraining));
    ASSIGN_OR_RETURN(const LossResult loss, graph->Loss(part.labels, 1.0));
    sum.loss_sum += loss.loss_sum;
    sum.weight_sum += loss.weight_sum;
    if (pass + 1 < passes_) {
      RETURN_IF_ERROR(graph->Backward());
      Keep(pass, store, store.gradients());
    }
  }
  RETURN_IF_ERROR(graph->Backward([&](int parameter) {
    const ParameterInfo& info = store.parameters()[parameter];
    float* gradients = store.gradients();
    for (int64_t i = info.offset; i < info.offset + info.elements; ++i) gradients[i] += kept_[i];
    return done ? done(parameter) : OkStatus();
  }));
  return sum;
}

void DivideGradients(double weight, ParameterStore* store) {
  const float factor = weight > 0 ? static_cast<float>(1 / weight) : 0.0f;
  float* gradients = store->gradients();
  for (int64_t i = 0; i < store->parameter_elements(); ++i) gradients[i] *= factor;
}

}  // namespace shardmill
