// A few steps of training and an evaluation on any op table, and all that they show.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/trainer/small_training.h"

namespace shardmill {

// As if the batch had two equal parts.
class TwoEqualParts : public SharedSums {
 public:
  Status Sum(double* values, int64_t count, std::string_view) override {
    for (int64_t i = 0; i < count; ++i) values[i] *= 2;
    return OkStatus();
  }
};

// All that a few steps and an evaluation show.
struct Outcome {
  std::vector<double> losses;
  std::vector<float> values, gradients, statistics;
  std::vector<uint8_t> classes;

  bool operator==(const Outcome& other) const {
    return losses == other.losses && values == other.values && gradients == other.gradients &&
           statistics == other.statistics && classes == other.classes;
  }
};

struct Case {
  ModelSpec model;
  GraphOptions graph;
  LossOptions loss;
  bool shared = false;
};

inline Outcome Train(const Case& test, OpTable* ops, const ImageBatch& images,
                     const LabelBatch& labels) {
  const auto graph = MakeGraph(test.model, ops, test.graph);
  TwoEqualParts sums;
  Outcome outcome;
  SHARDMILL_CHECK(graph->SetLoss(test.loss).ok());
  if (test.shared) SHARDMILL_CHECK(graph->ShareBatches(&sums).ok());
  for (int step = 0; step < 3; ++step) {
    SHARDMILL_CHECK(graph->Forward(images, Phase::kTraining).ok());
    const auto loss = graph->Loss(labels);
    SHARDMILL_CHECK(loss.ok() && graph->Backward().ok());
    outcome.losses.push_back(loss->Mean());
    outcome.gradients = Gradients(graph.get());
    PlainStep(graph.get(), 0.1f);
  }
  SHARDMILL_CHECK(graph->Forward(images, Phase::kEvaluation).ok());
  outcome.classes.resize(labels.n * labels.h * labels.w);
  SHARDMILL_CHECK(graph->Predict(LabelType::kIndexU8, outcome.classes.data()).ok());
  ParameterStore& store = graph->parameters();
  outcome.values.assign(store.values(), store.values() + store.parameter_elements());
  outcome.statistics.assign(store.running_statistics(),
                            store.running_statistics() + store.statistic_elements());
  if (test.shared) SHARDMILL_CHECK(graph->ShareBatches(nullptr).ok());
  return outcome;
}

}  // namespace shardmill
