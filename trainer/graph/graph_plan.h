// A graph prepared for one input shape and one phase: its layers, and where each tensor lies in
// the arena.
//
// Time runs 0: images, 1 … L: forward of the layers, L + 1: loss, L + 2 … 2 L + 1: backward, last
// layer first. A tensor lives from the time that writes it to the last time that reads it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "reader/base/status.h"
#include "trainer/graph/arena_plan.h"
#include "trainer/graph/resolved_model.h"
#include "trainer/layers/layer.h"

namespace shardmill {

class GraphPlan {
 public:
  // `model` and `context` must outlive the plan.
  static Result<std::unique_ptr<GraphPlan>> Create(const ResolvedModel* model,
                                                   const LayerContext* context, const Shape& images,
                                                   Phase phase);

  int64_t arena_bytes() const { return arena_.total_bytes(); }
  // Turns the offsets into addresses. REQUIRED before anything below, and again when the arena
  // moved.
  void Bind(void* arena);

  const Shape& images_shape() const { return images_; }
  // Of images(): the same, or with channels behind that are 0, as the op table likes them.
  const Shape& input_shape() const { return shapes_.front(); }
  const Shape& logits_shape() const { return shapes_.back(); }
  Phase phase() const { return phase_; }
  // The most threads of the op table that it may run on; see OpTable::threads.
  int64_t threads() const { return threads_; }
  // Whether sequences of unequal length may go through the layers: each keeps the number of frames,
  // or takes the padding out. InvalidArgument names the first that does neither.
  const Status& takes_padding() const { return takes_padding_; }

  void* images() const { return values_.front(); }
  void* logits() const { return values_.back(); }
  void* logits_gradient() const { return gradients_.back(); }  // null in evaluation
  void* workspace() const { return workspace_; }

  Status Forward(int layer);
  // Does nothing for layers before the first that has parameters.
  Status Backward(int layer);

 private:
  Status CheckTakesPadding() const;
  // The part of a gradient that must be added to what other consumers wrote, when the layer
  // cannot add itself.
  struct Addition {
    int input = 0;
    int block = 0;
    void* memory = nullptr;
  };
  struct Run {
    std::unique_ptr<Layer> layer;
    int state_block = -1;
    std::vector<GradientMode> modes;
    std::vector<Addition> additions;
    std::vector<const void*> inputs;
    std::vector<void*> dinputs;
    void* state = nullptr;
    const void* pool_state = nullptr;
  };

  GraphPlan(const ResolvedModel* model, const LayerContext* context, Phase phase)
      : model_(model), context_(context), phase_(phase), threads_(context->ops->threads()) {}

  Status PrepareLayers(const Shape& images);
  Result<std::unique_ptr<Layer>> PrepareLayerOf(int layer) const;
  bool IsFoldedInVain(int layer) const;
  Shape PaddedInput(const Shape& images) const;
  void PlaceValues();
  void PlaceGradients();
  void PlaceGradientsOfInputs(int layer);
  void PlaceStates();
  void PlaceWorkspace();
  bool RunsInPlace(int layer) const;
  // Zeroes the padding of a value, or of its gradient, in padded batches.
  Status ZeroPadding(int value, void* tensor) const;
  int LastRead(int value) const;

  int Layers() const { return static_cast<int>(model_->layers.size()); }
  int ForwardTime(int layer) const { return layer + 1; }
  int LossTime() const { return Layers() + 1; }
  int BackwardTime(int layer) const { return 2 * Layers() + 1 - layer; }
  int EndTime() const { return phase_ == Phase::kTraining ? BackwardTime(0) : LossTime(); }
  int64_t ValueBytes(int value) const;
  LayerTensors TensorsOf(int layer) const;

  const ResolvedModel* model_;
  const LayerContext* context_;
  Phase phase_;
  int64_t threads_;
  Shape images_;
  ArenaPlan arena_;
  std::vector<LayerFusion> fusions_;
  std::vector<Run> runs_;
  Status takes_padding_;
  std::vector<Shape> shapes_;         // per value
  std::vector<int> value_blocks_;     // per value
  std::vector<int> gradient_blocks_;  // per value; -1: none
  int workspace_block_ = -1;
  std::vector<void*> values_;
  std::vector<void*> gradients_;
  void* workspace_ = nullptr;
};

}  // namespace shardmill
