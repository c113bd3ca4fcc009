// A small U-Net with a small random batch, on the CPU backend: what tests of the graph share.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tests/trainer/random_tensor.h"
#include "trainer/graph/graph.h"
#include "trainer/models/unet.h"
#include "trainer/ops/onednn/onednn_backend.h"

namespace shardmill {

constexpr int64_t kClasses = 5;

inline std::unique_ptr<OpTable> CpuOps() {
  auto ops = CreateOnednnOps();
  SHARDMILL_CHECK(ops.ok());
  return std::move(ops).value();
}

inline ModelSpec SmallUnet(int64_t depth = 2) {
  UnetOptions options;
  options.classes = kClasses;
  options.width = 4;
  options.depth = depth;
  const auto model = UnetSpec(options);
  SHARDMILL_CHECK(model.ok());
  return *model;
}

inline std::unique_ptr<Graph> MakeGraph(const ModelSpec& model, OpTable* ops,
                                        GraphOptions options = {}) {
  auto graph = Graph::Create(model, ops, options);
  SHARDMILL_CHECK(graph.ok());
  return std::move(graph).value();
}

// Random images and labels.
struct Samples {
  explicit Samples(const Shape& images, uint64_t seed = 1)
      : shape(images),
        pixels(RandomIntegers<uint8_t>(images.Elements(), 256, seed, "images")),
        classes(RandomIntegers<uint8_t>(images.Pixels(), kClasses, seed, "labels")) {}

  ImageBatch images() const { return {pixels.data(), ImageType::kU8, shape}; }
  LabelBatch labels() const {
    if (!shares.empty()) {
      return {shares.data(), LabelType::kOneHotF32, shape.n, shape.h, shape.w, nullptr, kClasses};
    }
    return {classes.data(), LabelType::kIndexU8, shape.n, shape.h, shape.w, nullptr};
  }

  Shape shape;
  std::vector<uint8_t> pixels, classes;
  std::vector<float> shares;  // of each class; empty: the classes are the labels
};

inline GraphOptions PixelOptions() {
  GraphOptions options;
  options.seed = 1;
  options.image_mean = {120, 130, 125};
  options.image_deviation = {70, 60, 65};
  return options;
}

inline double StepLoss(Graph* graph, const Samples& samples) {
  SHARDMILL_CHECK(graph->Forward(samples.images(), Phase::kTraining).ok());
  const auto loss = graph->Loss(samples.labels());
  SHARDMILL_CHECK(loss.ok() && graph->Backward().ok());
  return loss->Mean();
}

inline std::vector<float> Gradients(Graph* graph) {
  const float* first = graph->parameters().gradients();
  return {first, first + graph->parameters().parameter_elements()};
}

// One step of plain gradient descent.
inline void PlainStep(Graph* graph, float rate) {
  ParameterStore& parameters = graph->parameters();
  for (int64_t i = 0; i < parameters.parameter_elements(); ++i) {
    parameters.values()[i] -= rate * parameters.gradients()[i];
  }
}

}  // namespace shardmill
