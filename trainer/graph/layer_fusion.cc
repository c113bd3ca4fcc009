#include "trainer/graph/layer_fusion.h"

#include <algorithm>

namespace shardmill {
namespace {

bool IsConvolution(const ResolvedLayer& layer) {
  return layer.spec.kind == LayerKind::kConvolution ||
         layer.spec.kind == LayerKind::kTransposedConvolution;
}

// The layer that alone reads what `layer` makes, where it is of this kind; else -1.
int OnlyReader(const ResolvedModel& model, int layer, LayerKind kind) {
  const int value = layer + 1;
  if (model.Consumers(value) != 1) return -1;
  const auto reads = [&](const ResolvedLayer& other) {
    return std::count(other.inputs.begin(), other.inputs.end(), value) > 0;
  };
  const auto reader = std::find_if(model.layers.begin(), model.layers.end(), reads);
  return reader->spec.kind == kind ? static_cast<int>(reader - model.layers.begin()) : -1;
}

}  // namespace

std::vector<LayerFusion> FuseLayers(const ResolvedModel& model, Phase phase) {
  std::vector<LayerFusion> fusions(model.layers.size());
  for (int i = 0; i < static_cast<int>(model.layers.size()); ++i) {
    if (!IsConvolution(model.layers[i])) continue;
    LayerFusion& fusion = fusions[i];
    int end = i;
    if (phase == Phase::kEvaluation) fusion.norm = OnlyReader(model, i, LayerKind::kBatchNorm);
    if (fusion.norm >= 0) {
      end = fusion.norm;
      fusion.activation = model.layers[end].spec.activation;
      fusions[end].absorbed_by = i;
    }
    if (fusion.activation != Activation::kNone) continue;
    const int relu = OnlyReader(model, end, LayerKind::kRelu);
    if (relu < 0) continue;
    fusion.activation = ReluOf(model.layers[relu].spec);
    fusions[relu].absorbed_by = i;
  }
  return fusions;
}

void Unfuse(int convolution, std::vector<LayerFusion>* fusions) {
  (*fusions)[convolution] = LayerFusion();
  for (LayerFusion& fusion : *fusions) {
    if (fusion.absorbed_by == convolution) fusion = LayerFusion();
  }
}

}  // namespace shardmill
