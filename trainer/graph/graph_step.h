// A training step of a Graph in pieces that only enqueue, for devices.
//
// Graph::Forward, Loss and Backward take memory of the host and wait for the device. These pieces
// take memory of the op table, leave their results there, and wait for nothing: so other streams
// can run beside them and a whole step can be captured as a graph of launches. A step is Begin,
// then the images written to input(), then Forward of all layers from the first on, LossWeight,
// Loss, and Backward of all layers from the last on. One thread at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/base/status.h"
#include "trainer/graph/device_norm_sums.h"
#include "trainer/graph/graph.h"

namespace shardmill {

class GraphStep {
 public:
  // `graph` must outlive the object.
  explicit GraphStep(Graph* graph) : graph_(*graph->implementation_) {}
  GraphStep(const GraphStep&) = delete;
  GraphStep& operator=(const GraphStep&) = delete;

  // Plans the memory for training on this shape. `images.data` is not read; `images.lengths` are
  // memory of the host.
  Status Begin(const ImageBatch& images);
  // Whether the rest of the step waits for nothing and enqueues the same for each batch of the
  // shape, given set_dropout_keys. If not, `why` says what is in the way; else it stays empty.
  bool CanBeCaptured(std::string* why) const;

  Stream& stream() const;
  void* input() const;  // for the normalised images
  // The shape of Begin, or with more channels, to be 0.
  const Shape& input_shape() const;
  const void* arena() const;  // moves when Begin plans for more than ever before
  int64_t arena_bytes() const;
  // Of the last Forward and Loss, also those of Graph: where they lie in memory of the op table.
  const void* logits() const;
  const Shape& logits_shape() const;
  const void* staged_labels() const;
  const float* image_mean() const;
  const float* inverse_deviation() const;

  // What dropout drops depends on the step by one key per dropout layer: these are they, and from
  // now on the device reads them at `keys` (null: they are passed with each launch).
  std::vector<uint64_t> DropoutKeys(uint64_t step) const;
  void set_dropout_keys(const uint64_t* keys);

  // What adds the sums of batch norm over the ranks on the device; null: nothing, or the host.
  void set_norm_sums(DeviceNormSums* sums);

  int layers() const;
  Status Forward(int layer);
  // *weight = what the labels weigh together.
  Status LossWeight(const LabelBatch& labels, double* weight);
  // *loss_sum, and the gradient of the logits of loss_sum / *total_weight.
  Status Loss(const LabelBatch& labels, const double* total_weight, double* loss_sum);
  Status Backward(int layer);
  // Whose gradients Backward of the layer leaves.
  std::vector<int> ParametersOf(int layer) const;

 private:
  Graph::Implementation& graph_;
};

}  // namespace shardmill
