// A layer of a graph, prepared for one input shape.
//
// The graph owns all memory: it asks a layer what it needs, places it, and passes addresses in.
// A layer keeps no tensor of its own, so that one layer object serves every step.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/base/status.h"
#include "trainer/graph/device_norm_sums.h"
#include "trainer/graph/model_spec.h"
#include "trainer/graph/parameters.h"
#include "trainer/graph/phase.h"
#include "trainer/graph/shared_sums.h"
#include "trainer/ops/op_table.h"

namespace shardmill {

// Entries of the parameter store that belong to one layer; -1: the layer has none.
struct LayerParameters {
  int weight = -1;
  int bias = -1;
  int scale = -1;
  int shift = -1;
  int slope = -1;
  int running_mean = -1;
  int running_variance = -1;
  int dropout = -1;  // number among the dropout layers of the model
};

// What holds for a whole graph.
struct LayerContext {
  OpTable* ops = nullptr;
  Stream* stream = nullptr;
  ParameterStore* parameters = nullptr;
  double batch_norm_momentum = 0.1;
  double batch_norm_epsilon = 1e-5;
  bool fuses = true;  // see FuseLayers
  // When this graph sees only a part of each batch: what adds the parts. Else null.
  SharedSums* shared_sums = nullptr;
  // What adds batch norm's sums on the device instead; else null.
  DeviceNormSums* norm_sums = nullptr;
  uint64_t seed = 0;  // of dropout
  // Of the batch of the last forward; see ImageBatch. `lengths` is where the op table can read it.
  const int32_t* lengths = nullptr;
  int64_t frames = 0;        // width of the input
  int64_t valid_frames = 0;  // sum of the lengths
  uint64_t step = 0;
  int64_t first_row = 0;
  // Where the device reads the key of each dropout layer in this step; null: layers pass theirs.
  const uint64_t* dropout_keys = nullptr;

  // Whether values of this shape are held at zero behind the lengths.
  bool IsPadded(const Shape& shape) const {
    return lengths != nullptr && shape.h == 1 && shape.w == frames;
  }
};

// What the forward pass of a layer does for the layers behind it, or leaves to one before it.
struct LayerFusion {
  // Of a convolution.
  Activation activation = Activation::kNone;  // that it applies
  int norm = -1;  // layer whose batch norm it does, by running statistics
  // The layer whose forward pass does that of this one; -1: it does its own.
  int absorbed_by = -1;
};

// Addresses of one layer's tensors; inputs in the order of the LayerSpec.
struct LayerTensors {
  const void* const* inputs = nullptr;
  void* output = nullptr;
  void* state = nullptr;             // kept from forward to backward
  void* workspace = nullptr;         // scratch
  const void* pool_state = nullptr;  // of the layer that LayerSpec::indices_of names
};

// Addresses of the gradients in backward. dinputs[i] is null where nobody needs the gradient.
struct LayerGradients {
  const void* doutput = nullptr;
  void* const* dinputs = nullptr;
  const GradientMode* modes = nullptr;  // per input
};

class Layer {
 public:
  virtual ~Layer() = default;

  virtual Shape OutputShape() const = 0;
  virtual int64_t WorkspaceBytes() const { return 0; }
  virtual int64_t StateBytes() const { return 0; }
  // What backward reads beside doutput and the state.
  virtual bool BackwardReadsInputs() const { return false; }
  virtual bool BackwardReadsOutput() const { return false; }
  // Whether the first input and the output (or their gradients) may be the same memory.
  virtual bool ForwardInPlace() const { return false; }
  virtual bool BackwardInPlace() const { return false; }
  // Whether backward understands GradientMode::kAdd; else the graph adds.
  virtual bool AddsGradients() const { return false; }

  virtual Status Forward(Phase phase, const LayerTensors& tensors) = 0;
  virtual Status Backward(const LayerTensors& tensors, const LayerGradients& gradients) = 0;
};

}  // namespace shardmill
