#include "trainer/graph/graph_plan.h"

#include <algorithm>
#include <utility>

#include "trainer/graph/layer_fusion.h"
#include "trainer/layers/layer_factory.h"

namespace shardmill {

Result<std::unique_ptr<GraphPlan>> GraphPlan::Create(const ResolvedModel* model,
                                                     const LayerContext* context,
                                                     const Shape& images, Phase phase) {
  std::unique_ptr<GraphPlan> plan(new GraphPlan(model, context, phase));
  RETURN_IF_ERROR(plan->PrepareLayers(images));
  plan->PlaceValues();
  plan->PlaceGradients();
  plan->PlaceStates();
  plan->PlaceWorkspace();
  plan->arena_.Place();
  return plan;
}

// Padded where nothing but convolutions reads the images: what else would see channels that are
// none.
Shape GraphPlan::PaddedInput(const Shape& images) const {
  for (const ResolvedLayer& layer : model_->layers) {
    const std::vector<int>& inputs = layer.inputs;
    if (std::find(inputs.begin(), inputs.end(), 0) == inputs.end()) continue;
    if (layer.spec.kind != LayerKind::kConvolution || layer.spec.groups > 1) return images;
  }
  const int64_t multiple = context_->ops->image_channel_multiple();
  Shape padded = images;
  padded.c = (images.c + multiple - 1) / multiple * multiple;
  return padded;
}

Status GraphPlan::PrepareLayers(const Shape& images) {
  images_ = images;
  shapes_ = {PaddedInput(images)};
  fusions_ = context_->fuses ? FuseLayers(*model_, phase_) : std::vector<LayerFusion>(Layers());
  for (int i = 0; i < Layers(); ++i) {
    if (IsFoldedInVain(i)) Unfuse(i, &fusions_);
    Run run;
    ASSIGN_OR_RETURN(run.layer, PrepareLayerOf(i));
    shapes_.push_back(run.layer->OutputShape());
    runs_.push_back(std::move(run));
  }
  takes_padding_ = CheckTakesPadding();
  return OkStatus();
}

bool GraphPlan::IsFoldedInVain(int number) const {
  const ResolvedLayer& layer = model_->layers[number];
  const int input = layer.inputs.front();
  return fusions_[number].norm >= 0 &&
         !FoldingPays(layer.spec, input == 0 ? images_ : shapes_[input]);
}

Result<std::unique_ptr<Layer>> GraphPlan::PrepareLayerOf(int number) const {
  const ResolvedLayer& layer = model_->layers[number];
  LayerPlace place;
  place.phase = phase_;
  place.fusion = fusions_[number];
  if (place.fusion.norm >= 0) place.norm = &model_->layers[place.fusion.norm].parameters;
  for (const int value : layer.inputs) place.inputs.push_back(shapes_[value]);
  if (layer.pool_layer >= 0) {
    place.inputs.push_back(shapes_[model_->layers[layer.pool_layer].inputs.front()]);
  }
  if (layer.spec.kind == LayerKind::kCropToImages) place.inputs.push_back(images_);
  return PrepareLayer(layer.spec, layer.parameters, place, context_);
}

Status GraphPlan::CheckTakesPadding() const {
  std::vector<bool> is_padded = {true};  // per value
  for (int i = 0; i < Layers(); ++i) {
    const ResolvedLayer& layer = model_->layers[i];
    const bool gets_padding = std::any_of(layer.inputs.begin(), layer.inputs.end(),
                                          [&](int value) { return is_padded[value]; });
    const LayerKind kind = layer.spec.kind;
    const Shape& output = shapes_[i + 1];
    const bool keeps_frames = output.h == 1 && output.w == shapes_[0].w;
    is_padded.push_back(gets_padding && kind != LayerKind::kStatisticsPool);
    if (!is_padded.back() || (keeps_frames && kind != LayerKind::kGlobalAveragePool)) continue;
    return InvalidArgumentError(
        "layer \"" + layer.spec.name +
        "\" mixes the frames of padded sequences with their padding; of sequences of unequal "
        "length, layers must keep the number of frames, and statistics_pool ends it");
  }
  return OkStatus();
}

int64_t GraphPlan::ValueBytes(int value) const {
  return shapes_[value].Elements() * ElementBytes(context_->ops->element_type());
}

// The last time at which somebody needs the value itself (not its gradient).
int GraphPlan::LastRead(int value) const {
  if (value + 1 == model_->values()) return EndTime();
  int last = 0;
  const bool training = phase_ == Phase::kTraining;
  for (int i = 0; i < Layers(); ++i) {
    const std::vector<int>& inputs = model_->layers[i].inputs;
    if (std::find(inputs.begin(), inputs.end(), value) == inputs.end()) continue;
    const bool later = training && runs_[i].layer->BackwardReadsInputs();
    last = std::max(last, later ? BackwardTime(i) : ForwardTime(i));
  }
  if (value > 0 && training && runs_[value - 1].layer->BackwardReadsOutput()) {
    last = std::max(last, BackwardTime(value - 1));
  }
  return last;
}

// Whether the layer may write its output over its only input: nobody reads that afterwards.
bool GraphPlan::RunsInPlace(int layer) const {
  const int input = model_->layers[layer].inputs.front();
  return runs_[layer].layer->ForwardInPlace() && model_->Consumers(input) == 1 &&
         LastRead(input) == ForwardTime(layer);
}

void GraphPlan::PlaceValues() {
  value_blocks_.push_back(arena_.Add(ValueBytes(0), 0, std::max(LastRead(0), 0)));
  for (int i = 0; i < Layers(); ++i) {
    const int first = ForwardTime(i);
    const int last = std::max(first, LastRead(i + 1));
    SHARDMILL_CHECK(fusions_[i].absorbed_by < 0 || RunsInPlace(i));
    if (RunsInPlace(i)) {
      value_blocks_.push_back(value_blocks_[model_->layers[i].inputs.front()]);
      arena_.Extend(value_blocks_.back(), first, last);
    } else {
      value_blocks_.push_back(arena_.Add(ValueBytes(i + 1), first, last));
    }
  }
}

void GraphPlan::PlaceGradients() {
  gradient_blocks_.assign(model_->values(), -1);
  for (int i = 0; i < Layers(); ++i) {
    runs_[i].modes.assign(model_->layers[i].inputs.size(), GradientMode::kOverwrite);
  }
  if (phase_ == Phase::kEvaluation) return;
  const int logits = model_->values() - 1;
  gradient_blocks_[logits] = arena_.Add(ValueBytes(logits), LossTime(), BackwardTime(Layers() - 1));
  for (int i = Layers() - 1; i >= 0; --i) {
    if (model_->layers[i].needs_gradient) PlaceGradientsOfInputs(i);
  }
}

void GraphPlan::PlaceGradientsOfInputs(int layer) {
  Run& run = runs_[layer];
  const std::vector<int>& inputs = model_->layers[layer].inputs;
  const int now = BackwardTime(layer);
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    const int value = inputs[i];
    if (!model_->ValueNeedsGradient(value)) continue;
    const int last = BackwardTime(value - 1);
    if (gradient_blocks_[value] >= 0) {
      run.modes[i] = run.layer->AddsGradients() ? GradientMode::kAdd : GradientMode::kOverwrite;
      if (!run.layer->AddsGradients()) {
        run.additions.push_back({i, arena_.Add(ValueBytes(value), now, now), nullptr});
      }
    } else if (i == 0 && run.layer->BackwardInPlace()) {
      gradient_blocks_[value] = gradient_blocks_[layer + 1];
      arena_.Extend(gradient_blocks_[value], now, last);
    } else {
      gradient_blocks_[value] = arena_.Add(ValueBytes(value), now, last);
    }
  }
}

void GraphPlan::PlaceStates() {
  for (int i = 0; i < Layers(); ++i) {
    const int last = phase_ == Phase::kTraining ? BackwardTime(i) : ForwardTime(i);
    runs_[i].state_block = arena_.Add(runs_[i].layer->StateBytes(), ForwardTime(i), last);
    const int pool = model_->layers[i].pool_layer;  // an earlier layer
    if (pool >= 0) arena_.Extend(runs_[pool].state_block, ForwardTime(i), ForwardTime(i));
  }
}

void GraphPlan::PlaceWorkspace() {
  LossShape loss;
  loss.logits = logits_shape();
  int64_t bytes = context_->ops->LossWorkspaceBytes(loss);
  for (const Run& run : runs_) bytes = std::max(bytes, run.layer->WorkspaceBytes());
  workspace_block_ = arena_.Add(bytes, 0, EndTime());
}

void GraphPlan::Bind(void* arena) {
  const auto address = [&](int block) -> void* {
    return block < 0 ? nullptr : static_cast<char*>(arena) + arena_.offset(block);
  };
  values_.clear();
  gradients_.clear();
  for (const int block : value_blocks_) values_.push_back(address(block));
  for (const int block : gradient_blocks_) gradients_.push_back(address(block));
  workspace_ = address(workspace_block_);
  for (int i = 0; i < Layers(); ++i) {
    Run& run = runs_[i];
    run.state = address(run.state_block);
    const int pool = model_->layers[i].pool_layer;
    run.pool_state = pool < 0 ? nullptr : runs_[pool].state;
    run.inputs.clear();
    run.dinputs.clear();
    for (const int value : model_->layers[i].inputs) {
      run.inputs.push_back(values_[value]);
      run.dinputs.push_back(gradients_[value]);
    }
    for (Addition& addition : run.additions) {
      addition.memory = address(addition.block);
      run.dinputs[addition.input] = addition.memory;
    }
  }
}

LayerTensors GraphPlan::TensorsOf(int layer) const {
  const Run& run = runs_[layer];
  return {run.inputs.data(), values_[layer + 1], run.state, workspace_, run.pool_state};
}

Status GraphPlan::Forward(int layer) {
  if (Status status = runs_[layer].layer->Forward(phase_, TensorsOf(layer)); !status.ok()) {
    return status.WithContext("layer \"" + model_->layers[layer].spec.name + "\"");
  }
  if (fusions_[layer].absorbed_by >= 0) return OkStatus();
  return ZeroPadding(layer + 1, values_[layer + 1]);
}

Status GraphPlan::ZeroPadding(int value, void* tensor) const {
  if (!context_->IsPadded(shapes_[value])) return OkStatus();
  return context_->ops->ZeroPadding(*context_->stream, shapes_[value], context_->lengths, tensor);
}

Status GraphPlan::Backward(int layer) {
  if (!model_->layers[layer].needs_gradient) return OkStatus();
  const Run& run = runs_[layer];
  RETURN_IF_ERROR(ZeroPadding(layer + 1, gradients_[layer + 1]));
  const LayerGradients gradients = {gradients_[layer + 1], run.dinputs.data(), run.modes.data()};
  RETURN_IF_ERROR(run.layer->Backward(TensorsOf(layer), gradients));
  for (const Addition& addition : run.additions) {
    const int value = model_->layers[layer].inputs[addition.input];
    RETURN_IF_ERROR(context_->ops->Add(*context_->stream, shapes_[value].Elements(),
                                       addition.memory, gradients_[value]));
  }
  return OkStatus();
}

}  // namespace shardmill
