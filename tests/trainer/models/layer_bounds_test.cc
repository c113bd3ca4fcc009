// Layers write into the memory that they ask for and not behind it, in every model of the program.
//
// A graph has one workspace for all layers, as large as the largest of them asks for: a layer that
// asks for too little would be found there only in models where no other asks for more.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/trainer/random_tensor.h"
#include "trainer/cuda/ops/host_kernels.h"
#include "trainer/graph/layer_fusion.h"
#include "trainer/graph/resolved_model.h"
#include "trainer/layers/layer_factory.h"
#include "trainer/models/model_catalog.h"
#include "trainer/ops/onednn/onednn_backend.h"

namespace shardmill {
namespace {

// Aligned as the arena is, with random numbers in it and a pattern behind it.
class GuardedMemory {
 public:
  GuardedMemory(OpTable* ops, int64_t bytes) : bytes_(bytes) {
    auto memory = DeviceBuffer::Create(ops, bytes + kGuardBytes);
    SHARDMILL_CHECK(memory.ok());
    memory_ = std::move(memory).value();
    const std::vector<float> numbers = RandomTensor<float>(bytes / 4, 1, "numbers");
    if (bytes >= 4) std::memcpy(data(), numbers.data(), static_cast<size_t>(bytes / 4 * 4));
    std::memset(Guard(), kPattern, kGuardBytes);
  }

  void* data() const { return memory_.data(); }
  bool IsWhole() const {
    for (int64_t i = 0; i < kGuardBytes; ++i) {
      if (Guard()[i] != kPattern) return false;
    }
    return true;
  }

 private:
  static constexpr int64_t kGuardBytes = 16 << 10;
  static constexpr uint8_t kPattern = 0xA5;

  uint8_t* Guard() const { return static_cast<uint8_t*>(memory_.data()) + bytes_; }

  int64_t bytes_;
  DeviceBuffer memory_;
};

struct Case {
  const char* model;
  ModelSize size;
  Shape images;
};

// Few channels and many classes: a head needs more than all else.
const Case kCases[] = {
    {"unet", {3, 130, 2, 2}, {3, 20, 28, 3}},
    {"encoder_decoder", {3, 130, 2, 0}, {2, 33, 32, 3}},
    {"enet", {3, 130, 8, 0}, {1, 32, 40, 3}},
    {"fc_densenet56", {3, 130, 8, 0}, {1, 32, 64, 3}},
    {"classifier", {3, 130, 2, 2}, {5, 12, 12, 3}},
    {"resnet18", {3, 130, 2, 0}, {3, 33, 32, 3}},
    {"tdnn", {7, 130, 8, 0}, {5, 1, 20, 7}},
    {"unet", {3, 2, 8, 1}, {1, 16, 12, 3}},
};

class EachLayer {
 public:
  EachLayer(OpTable* ops, const Case& one, Phase phase)
      : ops_(ops), images_(one.images), phase_(phase) {
    auto spec = BuildModel(*FindModel(one.model), one.size);
    auto stream = ops->CreateStream();
    SHARDMILL_CHECK(spec.ok() && stream.ok());
    stream_ = std::move(stream).value();
    auto model = ResolveModel(*spec, &parameters_);
    SHARDMILL_CHECK(model.ok() && parameters_.Allocate(ops, 1).ok());
    model_ = std::move(model).value();
    fusions_ = FuseLayers(model_, phase);
    context_ = {ops, stream_.get(), &parameters_};
    context_.frames = images_.w;
    shapes_.push_back(images_);
    values_.push_back(std::make_shared<GuardedMemory>(ops, BytesOf(images_)));
  }

  void RunAll() {
    for (size_t i = 0; i < model_.layers.size(); ++i) {
      SCOPED_TRACE(model_.layers[i].spec.name);
      ASSERT_NO_FATAL_FAILURE(Run(i));
    }
  }

 private:
  int64_t BytesOf(const Shape& shape) const {
    return shape.Elements() * ElementBytes(ops_->element_type());
  }

  LayerPlace PlaceOf(size_t number) const {
    const ResolvedLayer& layer = model_.layers[number];
    LayerPlace place;
    place.phase = phase_;
    place.fusion = fusions_[number];
    if (place.fusion.norm >= 0) place.norm = &model_.layers[place.fusion.norm].parameters;
    for (const int value : layer.inputs) place.inputs.push_back(shapes_[value]);
    if (layer.pool_layer >= 0) {
      place.inputs.push_back(shapes_[model_.layers[layer.pool_layer].inputs.front()]);
    }
    if (layer.spec.kind == LayerKind::kCropToImages) place.inputs.push_back(images_);
    return place;
  }

  void Run(size_t number) {
    const ResolvedLayer& layer = model_.layers[number];
    auto prepared = PrepareLayer(layer.spec, layer.parameters, PlaceOf(number), &context_);
    ASSERT_TRUE(prepared.ok()) << prepared.status().ToString();
    Layer& one = **prepared;
    const Shape output = one.OutputShape();
    const bool is_absorbed = fusions_[number].absorbed_by >= 0;
    values_.push_back(is_absorbed ? values_[layer.inputs.front()]
                                  : std::make_shared<GuardedMemory>(ops_, BytesOf(output)));
    states_.emplace_back(ops_, one.StateBytes());
    const GuardedMemory workspace(ops_, one.WorkspaceBytes()), doutput(ops_, BytesOf(output));
    std::vector<GuardedMemory> gradients;
    std::vector<const void*> inputs;
    std::vector<void*> dinputs;
    for (const int value : layer.inputs) {
      inputs.push_back(values_[value]->data());
      gradients.emplace_back(ops_, BytesOf(shapes_[value]));
      dinputs.push_back(gradients.back().data());
    }
    shapes_.push_back(output);
    const std::vector<GradientMode> modes(inputs.size(), GradientMode::kOverwrite);
    LayerTensors tensors = {inputs.data(), values_.back()->data(), states_.back().data(),
                            workspace.data(), nullptr};
    if (layer.pool_layer >= 0) tensors.pool_state = states_[layer.pool_layer].data();
    ASSERT_TRUE(one.Forward(phase_, tensors).ok());
    EXPECT_TRUE(workspace.IsWhole()) << "forward, workspace";
    EXPECT_TRUE(values_.back()->IsWhole()) << "output";
    EXPECT_TRUE(states_.back().IsWhole()) << "state";
    if (phase_ == Phase::kEvaluation) return;
    ASSERT_TRUE(one.Backward(tensors, {doutput.data(), dinputs.data(), modes.data()}).ok());
    EXPECT_TRUE(workspace.IsWhole()) << "backward, workspace";
    EXPECT_TRUE(states_.back().IsWhole()) << "state";
    for (const GuardedMemory& gradient : gradients) EXPECT_TRUE(gradient.IsWhole()) << "gradient";
  }

  OpTable* ops_;
  Shape images_;
  Phase phase_;
  std::unique_ptr<Stream> stream_;
  ParameterStore parameters_;
  ResolvedModel model_;
  std::vector<LayerFusion> fusions_;
  LayerContext context_;
  std::vector<Shape> shapes_;                           // per value
  std::vector<std::shared_ptr<GuardedMemory>> values_;  // likewise
  std::vector<GuardedMemory> states_;                   // per layer
};

void ExpectBounds(OpTable* ops) {
  for (const Case& one : kCases) {
    for (const Phase phase : {Phase::kTraining, Phase::kEvaluation}) {
      SCOPED_TRACE(std::string(one.model) + (phase == Phase::kTraining ? "" : ", evaluation"));
      EachLayer(ops, one, phase).RunAll();
    }
  }
}

TEST(EachLayer, OfOnednnStaysInTheMemoryThatItAsksFor) {
  const auto ops = CreateOnednnOps();
  ASSERT_TRUE(ops.ok());
  ExpectBounds(ops->get());
}

TEST(EachLayer, OfTheKernelsOfGpusStaysInTheMemoryThatItAsksFor) {
  ExpectBounds(CreateHostKernelOps(ElementType::kF32, KernelOrder::kAscending).get());
}

}  // namespace
}  // namespace shardmill
