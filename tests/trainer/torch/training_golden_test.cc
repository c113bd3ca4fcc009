// Optimizers, learning rates and the training of whole networks against PyTorch.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "proto/model.pb.h"
#include "tests/trainer/tensor_near.h"
#include "tests/trainer/torch/golden_file.h"
#include "trainer/graph/graph.h"
#include "trainer/models/model_catalog.h"
#include "trainer/models/model_file.h"
#include "trainer/ops/onednn/onednn_backend.h"
#include "trainer/ops/reference/reference_backend.h"
#include "trainer/optimization/optimizer.h"
#include "trainer/optimization/schedule.h"
#include "trainer/training/network.h"

namespace shardmill {
namespace {

using Floats = std::vector<float>;

constexpr int64_t kClasses = 5;

// One update, and twelve of them, from values of about 1.
constexpr double kStepTolerance = 1e-6;
constexpr double kManyStepsTolerance = 5e-6;
// Losses and weights over whole trainings: f32 against double.
constexpr double kLossTolerance = 1e-5;
constexpr double kWeightTolerance = 2e-4;

template <typename T>
T Value(Result<T> result) {
  SHARDMILL_CHECK(result.ok());
  return std::move(result).value();
}

OptimizerOptions OptimizerOf(const GoldenOptions& golden) {
  OptimizerOptions options;
  options.kind = Value(ParseOptimizerKind(golden.Text("kind")));
  options.weight_decay = golden.Number("weight_decay");
  options.momentum = golden.Number("momentum");
  options.nesterov = golden.Flag("nesterov");
  options.beta1 = 0.8;
  options.beta2 = 0.95;
  options.rms_decay = 0.9;
  return options;
}

TEST(PytorchOptimizers, ParametersAfterOneAndAfterManyStepsAgree) {
  const GoldenFile file("optimizers");
  EXPECT_EQ(file.cases().size(), 6u);
  for (const auto& [name, text] : file.cases()) {
    SCOPED_TRACE(name);
    const GoldenOptions golden(text);
    Floats parameters = file.Values(name + "/start");
    const auto count = static_cast<int64_t>(parameters.size());
    Optimizer optimizer = Value(Optimizer::Create(OptimizerOf(golden), {{0, count, true}}));
    const GoldenArray& gradients = file.Array(name + "/gradients");
    for (int64_t step = 0; step < gradients.shape[0]; ++step) {
      optimizer.Step(parameters.data(), gradients.values.data() + step * count,
                     golden.Number("lr"));
      if (step > 0) continue;
      EXPECT_TRUE(TensorNear(parameters, file.Values(name + "/after_one"), kStepTolerance));
    }
    EXPECT_TRUE(TensorNear(parameters, file.Values(name + "/end"), kManyStepsTolerance));
  }
}

TEST(PytorchSchedules, RatesAgree) {
  const GoldenFile file("schedules");
  EXPECT_EQ(file.cases().size(), 8u);
  for (const auto& [name, text] : file.cases()) {
    SCOPED_TRACE(name);
    const GoldenOptions golden(text);
    const Floats& expected = file.Values(name + "/rates");
    ScheduleOptions options;
    options.kind = Value(ParseScheduleKind(golden.Text("kind")));
    options.base_rate = golden.Number("base_rate");
    options.total_steps = expected.size();
    options.warmup_steps = static_cast<uint64_t>(golden.Number("warmup_steps"));
    options.power = golden.Number("power", 0.9);
    options.step_steps = static_cast<uint64_t>(golden.Number("step_steps", 1));
    options.step_factor = golden.Number("step_factor", 0.1);
    options.final_rate = golden.Number("final_rate");
    for (size_t step = 0; step < expected.size(); ++step) {
      EXPECT_NEAR(LearningRate(options, step), expected[step], 1e-7) << "step " << step;
    }
  }
}

class GoldenTraining {
 public:
  GoldenTraining(const GoldenFile& file, const std::string& name, OpTable* ops)
      : file_(file),
        name_(name),
        golden_(file.cases().at(name)),
        pixels_(file.Bytes(name + "/images")),
        labels_(file.Bytes(name + "/labels")) {
    GraphOptions options;
    options.image_mean = {120, 130, 125};
    options.image_deviation = {70, 60, 65};
    graph_ = Value(Graph::Create(Model(), ops, options));
    LossOptions loss;
    loss.ignore = 255;
    SHARDMILL_CHECK(graph_->SetLoss(loss).ok());
    LoadWeights();
  }

  void Compare() {
    Optimizer optimizer =
        Value(Optimizer::Create(OptimizerOf(golden_), OptimizerRanges(graph_->parameters())));
    const Floats& losses = file_.Values(name_ + "/losses");
    for (size_t step = 0; step < losses.size(); ++step) {
      EXPECT_TRUE(graph_->Forward(Images(), Phase::kTraining).ok());
      if (step == 0) ExpectLogits("logits", kLossTolerance);
      const LossResult loss = Value(graph_->Loss(Labels()));
      EXPECT_NEAR(loss.Mean(), losses[step], kLossTolerance * (1 + losses[step]))
          << "step " << step;
      ASSERT_TRUE(graph_->Backward().ok());
      ParameterStore& store = graph_->parameters();
      optimizer.Step(store.values(), store.gradients(), golden_.Number("lr"));
    }
    for (const auto& [name, array] : file_.Under(name_ + "/end/")) {
      EXPECT_TRUE(TensorNear(Tensor(name), array.values, kWeightTolerance)) << name;
    }
    EXPECT_TRUE(graph_->Forward(Images(), Phase::kEvaluation).ok());
    ExpectLogits("end_logits", kWeightTolerance * 5);
  }

 private:
  ModelSpec Model() const {
    if (golden_.Has("text")) {
      return Value(SpecOfModel(Value(ParseModel(golden_.Text("text"), name_)), 3, kClasses));
    }
    const ModelEntry* entry = FindModel(golden_.Text("model"));
    SHARDMILL_CHECK(entry != nullptr);
    const auto width = static_cast<int64_t>(golden_.Number("width"));
    const auto depth = static_cast<int64_t>(golden_.Number("depth"));
    return Value(BuildModel(*entry, {3, kClasses, width, depth}));
  }

  // A parameter or statistic by its name.
  float* Find(const std::string& name, int64_t* elements) {
    ParameterStore& store = graph_->parameters();
    for (const ParameterInfo& info : store.parameters()) {
      *elements = info.elements;
      if (info.name == name) return store.values() + info.offset;
    }
    for (const StatisticInfo& info : store.statistics()) {
      *elements = info.elements;
      if (info.name == name) return store.running_statistics() + info.offset;
    }
    SHARDMILL_CHECK(false);
    return nullptr;
  }

  Floats Tensor(const std::string& name) {
    int64_t elements = 0;
    const float* first = Find(name, &elements);
    return {first, first + elements};
  }

  void LoadWeights() {
    const auto weights = file_.Under(name_ + "/start/");
    const ParameterStore& store = graph_->parameters();
    EXPECT_EQ(weights.size(), store.parameters().size() + store.statistics().size());
    for (const auto& [name, array] : weights) {
      int64_t elements = 0;
      float* first = Find(name, &elements);
      SHARDMILL_CHECK(static_cast<int64_t>(array.values.size()) == elements);
      std::copy(array.values.begin(), array.values.end(), first);
    }
  }

  ImageBatch Images() const {
    const auto& shape = file_.Array(name_ + "/images").shape;
    return {pixels_.data(), ImageType::kU8, {shape[0], shape[1], shape[2], shape[3]}};
  }

  LabelBatch Labels() const {
    const auto& shape = file_.Array(name_ + "/labels").shape;
    return {labels_.data(), LabelType::kIndexU8, shape[0], shape[1], shape[2], nullptr};
  }

  void ExpectLogits(const std::string& array, double tolerance) {
    Floats logits(graph_->logits_shape().Elements());
    ASSERT_TRUE(graph_->ReadLogits(logits.data()).ok());
    EXPECT_TRUE(TensorNear(logits, file_.Values(name_ + "/" + array), tolerance)) << array;
  }

  const GoldenFile& file_;
  std::string name_;
  GoldenOptions golden_;
  std::vector<uint8_t> pixels_, labels_;
  std::unique_ptr<Graph> graph_;
};

TEST(PytorchNetworks, LossesWeightsAndLogitsOfBothBackendsAgree) {
  const GoldenFile file("networks");
  EXPECT_EQ(file.cases().size(), 3u);
  const auto reference = CreateReferenceOps(ElementType::kF32);
  const auto onednn = Value(CreateOnednnOps());
  for (OpTable* ops : {reference.get(), onednn.get()}) {
    for (const auto& [name, options] : file.cases()) {
      SCOPED_TRACE(std::string(ops->name()) + ": " + name);
      GoldenTraining(file, name, ops).Compare();
    }
  }
}

}  // namespace
}  // namespace shardmill
