// Fused layers compute what the layers one by one compute, on every backend.
#include "trainer/graph/layer_fusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/trainer/random_tensor.h"
#include "tests/trainer/small_training.h"
#include "trainer/cuda/ops/host_kernels.h"
#include "trainer/cuda/simulated/simulated_ops.h"
#include "trainer/models/model_builder.h"
#include "trainer/models/model_catalog.h"
#include "trainer/ops/reference/reference_backend.h"

namespace shardmill {
namespace {

using Floats = std::vector<float>;

void SetRelu(ModelSpec* model, const std::string& layer, Activation activation) {
  for (LayerSpec& spec : model->layers) {
    if (spec.name == layer) spec.activation = activation;
  }
}

// Each way a convolution can end, and ends that cannot be fused.
ModelSpec Endings() {
  const Window window = SquareWindow(3, 1, 1);
  ModelBuilder model("endings", 3);
  std::string value = model.Convolution("biased", "images", 6, window, /*bias=*/true);
  value = model.Plain("biased/relu", LayerKind::kRelu, value);
  value = model.Convolution("bare", value, 6, window);
  value = model.Plain("bare/relu6", LayerKind::kRelu, value);
  value = model.Convolution("normed", value, 8, window, /*bias=*/true);
  value = model.BatchNorm("normed/norm", value, Activation::kRelu);
  value = model.Convolution("silent", value, 8, window);
  value = model.BatchNorm("silent/norm", value, Activation::kNone);
  value = model.Plain("silent/relu6", LayerKind::kRelu, value);
  value = model.MaxPool("pool", value, SquareWindow(2, 2, 0));
  value = model.TransposedConvolution("up", value, 6, SquareWindow(2, 2, 0));
  value = model.BatchNorm("up/norm", value, Activation::kRelu6);
  value = model.TransposedConvolution("up_bare", value, 6, window);
  value = model.Plain("up_bare/relu", LayerKind::kRelu, value);
  value = model.Convolution("kept", value, 6, window);
  const std::string norm = model.BatchNorm("kept/norm", value, Activation::kRelu);
  value = model.Add("sum", {norm, value}, Activation::kNone);
  value = model.Convolution("read_twice", value, 6, window);
  const std::string behind = model.BatchNorm("read_twice/norm", value, Activation::kNone);
  const std::string relu = model.Plain("read_twice/relu", LayerKind::kRelu, behind);
  value = model.Add("last_sum", {relu, behind}, Activation::kRelu);
  model.Convolution("head", value, kClasses, SquareWindow(1, 1, 0), /*bias=*/true);
  ModelSpec spec = model.Take();
  SetRelu(&spec, "bare/relu6", Activation::kRelu6);
  SetRelu(&spec, "silent/relu6", Activation::kRelu6);
  return spec;
}

int LayerNamed(const ResolvedModel& model, const std::string& name) {
  for (size_t i = 0; i < model.layers.size(); ++i) {
    if (model.layers[i].spec.name == name) return static_cast<int>(i);
  }
  SHARDMILL_CHECK(false);
  return -1;
}

// "layer + layer it does" of all, with its activation.
std::vector<std::string> Fused(const ModelSpec& spec, Phase phase) {
  ParameterStore store;
  const auto model = ResolveModel(spec, &store);
  SHARDMILL_CHECK(model.ok());
  const std::vector<LayerFusion> fusions = FuseLayers(*model, phase);
  std::vector<std::string> texts;
  for (size_t i = 0; i < fusions.size(); ++i) {
    if (fusions[i].absorbed_by < 0) continue;
    const auto& by = model->layers[fusions[i].absorbed_by].spec.name;
    texts.push_back(by + " + " + model->layers[i].spec.name);
  }
  return texts;
}

TEST(FuseLayers, TrainingFusesReluAndEvaluationBatchNormToo) {
  EXPECT_EQ(Fused(Endings(), Phase::kTraining),
            (std::vector<std::string>{"biased + biased/relu", "bare + bare/relu6",
                                      "up_bare + up_bare/relu"}));
  EXPECT_EQ(
      Fused(Endings(), Phase::kEvaluation),
      (std::vector<std::string>{"biased + biased/relu", "bare + bare/relu6", "normed + normed/norm",
                                "silent + silent/norm", "silent + silent/relu6", "up + up/norm",
                                "up_bare + up_bare/relu", "read_twice + read_twice/norm"}));
}

TEST(FuseLayers, ConvolutionTakesTheActivationOfWhatItAbsorbs) {
  ParameterStore store;
  const auto model = ResolveModel(Endings(), &store);
  ASSERT_TRUE(model.ok());
  const auto fusions = FuseLayers(*model, Phase::kEvaluation);
  const auto of = [&](const char* name) { return fusions[LayerNamed(*model, name)].activation; };
  EXPECT_EQ(of("biased"), Activation::kRelu);
  EXPECT_EQ(of("bare"), Activation::kRelu6);
  EXPECT_EQ(of("silent"), Activation::kRelu6);
  EXPECT_EQ(of("up"), Activation::kRelu6);
  EXPECT_EQ(of("kept"), Activation::kNone);
  EXPECT_EQ(of("read_twice"), Activation::kNone);
  EXPECT_EQ(of("head"), Activation::kNone);
}

// Numbers as after some training: no scale is 1, no mean is 0.
void Unsettle(Graph* graph) {
  ParameterStore& store = graph->parameters();
  for (const ParameterInfo& info : store.parameters()) {
    if (info.kind == ParameterKind::kConvolutionWeight) continue;
    const Floats random = RandomTensor<float>(info.elements, 3, info.name);
    for (int64_t i = 0; i < info.elements; ++i) store.values()[info.offset + i] += random[i] / 2;
  }
  for (const StatisticInfo& info : store.statistics()) {
    const Floats random = RandomTensor<float>(info.elements, 3, info.name);
    const bool is_mean = info.kind == StatisticKind::kRunningMean;
    for (int64_t i = 0; i < info.elements; ++i) {
      float& number = store.running_statistics()[info.offset + i];
      number = is_mean ? random[i] : 0.5f + random[i] * random[i];
    }
  }
}

Floats Evaluated(const ModelSpec& model, OpTable* ops, const ImageBatch& images, bool fuse) {
  GraphOptions options = PixelOptions();
  options.fuse = fuse;
  const auto graph = MakeGraph(model, ops, options);
  Unsettle(graph.get());
  SHARDMILL_CHECK(graph->Forward(images, Phase::kEvaluation).ok());
  Floats logits(graph->logits_shape().Elements());
  SHARDMILL_CHECK(graph->ReadLogits(logits.data()).ok());
  return logits;
}

Floats Evaluated(const ModelSpec& model, OpTable* ops, const Samples& samples, bool fuse) {
  return Evaluated(model, ops, samples.images(), fuse);
}

// Both in proportion to the largest logit.
void ExpectClose(const Floats& actual, const Floats& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  double largest = 0, error = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    const double difference = std::abs(static_cast<double>(actual[i]) - expected[i]);
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    error = difference <= error ? error : difference;  // NaN stays
  }
  EXPECT_GT(largest, 0);
  EXPECT_LE(error, tolerance * largest);
}

std::unique_ptr<OpTable> Simulated(ElementType type) {
  auto runtime = std::make_unique<SimulatedRuntime>();
  runtime->set_recording(false);
  return CreateSimulatedOps(type, std::move(runtime));
}

TEST(FusedEvaluation, AgreesWithLayersOneByOneOnEveryBackend) {
  const Samples samples({2, 10, 12, 3});
  const auto reference = CreateReferenceOps(ElementType::kF32);
  const Floats expected = Evaluated(Endings(), reference.get(), samples, /*fuse=*/false);
  ExpectClose(Evaluated(Endings(), reference.get(), samples, true), expected, 1e-5);
  const auto onednn = CpuOps();
  const auto full = Simulated(ElementType::kF32);
  const auto kernels = CreateHostKernelOps(ElementType::kF32, KernelOrder::kDescending);
  for (OpTable* const ops : {onednn.get(), full.get(), kernels.get()}) {
    SCOPED_TRACE(ops->name());
    for (const bool fuse : {false, true}) {
      ExpectClose(Evaluated(Endings(), ops, samples, fuse), expected, 1e-4);
    }
  }
  // Fewer values are rounded to bf16 on the way.
  const auto narrow = Simulated(ElementType::kBf16);
  for (const bool fuse : {false, true}) {
    ExpectClose(Evaluated(Endings(), narrow.get(), samples, fuse), expected, 0.05);
  }
}

// What the models of the catalog are made of, as narrow as they may be.
TEST(FusedEvaluation, AgreesForTheModelsOfTheCatalog) {
  const auto ops = CpuOps();
  for (const char* const name : {"unet", "enet", "encoder_decoder", "resnet18", "fc_densenet56"}) {
    SCOPED_TRACE(name);
    const ModelEntry* const entry = FindModel(name);
    ASSERT_NE(entry, nullptr);
    ModelSize size;
    size.input_channels = 3;
    size.classes = kClasses;
    size.width = 8;
    size.depth = entry->depth == 0 ? 0 : 2;
    const auto model = BuildModel(*entry, size);
    ASSERT_TRUE(model.ok()) << model.status().ToString();
    const Samples samples({1, 32, 32, 3});
    ExpectClose(Evaluated(*model, ops.get(), samples, true),
                Evaluated(*model, ops.get(), samples, false), 1e-3);
  }
}

// A folded batch norm must leave zeros behind the end of a sequence, as one of its own does.
TEST(FusedEvaluation, AgreesForPaddedSequences) {
  const auto model = BuildModel(*FindModel("tdnn"), {3, kClasses, 8, 0});
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  const Samples samples({2, 1, 40, 3});
  const int32_t lengths[] = {17, 40};
  ImageBatch padded = samples.images(), first = samples.images();
  padded.lengths = lengths;
  first.shape = {1, 1, 17, 3};
  const auto onednn = CpuOps();
  const auto reference = CreateReferenceOps(ElementType::kF32);
  for (OpTable* const ops : {onednn.get(), reference.get()}) {
    SCOPED_TRACE(ops->name());
    const Floats fused = Evaluated(*model, ops, padded, true);
    ExpectClose(fused, Evaluated(*model, ops, padded, false), 1e-4);
    ExpectClose({fused.begin(), fused.begin() + kClasses}, Evaluated(*model, ops, first, false),
                1e-4);
  }
}

TEST(FusedEvaluation, TakesWeightsAndStatisticsOfThisMoment) {
  const auto ops = CpuOps();
  const Samples samples({1, 10, 12, 3});
  const auto graph = MakeGraph(Endings(), ops.get(), PixelOptions());
  ASSERT_TRUE(graph->Forward(samples.images(), Phase::kEvaluation).ok());
  Unsettle(graph.get());
  ASSERT_TRUE(graph->Forward(samples.images(), Phase::kEvaluation).ok());
  Floats logits(graph->logits_shape().Elements());
  ASSERT_TRUE(graph->ReadLogits(logits.data()).ok());
  EXPECT_EQ(logits, Evaluated(Endings(), ops.get(), samples, true));
}

TEST(FusedTraining, HasTheGradientsOfLayersOneByOne) {
  const Samples samples({2, 10, 12, 3});
  const auto reference = CreateReferenceOps(ElementType::kF32);
  const auto onednn = CpuOps();
  const auto kernels = CreateHostKernelOps(ElementType::kF32, KernelOrder::kDescending);
  for (OpTable* const ops : {reference.get(), onednn.get(), kernels.get()}) {
    SCOPED_TRACE(ops->name());
    std::vector<double> losses;
    std::vector<Floats> gradients;
    for (const bool fuse : {false, true}) {
      GraphOptions options = PixelOptions();
      options.fuse = fuse;
      const auto graph = MakeGraph(Endings(), ops, options);
      losses.push_back(StepLoss(graph.get(), samples));
      gradients.push_back(Gradients(graph.get()));
    }
    EXPECT_NEAR(losses[1], losses[0], 1e-5);
    ExpectClose(gradients[1], gradients[0], 1e-4);
  }
}

}  // namespace
}  // namespace shardmill
