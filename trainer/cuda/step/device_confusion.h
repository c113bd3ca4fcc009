// The confusion matrix of scored rows, counted where labels and logits lie: on the device.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/base/status.h"
#include "trainer/cuda/ops/device_op_table.h"
#include "trainer/evaluation/metrics.h"
#include "trainer/graph/graph.h"

namespace shardmill {

class DeviceConfusion {
 public:
  // `ops` must outlive the object.
  explicit DeviceConfusion(DeviceOpTable* ops) : ops_(*ops) {}

  // Adds the labels of the last Graph::Loss, class ids, and the predictions of its Forward; as
  // ConfusionMatrix::Add, but a matrix that is not OK holds nothing of them. Copies back one number
  // per pair of classes.
  Status Count(Graph* graph, const LabelBatch& labels, ConfusionMatrix* matrix);

 private:
  Status Grow(int64_t pixels, int64_t classes);
  Status AddTo(const LabelBatch& labels, ConfusionMatrix* matrix) const;

  DeviceOpTable& ops_;
  DeviceBuffer predicted_, counts_;
  std::vector<uint64_t> host_counts_;
};

}  // namespace shardmill
