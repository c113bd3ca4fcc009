// Whole graphs against central differences, in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/trainer/gradient_check.h"
#include "tests/trainer/random_tensor.h"
#include "trainer/graph/graph.h"
#include "trainer/models/classifier.h"
#include "trainer/models/unet.h"
#include "trainer/ops/reference/reference_backend.h"

namespace shardmill {
namespace {

// A graph with one fixed batch.
class GraphUnderTest {
 public:
  GraphUnderTest(const ModelSpec& model, const Shape& images, int64_t label_h, int64_t label_w,
                 LossOptions loss = {})
      : ops_(CreateReferenceOps(ElementType::kF64)), shape_(images) {
    auto graph = Graph::Create(model, ops_.get(), GraphOptions());
    SHARDMILL_CHECK(graph.ok());
    graph_ = std::move(graph).value();
    const int64_t classes = graph_->classes();
    for (int64_t k = 0; k < classes; ++k) loss.class_weights.push_back(1.0f + 0.5f * k);
    loss.ignore = classes;
    SHARDMILL_CHECK(graph_->SetLoss(loss).ok());
    images_ = RandomTensor<float>(images.Elements(), 3, "images");
    labels_ = RandomIntegers<uint8_t>(images.n * label_h * label_w, classes + 1, 3, "labels");
    label_batch_ = {labels_.data(), LabelType::kIndexU8, images.n, label_h, label_w, nullptr};
  }

  void set_lengths(std::vector<int32_t> lengths) { lengths_ = std::move(lengths); }

  double MeanLoss() {
    ImageBatch batch = {images_.data(), ImageType::kF32, shape_};
    if (!lengths_.empty()) batch.lengths = lengths_.data();
    SHARDMILL_CHECK(graph_->Forward(batch, Phase::kTraining).ok());
    const auto loss = graph_->Loss(label_batch_);
    SHARDMILL_CHECK(loss.ok());
    return loss->Mean();
  }

  // Derivatives by at most `most` elements of each parameter.
  std::vector<DerivativePair> Compare(int64_t most) {
    MeanLoss();
    SHARDMILL_CHECK(graph_->Backward().ok());
    std::vector<DerivativePair> pairs;
    const ParameterStore& store = graph_->parameters();
    for (int i = 0; i < static_cast<int>(store.parameters().size()); ++i) {
      const ParameterInfo& info = store.parameters()[i];
      const auto* gradient = static_cast<const double*>(store.gradient_at(i));
      const std::vector<double> gradients(gradient, gradient + info.elements);
      const int64_t checks = std::min(most, info.elements);
      for (int64_t k = 0; k < checks; ++k) {
        const int64_t at = k * info.elements / checks;
        pairs.push_back({info.name + "[" + std::to_string(at) + "]", gradients[at],
                         Difference(static_cast<double*>(store.value_at(i)) + at)});
      }
    }
    return pairs;
  }

 private:
  double Difference(double* value) {
    const double before = *value;
    *value = before + kGradientStep;
    const double above = MeanLoss();
    *value = before - kGradientStep;
    const double below = MeanLoss();
    *value = before;
    return (above - below) / (2 * kGradientStep);
  }

  std::unique_ptr<OpTable> ops_;
  Shape shape_;
  std::unique_ptr<Graph> graph_;
  std::vector<float> images_;
  std::vector<int32_t> lengths_;
  std::vector<uint8_t> labels_;
  LabelBatch label_batch_;
};

ModelSpec Unet(int64_t width, int64_t depth) {
  UnetOptions options;
  options.classes = 3;
  options.width = width;
  options.depth = depth;
  const auto model = UnetSpec(options);
  SHARDMILL_CHECK(model.ok());
  return *model;
}

TEST(UnetGradient, AgreesWithDifferences) {
  GraphUnderTest graph(Unet(2, 2), {2, 8, 12, 3}, 8, 12);
  EXPECT_EQ(WorstDisagreement(graph.Compare(6)), "");
}

TEST(LossGradient, TermsAgreeWithDifferences) {
  LossOptions smoothed, dice, hard;
  smoothed.label_smoothing = 0.3;
  dice.cross_entropy = 0.25;
  dice.dice = 2;
  hard.hard_probability = 0.3;
  hard.hard_share = 0.5;
  hard.dice = 1;
  hard.label_smoothing = 0.1;
  for (const LossOptions& loss : {smoothed, dice, hard}) {
    GraphUnderTest graph(Unet(2, 1), {2, 5, 6, 3}, 5, 6, loss);
    EXPECT_EQ(WorstDisagreement(graph.Compare(3)), "");
  }
}

TEST(UnetGradient, OddSizesAgreeWithDifferences) {
  GraphUnderTest graph(Unet(2, 2), {1, 7, 9, 3}, 7, 9);
  EXPECT_EQ(WorstDisagreement(graph.Compare(6)), "");
}

TEST(ClassifierGradient, AgreesWithDifferences) {
  ClassifierOptions options;
  options.classes = 4;
  options.width = 2;
  options.stages = 2;
  const auto model = ClassifierSpec(options);
  ASSERT_TRUE(model.ok());
  GraphUnderTest graph(*model, {5, 6, 7, 3}, 1, 1);
  EXPECT_EQ(WorstDisagreement(graph.Compare(6)), "");
}

LayerSpec Layer(const std::string& name, LayerKind kind, std::vector<std::string> inputs) {
  LayerSpec layer;
  layer.name = name;
  layer.kind = kind;
  layer.inputs = std::move(inputs);
  layer.channels = 3;
  layer.window = SquareWindow(3, 1, 1);
  return layer;
}

// A value with several readers, of which the graph must add the gradients itself (convolution),
// in the layer (concat, pooling), in place (ReLU, batch norm) and for the same layer twice.
TEST(GraphGradient, SharedValuesAgreeWithDifferences) {
  ModelSpec model;
  model.name = "shared";
  model.layers = {
      Layer("a", LayerKind::kConvolution, {"images"}),
      Layer("b", LayerKind::kConvolution, {"a"}),
      Layer("c", LayerKind::kConvolution, {"a"}),
      Layer("norm", LayerKind::kBatchNorm, {"a"}),
      Layer("relu", LayerKind::kRelu, {"b"}),
      Layer("relu_again", LayerKind::kRelu, {"b"}),
      Layer("sum", LayerKind::kAdd, {"b", "b", "c"}),
      Layer("joined", LayerKind::kConcat, {"relu", "c", "a", "a", "relu_again", "norm", "sum"}),
      Layer("pooled", LayerKind::kMaxPool, {"joined"}),
      Layer("averaged", LayerKind::kGlobalAveragePool, {"joined"}),
      Layer("all", LayerKind::kConcat, {"pooled", "averaged"}),
      Layer("head", LayerKind::kConvolution, {"all"}),
  };
  model.layers[6].activation = Activation::kRelu;  // of the sum
  GraphUnderTest graph(model, {2, 5, 6, 3}, 5, 6);
  EXPECT_EQ(WorstDisagreement(graph.Compare(10)), "");
}

// Pooling and its inverse around a bottleneck, a sum of unequal shapes, every activation, dropout.
TEST(GraphGradient, NewerLayersAgreeWithDifferences) {
  LayerSpec unpool = Layer("unpool", LayerKind::kMaxUnpool, {"narrow"});
  unpool.indices_of = "pool";
  LayerSpec pool = Layer("pool", LayerKind::kMaxPool, {"a"});
  pool.window = SquareWindow(2, 2, 0);
  LayerSpec drop = Layer("drop", LayerKind::kDropout, {"prelu"});
  drop.drop = 0.3;
  drop.whole_channels = true;
  LayerSpec up = Layer("up", LayerKind::kUpsample, {"drop"});
  LayerSpec sum = Layer("sum", LayerKind::kAdd, {"unpool", "up", "a", "a", "thin"});
  sum.activation = Activation::kRelu6;
  LayerSpec thin = Layer("thin", LayerKind::kConvolution, {"images"});
  thin.channels = 2;
  ModelSpec model;
  model.name = "newer";
  model.layers = {
      Layer("a", LayerKind::kConvolution, {"images"}),
      thin,
      pool,
      Layer("narrow", LayerKind::kConvolution, {"pool"}),
      Layer("prelu", LayerKind::kPrelu, {"narrow"}),
      drop,
      up,
      unpool,
      sum,
      Layer("average", LayerKind::kAveragePool, {"sum"}),
      Layer("plain", LayerKind::kAdd, {"average", "sum", "sum"}),
      Layer("head", LayerKind::kConvolution, {"plain"}),
  };
  GraphUnderTest graph(model, {2, 7, 6, 3}, 7, 6);
  EXPECT_EQ(WorstDisagreement(graph.Compare(10)), "");
}

TEST(GraphGradient, PaddedSequencesAgreeWithDifferences) {
  LayerSpec norm = Layer("norm", LayerKind::kBatchNorm, {"a"});
  norm.activation = Activation::kRelu;
  LayerSpec head = Layer("head", LayerKind::kConvolution, {"statistics"});
  ModelSpec model;
  model.name = "sequences";
  model.layers = {Layer("a", LayerKind::kConvolution, {"images"}), norm,
                  Layer("b", LayerKind::kConvolution, {"norm"}),
                  Layer("statistics", LayerKind::kStatisticsPool, {"b"}), head};
  for (size_t i : {0, 2}) model.layers[i].window = {1, 3, 1, 1, 0, 1, 0, 1, 1, 1};
  model.layers[4].window = SquareWindow(1, 1, 0);
  GraphUnderTest graph(model, {3, 1, 9, 3}, 1, 1);
  graph.set_lengths({9, 4, 6});
  EXPECT_EQ(WorstDisagreement(graph.Compare(10)), "");
}

}  // namespace
}  // namespace shardmill
