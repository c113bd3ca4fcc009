#include "tests/trainer/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "tests/trainer/random_tensor.h"
#include "trainer/graph/parameters.h"
#include "trainer/layers/layer_factory.h"

namespace shardmill {
namespace {

constexpr int64_t kMaxChecksPerTensor = 60;

// One layer with its tensors in ordinary vectors.
class LayerUnderTest {
 public:
  LayerUnderTest(const LayerSpec& spec, const std::vector<Shape>& shapes, OpTable* ops,
                 const LayerCheckOptions& options)
      : shapes_(shapes), options_(options), stream_(Value(ops->CreateStream())) {
    const LayerParameters entries = DeclareParameters(spec, shapes.front().c, &parameters_);
    SHARDMILL_CHECK(parameters_.Allocate(ops, options.seed).ok());
    RandomizeParameters();
    context_ = {ops, stream_.get(), &parameters_, 0.1, 1e-5};
    layer_ = Value(PrepareLayer(spec, entries, {shapes}, &context_));
    const int64_t outputs = layer_->OutputShape().Elements();
    for (size_t i = 0; i < shapes.size(); ++i) {
      const std::string name = "input" + std::to_string(i);
      inputs_.push_back(RandomTensor<double>(shapes[i].Elements(), options.seed, name));
      earlier_.push_back(RandomTensor<double>(shapes[i].Elements(), options.seed, "d" + name));
    }
    projection_ = RandomTensor<double>(outputs, options.seed, "projection");
    output_.resize(outputs);
    state_.resize(layer_->StateBytes() / 8 + 1);
    workspace_.resize(layer_->WorkspaceBytes() / 8 + 1);
  }

  // f, with the output kept for backward.
  double Forward() {
    SHARDMILL_CHECK(layer_->Forward(Phase::kTraining, Tensors()).ok());
    double sum = 0;
    for (size_t i = 0; i < output_.size(); ++i) sum += output_[i] * projection_[i];
    return sum;
  }

  std::vector<DerivativePair> Compare() {
    Forward();
    const std::vector<std::vector<double>> dinputs = Backward();
    const std::vector<std::vector<double>> dparameters = ParameterGradients();
    std::vector<DerivativePair> pairs;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      CompareTensor("input " + std::to_string(i), inputs_[i].data(), dinputs[i], &pairs);
    }
    for (size_t i = 0; i < dparameters.size(); ++i) {
      CompareTensor(parameters_.parameters()[i].name,
                    static_cast<double*>(parameters_.value_at(static_cast<int>(i))), dparameters[i],
                    &pairs);
    }
    return pairs;
  }

 private:
  template <typename T>
  static T Value(Result<T> result) {
    SHARDMILL_CHECK(result.ok());
    return std::move(result).value();
  }

  // Scales of one and shifts of zero would hide mistakes.
  void RandomizeParameters() {
    for (size_t i = 0; i < parameters_.parameters().size(); ++i) {
      const ParameterInfo& info = parameters_.parameters()[i];
      const auto values = RandomTensor<double>(info.elements, options_.seed, "value " + info.name);
      std::copy(values.begin(), values.end(),
                static_cast<double*>(parameters_.value_at(static_cast<int>(i))));
    }
  }

  LayerTensors Tensors() {
    addresses_.clear();
    for (const auto& input : inputs_) addresses_.push_back(input.data());
    return {addresses_.data(), output_.data(), state_.data(), workspace_.data()};
  }

  // The gradients of the inputs; with kAdd, what was added to earlier content.
  std::vector<std::vector<double>> Backward() {
    const bool add = options_.mode == GradientMode::kAdd;
    std::vector<std::vector<double>> gradients = earlier_;
    std::vector<void*> dinputs;
    for (auto& gradient : gradients) dinputs.push_back(gradient.data());
    const std::vector<GradientMode> modes(inputs_.size(), options_.mode);
    std::vector<double> doutput = projection_;
    SHARDMILL_CHECK(
        layer_->Backward(Tensors(), {doutput.data(), dinputs.data(), modes.data()}).ok());
    for (size_t i = 0; i < gradients.size() && add; ++i) {
      for (size_t k = 0; k < gradients[i].size(); ++k) gradients[i][k] -= earlier_[i][k];
    }
    return gradients;
  }

  std::vector<std::vector<double>> ParameterGradients() const {
    std::vector<std::vector<double>> gradients;
    for (size_t i = 0; i < parameters_.parameters().size(); ++i) {
      const auto* first = static_cast<const double*>(parameters_.gradient_at(static_cast<int>(i)));
      gradients.emplace_back(first, first + parameters_.parameters()[i].elements);
    }
    return gradients;
  }

  void CompareTensor(const std::string& what, double* values, const std::vector<double>& analytic,
                     std::vector<DerivativePair>* pairs) {
    const int64_t elements = static_cast<int64_t>(analytic.size());
    const int64_t checks = std::min(elements, kMaxChecksPerTensor);
    for (int64_t k = 0; k < checks; ++k) {
      const int64_t at = k * elements / checks;
      const double value = values[at];
      values[at] = value + kGradientStep;
      const double above = Forward();
      values[at] = value - kGradientStep;
      const double below = Forward();
      values[at] = value;
      pairs->push_back({what + "[" + std::to_string(at) + "]", analytic[at],
                        (above - below) / (2 * kGradientStep)});
    }
  }

  std::vector<Shape> shapes_;
  LayerCheckOptions options_;
  std::unique_ptr<Stream> stream_;
  ParameterStore parameters_;
  LayerContext context_;
  std::unique_ptr<Layer> layer_;
  std::vector<std::vector<double>> inputs_, earlier_;
  std::vector<double> output_, projection_, state_, workspace_;
  std::vector<const void*> addresses_;
};

}  // namespace

std::string WorstDisagreement(const std::vector<DerivativePair>& pairs) {
  double worst = 1;  // a multiple of the tolerance
  std::string line = pairs.empty() ? "nothing was compared" : "";
  for (const DerivativePair& pair : pairs) {
    const double tolerance =
        kGradientAbsoluteTolerance + kGradientRelativeTolerance * std::abs(pair.numeric);
    const double error = std::abs(pair.analytic - pair.numeric) / tolerance;
    if (error <= worst) continue;
    worst = error;
    line = pair.what + ": backward gives " + std::to_string(pair.analytic) + ", differences give " +
           std::to_string(pair.numeric);
  }
  return line;
}

std::string CheckLayerGradients(const LayerSpec& spec, const std::vector<Shape>& inputs,
                                OpTable* ops, const LayerCheckOptions& options) {
  SHARDMILL_CHECK(ops->element_type() == ElementType::kF64);
  return WorstDisagreement(LayerUnderTest(spec, inputs, ops, options).Compare());
}

}  // namespace shardmill
