// cuDNN has a plan for every convolution of every model, in all directions and math modes, on
// each of the described devices; also for what forward does at once in training and evaluation:
// convolution, bias and ReLU, with batch norm folded in.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/trainer/cuda/dnn/device_files.h"
#include "trainer/cuda/dnn/convolution_plan_set.h"
#include "trainer/cuda/dnn/convolution_plans.h"
#include "trainer/graph/model_convolutions.h"
#include "trainer/models/model_catalog.h"

namespace shardmill {
namespace {

constexpr MathMode kModes[] = {MathMode::kBf16, MathMode::kTf32, MathMode::kF32};
constexpr ConvolutionPass kPasses[] = {ConvolutionPass::kForward, ConvolutionPass::kBackwardData,
                                       ConvolutionPass::kBackwardWeights};

// What a model is commonly trained on: CamVid, ImageNet crops, filter banks.
Shape UsualImages(ModelTask task) {
  if (task == ModelTask::kSequences) return {64, 1, 300, 24};
  return task == ModelTask::kClassIds ? Shape{64, 224, 224, 3} : Shape{8, 352, 480, 3};
}

std::vector<ModelConvolution> UsualConvolutions(const ModelEntry& entry, Phase phase,
                                                MathMode math) {
  const Shape images = UsualImages(entry.task);
  ModelSize size;
  size.input_channels = images.c;
  size.classes = 12;
  const auto spec = BuildModel(entry, size);
  SHARDMILL_CHECK(spec.ok());
  const auto convolutions = ConvolutionsOf(*spec, images, phase, ImageChannelMultiple(math));
  SHARDMILL_CHECK(convolutions.ok());
  return *convolutions;
}

// Problems by their texts, which name them for good; models share many.
using Problems = std::map<std::string, ConvolutionProblem>;

// Of forward, the bare convolution and all that it does at once. Padded images have no gradient;
// weight gradients of f32 are more than can be asked for.
void AddProblems(const ConvolutionShape& shape, MathMode math, bool deterministic,
                 Problems* problems) {
  const auto add = [&](ConvolutionProblem problem) {
    problem.wide_gradient = false;
    problems->emplace(ProblemText(problem), problem);
  };
  for (const ConvolutionPass pass : kPasses) {
    if (pass == ConvolutionPass::kBackwardData && shape.zero_channels > 0) continue;
    add(ProblemOf(shape, pass, math, deterministic));
  }
  add(ForwardProblems(shape, math, deterministic).front());
}

Problems ProblemsOfAllModels(bool deterministic) {
  Problems problems;
  for (const ModelEntry& entry : ModelCatalog()) {
    for (const Phase phase : {Phase::kTraining, Phase::kEvaluation}) {
      for (const MathMode math : kModes) {
        for (const ModelConvolution& convolution : UsualConvolutions(entry, phase, math)) {
          AddProblems(convolution.shape, math, deterministic, &problems);
        }
      }
    }
  }
  return problems;
}

class ModelPlans : public testing::TestWithParam<const char*> {};

TEST_P(ModelPlans, EveryConvolutionOfEveryModelHasAPlan) {
  ConvolutionPlans plans(DescribedDevice(GetParam()), nullptr);
  const auto problems = ProblemsOfAllModels(/*deterministic=*/false);
  for (const auto& [text, problem] : problems) {
    const auto plan = plans.Find(problem);
    EXPECT_TRUE(plan.ok()) << plan.status().ToString();
  }
  EXPECT_EQ(plans.counts().built, static_cast<int64_t>(problems.size()));
  const auto ends = std::count_if(problems.begin(), problems.end(), [](const auto& entry) {
    return entry.second.bias && entry.second.activation != Activation::kNone;
  });
  EXPECT_GE(ends, 100);
}

INSTANTIATE_TEST_SUITE_P(Devices, ModelPlans, testing::Values("a100", "h100", "h200"),
                         [](const auto& device) { return std::string(device.param); });

// Once, to save time: the engines of the three devices are the same families.
TEST(DeterministicModelPlans, EveryConvolutionHasOne) {
  ConvolutionPlans plans(DescribedDevice("h200"), nullptr);
  for (const auto& [text, problem] : ProblemsOfAllModels(/*deterministic=*/true)) {
    const auto plan = plans.Find(problem);
    EXPECT_TRUE(plan.ok()) << plan.status().ToString();
  }
}

}  // namespace
}  // namespace shardmill
