// A model that can be trained: forward, loss, hand-written backward, predictions.
//
// A step is Forward(kTraining), Loss, Backward; then the caller changes parameters().values()
// from parameters().gradients(). An evaluation is Forward(kEvaluation), then Loss or Predict.
// All activations lie in one arena, planned at the first use of an input shape and phase (or by
// Prepare) from the lifetimes of the values; after that a step allocates nothing. A graph is
// immovable and for one thread at a time; the backend threads inside. Each number of threads that
// it may use then (OpTable::threads) has plans of its own; from Forward to Backward it stays.
//
// The same inputs, parameters and number of threads give the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/graph/model_spec.h"
#include "trainer/graph/parameters.h"
#include "trainer/graph/phase.h"
#include "trainer/graph/shared_sums.h"
#include "trainer/graph/tensor.h"
#include "trainer/ops/op_table.h"

namespace shardmill {

struct GraphOptions {
  uint64_t seed = 0;  // of the initial weights
  // Per channel, in stored units (0…255 for u8): the network sees (x - mean) / deviation.
  // Empty: 0 and 1. A deviation must be positive.
  std::vector<float> image_mean;
  std::vector<float> image_deviation;
  double batch_norm_momentum = 0.1;  // share of the newest batch in the running statistics
  double batch_norm_epsilon = 1e-5;
  bool fuse = true;  // run layers as one where that is possible: the same but for rounding
};

struct LossOptions {
  std::vector<float> class_weights;  // one per class, or empty: all 1
  int64_t ignore = -1;               // label that does not count; -1: none

  // The rest is for training; evaluation always takes the plain (weighted) cross-entropy. See
  // LossCall (trainer/ops/op_table.h) for the first three.
  double cross_entropy = 1;
  double dice = 0;
  double label_smoothing = 0;  // in [0, 1)
  // Above 0: online hard example mining. Only pixels whose class has a lower probability than this
  // count, and at least `hard_share` of the labelled pixels of the whole (shared) batch, the
  // hardest ones, to 1/1024 in their probability.
  double hard_probability = 0;  // in [0, 1]
  double hard_share = 0.0625;   // in [0, 1]
};

// Ranks and micro-batches add both sums and divide once.
struct LossResult {
  double loss_sum = 0;
  double weight_sum = 0;
  double Mean() const { return weight_sum > 0 ? loss_sum / weight_sum : 0; }
};

// Time spent in one layer, in one direction, since set_profiling(true).
struct LayerTime {
  std::string layer;
  std::string direction;  // "forward", "backward"
  int64_t calls = 0;
  int64_t nanoseconds = 0;          // of all calls
  int64_t fastest_nanoseconds = 0;  // of one call
};

class Graph {
 public:
  // Checks the model and initialises the parameters. `ops` must outlive the graph.
  static Result<std::unique_ptr<Graph>> Create(const ModelSpec& model, OpTable* ops,
                                               const GraphOptions& options);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // The bytes of arena that a shape needs, without keeping anything: what Prepare would allocate.
  Result<int64_t> ArenaBytesFor(const Shape& images, Phase phase);

  // Plans memory and prepares the operations for a shape ahead of its first use. InvalidArgument
  // when the images are too small for the model.
  Status Prepare(const Shape& images, Phase phase);

  Status SetLoss(const LossOptions& options);

  // Computes the logits; in kTraining also updates the running statistics of batch norm.
  Status Forward(const ImageBatch& images, Phase phase);

  // Of the last Forward. In kTraining also makes the gradient of the logits: of the mean over
  // this batch or, given the weight of a larger batch (all ranks), of loss_sum / total_weight.
  // A batch without any weight has loss 0 and gradient 0.
  Result<LossResult> Loss(const LabelBatch& labels);
  Result<LossResult> Loss(const LabelBatch& labels, double total_weight);
  // The weight_sum that Loss would return: what ranks add before Loss(labels, total_weight). With
  // hard example mining the first of these calls behind a Forward talks to the other parts of a
  // shared batch.
  Result<double> LabelWeight(const LabelBatch& labels);

  // Overwrites parameters().gradients(). REQUIRES: Forward(kTraining) and Loss before.
  // `done`, where given, is told the number of each parameter as soon as its gradient is final:
  // the last layer's first. An error of it ends backward.
  using GradientDone = std::function<Status(int parameter)>;
  Status Backward(const GradientDone& done = nullptr);

  // From now on every batch is a part of a larger one: batch norm takes its statistics over all
  // parts by `sums` (null: alone again), which must outlive the graph or the next call of this.
  // Loss still needs the total weight.
  Status ShareBatches(SharedSums* sums);

  // The most likely class per pixel of the last Forward, [n, h, w] of u8 or u16 host memory.
  Status Predict(LabelType type, void* classes);

  // The logits of the last Forward, [n, h, w, classes] of host memory: f32, or f64 of such ops.
  Status ReadLogits(void* logits);
  const Shape& logits_shape() const;  // of the last Forward

  const ModelSpec& spec() const;  // as it was given
  int64_t classes() const;
  int64_t input_channels() const;
  ParameterStore& parameters();
  const ParameterStore& parameters() const;
  int64_t arena_bytes() const;

  // Time that Forward has spent so far, of the host, to bring images to the input.
  double copied_seconds() const;

  void set_profiling(bool enabled);  // resets the times
  std::vector<LayerTime> layer_times() const;

 private:
  friend class GraphStep;
  class Implementation;
  explicit Graph(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace shardmill
