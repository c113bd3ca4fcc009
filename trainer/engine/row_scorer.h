// Scores rows of a batch on one graph: loss, predictions, confusion matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/base/status.h"
#include "trainer/batch_rows.h"
#include "trainer/graph.h"
#include "trainer/metrics.h"

namespace shardmill {

class RowScorer {
 public:
  // Loss of these rows alone; nothing to do, and 0, for none. The graph computes in f32.
  Result<LossResult> Score(Graph* graph, const BatchRows& rows, ConfusionMatrix* matrix);

 private:
  std::vector<uint16_t> predicted_;  // kept between batches
  std::vector<float> logits_;
};

}  // namespace shardmill
