// One part of a batch in several passes through a graph, with the gradients added up.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/base/status.h"
#include "trainer/data/batch_rows.h"
#include "trainer/graph/graph.h"

namespace shardmill {

class GradientPasses {
 public:
  // Pass `pass` of `passes` has rows [n pass / passes, n (pass + 1) / passes).
  explicit GradientPasses(int passes) : passes_(passes) {}

  int passes() const { return passes_; }
  // InvalidArgument when a global batch that is cut into `parts` leaves a part fewer images than
  // passes.
  Status Check(int64_t global_images, int parts) const;
  // Plans the memory for all passes over the images of one part.
  Status Prepare(Graph* graph, const Shape& images) const;

  // Leaves the gradient of the loss sum over all rows. `done` as in Graph::Backward: called once
  // per parameter, with its final gradient.
  Result<LossResult> Run(Graph* graph, const BatchRows& rows, const Graph::GradientDone& done);

 private:
  void Keep(int pass, const ParameterStore& store, const float* gradients);

  int passes_;
  std::vector<float> kept_;  // the gradients of the passes before the last
};

// gradients /= weight; zero where the weight is.
void DivideGradients(double weight, ParameterStore* store);

}  // namespace shardmill
