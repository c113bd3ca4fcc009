// Which layers of a model run as one.
#pragma once

#include <vector>

#include "trainer/graph/phase.h"
#include "trainer/graph/resolved_model.h"

namespace shardmill {

// Per layer. A convolution does the ReLU behind it; in evaluation also the batch norm behind it,
// and the activation of that one or the ReLU behind both. What lies between must have no other
// reader. Training needs what the convolution alone makes for the statistics of the batch, so that
// its batch norms stay layers of their own, whose kernels do the activation.
std::vector<LayerFusion> FuseLayers(const ResolvedModel& model, Phase phase);

// The convolution, and what it did for others, are layers of their own again.
void Unfuse(int convolution, std::vector<LayerFusion>* fusions);

}  // namespace shardmill
