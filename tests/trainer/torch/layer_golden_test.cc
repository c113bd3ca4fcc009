// Single layers of both backends, forward and backward, against PyTorch.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "proto/model.pb.h"
#include "tests/trainer/tensor_near.h"
#include "tests/trainer/torch/golden_file.h"
#include "trainer/graph/parameters.h"
#include "trainer/layers/layer_factory.h"
#include "trainer/models/model_file.h"
#include "trainer/ops/onednn/onednn_backend.h"
#include "trainer/ops/reference/reference_backend.h"

namespace shardmill {
namespace {

using Floats = std::vector<float>;

template <typename T>
T Value(Result<T> result) {
  SHARDMILL_CHECK(result.ok());
  return std::move(result).value();
}

Shape ShapeOf(const GoldenArray& array) {
  SHARDMILL_CHECK(array.shape.size() == 4);
  return {array.shape[0], array.shape[1], array.shape[2], array.shape[3]};
}

std::string RoleOf(const std::string& name) { return name.substr(name.rfind('/') + 1); }

// One layer with the numbers of a case.
class GoldenLayer {
 public:
  GoldenLayer(const GoldenFile& file, const std::string& name, OpTable* ops)
      : file_(file), name_(name), stream_(Value(ops->CreateStream())) {
    const auto model = Value(ParseModel(file.cases().at(name), name));
    const LayerSpec spec = Value(SpecOfModel(model, 1, 1)).layers.front();
    std::vector<Shape> shapes;
    for (int i = 0; file.Has(Key("x" + std::to_string(i))); ++i) {
      inputs_.push_back(file.Array(Key("x" + std::to_string(i))));
      shapes.push_back(ShapeOf(inputs_.back()));
    }
    const LayerParameters entries = DeclareParameters(spec, shapes.front().c, &parameters_);
    SHARDMILL_CHECK(parameters_.Allocate(ops, 1).ok());
    LoadNumbers();
    context_ = {ops, stream_.get(), &parameters_, 0.1, 1e-5};
    layer_ = Value(PrepareLayer(spec, entries, {shapes}, &context_));
    output_.resize(layer_->OutputShape().Elements());
    state_.resize(layer_->StateBytes() / 8 + 1);
    workspace_.resize(layer_->WorkspaceBytes() / 8 + 8);
  }

  void Compare() {
    const bool evaluates = name_.rfind("evaluation", 0) == 0;
    std::vector<const void*> addresses;
    for (const GoldenArray& input : inputs_) addresses.push_back(input.values.data());
    const LayerTensors tensors = {addresses.data(), output_.data(), state_.data(), Workspace(),
                                  nullptr};
    const Phase phase = evaluates ? Phase::kEvaluation : Phase::kTraining;
    ASSERT_TRUE(layer_->Forward(phase, tensors).ok());
    EXPECT_EQ(layer_->OutputShape(), ShapeOf(file_.Array(Key("y"))));
    EXPECT_TRUE(TensorNear(output_, file_.Values(Key("y")), kNormTolerance)) << "y";
    for (const StatisticInfo& info : parameters_.statistics()) {
      const auto* first = parameters_.running_statistics() + info.offset;
      EXPECT_TRUE(TensorNear(Floats(first, first + info.elements),
                             file_.Values(Key("after_" + RoleOf(info.name))), kNormTolerance));
    }
    if (!evaluates) CompareGradients(tensors);
  }

 private:
  std::string Key(const std::string& array) const { return name_ + "/" + array; }

  void* Workspace() {
    const auto address = reinterpret_cast<uintptr_t>(workspace_.data());
    return reinterpret_cast<void*>((address + kMemoryAlignment - 1) / kMemoryAlignment *
                                   kMemoryAlignment);
  }

  void LoadNumbers() {
    for (const ParameterInfo& info : parameters_.parameters()) {
      const Floats& values = file_.Values(Key(RoleOf(info.name)));
      SHARDMILL_CHECK(static_cast<int64_t>(values.size()) == info.elements);
      std::copy(values.begin(), values.end(), parameters_.values() + info.offset);
    }
    for (const StatisticInfo& info : parameters_.statistics()) {
      const Floats& values = file_.Values(Key(RoleOf(info.name)));
      std::copy(values.begin(), values.end(), parameters_.running_statistics() + info.offset);
    }
  }

  void CompareGradients(const LayerTensors& tensors) {
    std::vector<Floats> dinputs;
    for (const GoldenArray& input : inputs_) dinputs.emplace_back(input.values.size(), 77.0f);
    std::vector<void*> addresses;
    for (Floats& dinput : dinputs) addresses.push_back(dinput.data());
    const std::vector<GradientMode> modes(dinputs.size(), GradientMode::kOverwrite);
    Floats dy = file_.Values(Key("dy"));
    ASSERT_TRUE(layer_->Backward(tensors, {dy.data(), addresses.data(), modes.data()}).ok());
    for (size_t i = 0; i < dinputs.size(); ++i) {
      const std::string key = Key("dx" + std::to_string(i));
      EXPECT_TRUE(TensorNear(dinputs[i], file_.Values(key), kNormTolerance)) << key;
    }
    for (const ParameterInfo& info : parameters_.parameters()) {
      const float* first = parameters_.gradients() + info.offset;
      EXPECT_TRUE(TensorNear(Floats(first, first + info.elements),
                             file_.Values(Key("d" + RoleOf(info.name))), kNormTolerance))
          << info.name;
    }
  }

  const GoldenFile& file_;
  std::string name_;
  std::unique_ptr<Stream> stream_;
  ParameterStore parameters_;
  LayerContext context_;
  std::unique_ptr<Layer> layer_;
  std::vector<GoldenArray> inputs_;
  Floats output_;
  std::vector<double> state_, workspace_;
};

TEST(PytorchLayers, ForwardAndBackwardOfBothBackendsAgree) {
  const GoldenFile file("layers");
  EXPECT_EQ(file.cases().size(), 35u);
  const auto reference = CreateReferenceOps(ElementType::kF32);
  const auto onednn = Value(CreateOnednnOps());
  for (OpTable* ops : {reference.get(), onednn.get()}) {
    for (const auto& [name, layer] : file.cases()) {
      SCOPED_TRACE(std::string(ops->name()) + ": " + name);
      GoldenLayer(file, name, ops).Compare();
    }
  }
}

}  // namespace
}  // namespace shardmill
