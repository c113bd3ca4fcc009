// Scores rows of a batch on one graph: loss, predictions, confusion matrix.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reader/base/status.h"
#include "trainer/cuda/step/device_confusion.h"
#include "trainer/data/batch_rows.h"
#include "trainer/evaluation/metrics.h"
#include "trainer/graph/graph.h"

namespace shardmill {

class RowScorer {
 public:
  // `device`: the op table of the graph where that is a device, which then counts; else null.
  explicit RowScorer(DeviceOpTable* device = nullptr) {
    if (device != nullptr) confusion_.emplace(device);
  }

  // Loss of these rows alone; nothing to do, and 0, for none. Images of several sizes are scored
  // one by one, each as it is.
  Result<LossResult> Score(Graph* graph, const BatchRows& rows, ConfusionMatrix* matrix);

 private:
  Result<LossResult> ScoreTogether(Graph* graph, const BatchRows& rows, ConfusionMatrix* matrix);
  Status Count(Graph* graph, const LabelBatch& labels, ConfusionMatrix* matrix);

  std::optional<DeviceConfusion> confusion_;
  std::vector<uint16_t> predicted_;  // kept between batches
  std::vector<float> logits_;
};

}  // namespace shardmill
