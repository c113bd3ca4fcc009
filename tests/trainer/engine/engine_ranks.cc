// Cases that run on every rank of a job; see engine_ranks_test.cc. Each rank also computes, alone,
// what the whole job should come to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "reader/epoch_order.h"
#include "tests/trainer/comm/rank_main.h"
#include "tests/trainer/small_training.h"
#include "trainer/comm/self_communicator.h"
#include "trainer/engine/batch_engine.h"

namespace shardmill {
namespace {

constexpr int64_t kIgnore = 255;
constexpr int kSteps = 3;
constexpr int kManySteps = 20;
constexpr int kMicroShards = 8;

// Labels of the first half of the rows are mostly ignored, so that ranks differ in weight.
Samples SkewedSamples(int64_t rows, uint64_t seed) {
  Samples samples({rows, 24, 20, 3}, seed);
  for (size_t i = 0; i < samples.classes.size() / 2; ++i) {
    if (i % 7 != 0) samples.classes[i] = kIgnore;
  }
  return samples;
}

// How a training differs from the plain one.
struct TrainingOptions {
  LossOptions loss;
  int passes = 1;
  bool batch_norm = true;
};

// A dropout layer before the last one.
ModelSpec WithDropout(ModelSpec model) {
  LayerSpec drop;
  drop.name = "drop";
  drop.kind = LayerKind::kDropout;
  drop.inputs = model.layers.back().inputs;
  drop.drop = 0.3;
  model.layers.back().inputs = {drop.name};
  model.layers.insert(model.layers.end() - 1, drop);
  return model;
}

// Without batch norm, whose statistics are those of a pass.
ModelSpec PlainConvolutions() {
  ModelSpec model = SmallUnet();
  for (LayerSpec& layer : model.layers) {
    if (layer.kind == LayerKind::kBatchNorm) layer.kind = LayerKind::kRelu;
  }
  return model;
}

std::unique_ptr<Graph> NewGraph(OpTable* ops, const TrainingOptions& options = {}) {
  const ModelSpec model = WithDropout(options.batch_norm ? SmallUnet() : PlainConvolutions());
  std::unique_ptr<Graph> graph = MakeGraph(model, ops, PixelOptions());
  LossOptions loss = options.loss;
  loss.class_weights = {1, 2, 0.5f, 1, 3};
  loss.ignore = kIgnore;
  SHARDMILL_CHECK(graph->SetLoss(loss).ok());
  return graph;
}

// What a run leaves behind.
struct Trace {
  std::vector<double> losses;
  std::vector<double> scores;
  std::vector<float> values;
  std::vector<float> statistics;
  std::vector<uint64_t> matrix;
};

enum class EngineKind { kRank, kMicroShard };

// A graph, an engine on it, and a few steps of plain gradient descent.
class Training {
 public:
  Training(EngineKind kind, Communicator* communicator, const TrainingOptions& options = {})
      : communicator_(communicator), graph_(NewGraph(ops_.get(), options)) {
    auto engine = kind == EngineKind::kRank
                      ? CreateRankEngine(graph_.get(), communicator, options.passes)
                      : CreateMicroShardEngine(
                            graph_.get(),
                            [this, options]() -> Result<std::unique_ptr<Graph>> {
                              return NewGraph(ops_.get(), options);
                            },
                            communicator, kMicroShards, options.passes);
    SHARDMILL_CHECK(engine.ok());
    engine_ = std::move(engine).value();
  }

  Trace Run(int64_t global_rows, int steps = kSteps) {
    Shape images = SkewedSamples(1, 0).shape;
    images.n = global_rows;
    SHARDMILL_CHECK(engine_->Prepare(images).ok());
    for (int step = 0; step < steps; ++step) Step(SkewedSamples(global_rows, 100 + step));
    Score(SkewedSamples(global_rows, 200));
    Score(SkewedSamples(3, 201));  // fewer rows than micro-shards, perhaps than ranks
    ParameterStore& store = graph_->parameters();
    trace_.values.assign(store.values(), store.values() + store.parameter_elements());
    trace_.statistics.assign(store.running_statistics(),
                             store.running_statistics() + store.statistic_elements());
    trace_.matrix = matrix_.counts();
    return trace_;
  }

  Graph* graph() { return graph_.get(); }
  BatchEngine* engine() { return engine_.get(); }

 private:
  BatchRows OwnRows(const Samples& samples) const {
    const RankSlice slice =
        SliceForRank(samples.shape.n, communicator_->rank(), communicator_->size());
    ImageBatch images = samples.images();
    images.step = trace_.losses.size();
    return SelectRows({images, samples.labels(), samples.shape.n},
                      static_cast<int64_t>(slice.begin), static_cast<int64_t>(slice.end));
  }

  void Step(const Samples& samples) {
    const auto outcome = engine_->Train(OwnRows(samples), false);
    ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
    EXPECT_FALSE(outcome->stop);
    trace_.losses.push_back(outcome->loss.Mean());
    PlainStep(graph_.get(), 0.05f);
    engine_->ParametersChanged();
  }

  void Score(const Samples& samples) {
    const auto loss = engine_->Score(OwnRows(samples), false, &matrix_);
    ASSERT_TRUE(loss.ok()) << loss.status().ToString();
    trace_.scores.push_back(loss->loss.Mean());
  }

  Communicator* communicator_;
  std::unique_ptr<OpTable> ops_ = CpuOps();
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<BatchEngine> engine_;
  ConfusionMatrix matrix_{kClasses, kIgnore};
  Trace trace_;
};

Trace RunAlone(EngineKind kind, int64_t global_rows, const TrainingOptions& options = {},
               int steps = kSteps) {
  const auto alone = CreateSelfCommunicator();
  return Training(kind, alone.get(), options).Run(global_rows, steps);
}

// Every term of the loss, the hardest third of the pixels.
TrainingOptions AllTerms() {
  TrainingOptions options;
  options.loss.dice = 0.5;
  options.loss.label_smoothing = 0.1;
  options.loss.hard_probability = 0.05;
  options.loss.hard_share = 0.33;
  return options;
}

std::vector<uint64_t> SumOverRanks(std::vector<uint64_t> counts) {
  EXPECT_TRUE(JobCommunicator()->Sum(counts.data(), counts.size(), "matrix").ok());
  return counts;
}

double LargestDifference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return largest;
}

// Parameters are of the size of 1 and change by hundredths; f32 sums in another order.
constexpr double kParameterTolerance = 2e-5;
// ReLU and max pooling make rounding errors grow from step to step.
constexpr double kManyStepsTolerance = 2e-4;

TEST(RankEngine, RanksTrainLikeOneGraphOnTheWholeBatch) {
  for (int64_t rows : {8, 13}) {
    const Trace expected = RunAlone(EngineKind::kRank, rows);
    const Trace actual = Training(EngineKind::kRank, JobCommunicator()).Run(rows);
    ASSERT_EQ(actual.losses.size(), expected.losses.size());
    for (int step = 0; step < kSteps; ++step) {
      EXPECT_NEAR(actual.losses[step], expected.losses[step], 1e-5);
    }
    for (int i = 0; i < 2; ++i) EXPECT_NEAR(actual.scores[i], expected.scores[i], 1e-4);
    EXPECT_LT(LargestDifference(actual.values, expected.values), kParameterTolerance);
    // Statistics of pixel values in deviations: of the size of 1 too.
    EXPECT_LT(LargestDifference(actual.statistics, expected.statistics), 1e-4);
  }
}

TEST(RankEngine, AllRanksEndWithTheSameBits) {
  const Trace trace = Training(EngineKind::kRank, JobCommunicator()).Run(13);
  std::vector<float> of_root = trace.values;
  of_root.insert(of_root.end(), trace.statistics.begin(), trace.statistics.end());
  const std::vector<float> own = of_root;
  ASSERT_TRUE(JobCommunicator()
                  ->Broadcast(of_root.data(), static_cast<int64_t>(of_root.size() * 4), 0, "bits")
                  .ok());
  EXPECT_EQ(own, of_root);
}

// All weights are 0, so the network gives each class the same probability, and the gradient of the
// mean over all labelled pixels of the job is known without any network.
TEST(RankEngine, GradientOfALinearModelMatchesItsClosedForm) {
  const auto ops = CpuOps();
  ModelSpec linear;
  LayerSpec& head = linear.layers.emplace_back();
  head.name = "head";
  head.inputs = {"images"};
  head.channels = kClasses;
  const GraphOptions scale = PixelOptions();
  const auto graph = MakeGraph(linear, ops.get(), scale);
  LossOptions loss;
  loss.class_weights = {1, 2, 0.5f, 1, 3};
  loss.ignore = kIgnore;
  ASSERT_TRUE(graph->SetLoss(loss).ok());
  ParameterStore& store = graph->parameters();
  std::fill_n(store.values(), store.parameter_elements(), 0.0f);
  const Samples samples = SkewedSamples(13, 5);

  std::vector<double> expected(kClasses * 3, 0.0);
  double total = 0;
  for (size_t p = 0; p < samples.classes.size(); ++p) {
    if (samples.classes[p] == kIgnore) continue;
    const double weight = loss.class_weights[samples.classes[p]];
    total += weight;
    for (int64_t k = 0; k < kClasses; ++k) {
      const double gradient = weight * (1.0 / kClasses - (samples.classes[p] == k ? 1 : 0));
      for (int64_t c = 0; c < 3; ++c) {
        expected[k * 3 + c] +=
            gradient * (samples.pixels[p * 3 + c] - scale.image_mean[c]) / scale.image_deviation[c];
      }
    }
  }

  Communicator* ranks = JobCommunicator();
  const auto engine = CreateRankEngine(graph.get(), ranks);
  ASSERT_TRUE(engine.ok());
  const RankSlice slice = SliceForRank(13, ranks->rank(), ranks->size());
  const auto outcome = (*engine)->Train(
      SelectRows({samples.images(), samples.labels(), 13}, static_cast<int64_t>(slice.begin),
                 static_cast<int64_t>(slice.end)),
      false);
  ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
  EXPECT_NEAR(outcome->loss.Mean(), std::log(static_cast<double>(kClasses)), 1e-6);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(store.gradients()[i], expected[i] / total, 1e-6) << i;
  }
}

TEST(RankEngine, TwentyStepsStayNearThoseOfOneRank) {
  const Trace expected = RunAlone(EngineKind::kRank, 13, {}, kManySteps);
  const Trace actual = Training(EngineKind::kRank, JobCommunicator()).Run(13, kManySteps);
  for (int step = 0; step < kManySteps; ++step) {
    EXPECT_NEAR(actual.losses[step], expected.losses[step], 1e-4) << "step " << step;
  }
  EXPECT_LT(LargestDifference(actual.values, expected.values), kManyStepsTolerance);
}

TEST(MicroShardEngine, TwentyStepsHaveTheBitsOfOneRank) {
  if (kMicroShards % JobCommunicator()->size() != 0) GTEST_SKIP() << "ranks do not divide 8";
  const Trace expected = RunAlone(EngineKind::kMicroShard, 13, {}, kManySteps);
  const Trace actual = Training(EngineKind::kMicroShard, JobCommunicator()).Run(13, kManySteps);
  EXPECT_EQ(actual.losses, expected.losses);
  EXPECT_EQ(actual.values, expected.values);
}

TEST(MicroShardEngine, BitsAreThoseOfOneRank) {
  const int ranks = JobCommunicator()->size();
  if (kMicroShards % ranks != 0) GTEST_SKIP() << ranks << " ranks do not divide 8";
  for (int64_t rows : {8, 13}) {
    const Trace expected = RunAlone(EngineKind::kMicroShard, rows);
    const Trace actual = Training(EngineKind::kMicroShard, JobCommunicator()).Run(rows);
    EXPECT_EQ(actual.losses, expected.losses);
    EXPECT_EQ(actual.scores, expected.scores);
    EXPECT_EQ(actual.values, expected.values);
    EXPECT_EQ(actual.statistics, expected.statistics);
    EXPECT_EQ(SumOverRanks(actual.matrix), expected.matrix);
  }
}

TEST(RankEngine, AllTermsOfTheLossAreThoseOfTheWholeBatch) {
  const Trace expected = RunAlone(EngineKind::kRank, 13, AllTerms());
  const Trace actual = Training(EngineKind::kRank, JobCommunicator(), AllTerms()).Run(13);
  for (int step = 0; step < kSteps; ++step) {
    EXPECT_NEAR(actual.losses[step], expected.losses[step], 1e-4);
  }
  EXPECT_NE(expected.losses, RunAlone(EngineKind::kRank, 13).losses);
}

TEST(RankEngine, PassesGiveTheGradientOfOnePass) {
  TrainingOptions options;
  options.batch_norm = false;
  const Trace expected = RunAlone(EngineKind::kRank, 13, options);
  options.passes = 3;
  for (const EngineKind kind : {EngineKind::kRank, EngineKind::kMicroShard}) {
    if (kind == EngineKind::kMicroShard && kMicroShards % JobCommunicator()->size() != 0) continue;
    const int64_t rows = kind == EngineKind::kRank ? 13 : 24;
    const Trace one_pass = rows == 13 ? expected : RunAlone(EngineKind::kRank, rows, [] {
      TrainingOptions plain;
      plain.batch_norm = false;
      return plain;
    }());
    const Trace actual = Training(kind, JobCommunicator(), options).Run(rows);
    for (int step = 0; step < kSteps; ++step) {
      EXPECT_NEAR(actual.losses[step], one_pass.losses[step], 1e-5);
    }
    EXPECT_LT(LargestDifference(actual.values, one_pass.values), kParameterTolerance);
  }
}

TEST(MicroShardEngine, BitsAreThoseOfOneRankWithAllTermsAndPasses) {
  if (kMicroShards % JobCommunicator()->size() != 0) GTEST_SKIP() << "ranks do not divide 8";
  TrainingOptions options = AllTerms();
  options.passes = 2;
  const Trace expected = RunAlone(EngineKind::kMicroShard, 19, options);
  const Trace actual = Training(EngineKind::kMicroShard, JobCommunicator(), options).Run(19);
  EXPECT_EQ(actual.losses, expected.losses);
  EXPECT_EQ(actual.values, expected.values);
  EXPECT_EQ(actual.statistics, expected.statistics);
}

TEST(MicroShardEngine, TrainsLikeOneGraphOnTheWholeBatch) {
  if (kMicroShards % JobCommunicator()->size() != 0) GTEST_SKIP() << "ranks do not divide 8";
  const Trace expected = RunAlone(EngineKind::kRank, 13);
  const Trace actual = Training(EngineKind::kMicroShard, JobCommunicator()).Run(13);
  for (int step = 0; step < kSteps; ++step) {
    EXPECT_NEAR(actual.losses[step], expected.losses[step], 1e-5);
  }
  EXPECT_LT(LargestDifference(actual.values, expected.values), kParameterTolerance);
  EXPECT_LT(LargestDifference(actual.statistics, expected.statistics), 1e-4);
}

TEST(MicroShardEngine, StopOfOneRankReachesAll) {
  Communicator* ranks = JobCommunicator();
  if (kMicroShards % ranks->size() != 0) GTEST_SKIP() << "ranks do not divide 8";
  for (EngineKind kind : {EngineKind::kRank, EngineKind::kMicroShard}) {
    Training training(kind, ranks);
    const Samples samples = SkewedSamples(8, 1);
    const RankSlice slice = SliceForRank(8, ranks->rank(), ranks->size());
    const BatchRows rows =
        SelectRows({samples.images(), samples.labels(), 8}, static_cast<int64_t>(slice.begin),
                   static_cast<int64_t>(slice.end));
    const auto outcome = training.engine()->Train(rows, ranks->rank() == ranks->size() - 1);
    ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
    EXPECT_TRUE(outcome->stop);
  }
}

// Parts that do not share their statistics come out differently: the comparisons above can fail.
TEST(BatchEngine, PartsThatDoNotShareDiffer) {
  const auto ops = CpuOps();
  const Samples samples = SkewedSamples(8, 100);
  const auto whole = NewGraph(ops.get());
  const auto part = NewGraph(ops.get());
  StepLoss(whole.get(), samples);
  const BatchRows rows = SelectRows({samples.images(), samples.labels(), 8}, 0, 4);
  ASSERT_TRUE(part->Forward(rows.images, Phase::kTraining).ok());
  const int64_t statistics = whole->parameters().statistic_elements();
  const float* expected = whole->parameters().running_statistics();
  const float* actual = part->parameters().running_statistics();
  EXPECT_GT(LargestDifference({actual, actual + statistics}, {expected, expected + statistics}),
            1e-3);
}

TEST(BatchEngine, BatchThatIsTooSmallIsRefused) {
  Communicator* ranks = JobCommunicator();
  if (kMicroShards % ranks->size() != 0) GTEST_SKIP() << "ranks do not divide 8";
  Training shards(EngineKind::kMicroShard, ranks);
  EXPECT_EQ(shards.engine()->Prepare({7, 24, 20, 3}).code(), StatusCode::kInvalidArgument);
  TrainingOptions two;
  two.passes = 2;
  Training passes(EngineKind::kMicroShard, ranks, two);
  EXPECT_EQ(passes.engine()->Prepare({15, 24, 20, 3}).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(passes.engine()->Prepare({16, 24, 20, 3}).ok());
  if (ranks->size() == 1) return;
  Training training(EngineKind::kRank, ranks);
  EXPECT_EQ(training.engine()->Prepare({ranks->size() - 1, 24, 20, 3}).code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
