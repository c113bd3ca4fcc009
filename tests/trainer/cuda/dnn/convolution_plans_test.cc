#include "trainer/cuda/dnn/convolution_plans.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/trainer/cuda/dnn/device_files.h"
#include "tests/trainer/cuda/dnn/odd_convolutions.h"
#include "trainer/cuda/dnn/convolution_plan_set.h"
#include "trainer/cuda/dnn/plan_runner.h"

namespace shardmill {
namespace {

ConvolutionShape Example() {
  ConvolutionShape shape;
  shape.input = {4, 33, 48, 16};
  shape.out_channels = 24;
  shape.window = SquareWindow(3, 2, 1);
  return shape;
}

ConvolutionProblem Problem(const ConvolutionShape& shape,
                           ConvolutionPass pass = ConvolutionPass::kForward,
                           MathMode math = MathMode::kBf16) {
  return ProblemOf(shape, pass, math, /*deterministic=*/false);
}

// What all of cuDNN's versions have.
ConvolutionProblem NarrowProblem(ConvolutionPass pass) {
  ConvolutionProblem problem = Problem(Example(), pass);
  problem.wide_gradient = false;
  return problem;
}

Status BuildWith(const ConvolutionProblem& problem, const ConvolutionTensors& tensors,
                 const DeviceDescription& device) {
  auto graph = ConvolutionGraph::Create(problem, tensors);
  RETURN_IF_ERROR(graph.status());
  const PlanNeeds needs = {problem.math, problem.deterministic, kMostDnnWorkspaceBytes};
  return ExecutionPlan::Build(*graph, needs, device).status();
}

TEST(ConvolutionPlans, WrongSizesAndStridesHaveNoPlan) {
  const DeviceDescription device = DescribedDevice("h200");
  for (const ConvolutionPass pass : {ConvolutionPass::kForward, ConvolutionPass::kBackwardData,
                                     ConvolutionPass::kBackwardWeights}) {
    const ConvolutionProblem problem = NarrowProblem(pass);
    const ConvolutionTensors right = TensorsOf(problem);
    ASSERT_TRUE(BuildWith(problem, right, device).ok());

    ConvolutionTensors wrong = right;
    wrong.small.sizes[2] += 1;  // a row too many
    EXPECT_FALSE(BuildWith(problem, wrong, device).ok()) << PassName(pass);
    wrong = right;
    wrong.weights.sizes[1] *= 2;  // more channels than the large grid has
    EXPECT_FALSE(BuildWith(problem, wrong, device).ok()) << PassName(pass);
    wrong = right;
    wrong.large.strides[1] = 2;  // channels overlap the pixels
    EXPECT_FALSE(BuildWith(problem, wrong, device).ok()) << PassName(pass);
    wrong = right;
    wrong.small.strides = {0, 0, 0, 0};
    EXPECT_FALSE(BuildWith(problem, wrong, device).ok()) << PassName(pass);
    wrong = right;
    std::swap(wrong.weights.strides[1], wrong.weights.strides[3]);  // not the order of memory
    EXPECT_FALSE(BuildWith(problem, wrong, device).ok()) << PassName(pass);
  }
}

TEST(ConvolutionPlans, OddConvolutionsHavePlans) {
  for (const char* const name : {"a100", "h100", "h200"}) {
    ConvolutionPlans plans(DescribedDevice(name), nullptr);
    for (const OddConvolution& odd : OddConvolutions()) {
      for (const MathMode math : {MathMode::kBf16, MathMode::kTf32, MathMode::kF32}) {
        const auto set = ConvolutionPlanSet::Find(odd.shape, math, false, &plans);
        ASSERT_TRUE(set.ok()) << odd.name << ": " << set.status().ToString();
        EXPECT_LE(set->plans[0]->workspace_bytes(), set->workspace_bytes);
      }
    }
  }
}

// cuDNN copies three channels to eight by itself, in each pass and into its workspace.
TEST(ConvolutionPlans, PaddedImagesOfBf16AreNotCopiedAgain) {
  for (const char* const name : {"a100", "h100", "h200"}) {
    ConvolutionPlans plans(DescribedDevice(name), nullptr);
    ConvolutionShape bare = {{8, 352, 480, 3}, 64, SquareWindow(3, 1, 1)};
    ConvolutionShape padded = bare;
    padded.input.c = ImageChannelMultiple(MathMode::kBf16);
    padded.zero_channels = padded.input.c - bare.input.c;
    const auto without = ConvolutionPlanSet::Find(bare, MathMode::kBf16, false, &plans);
    const auto with = ConvolutionPlanSet::Find(padded, MathMode::kBf16, false, &plans);
    ASSERT_TRUE(without.ok() && with.ok());
    EXPECT_GE(without->plans[0]->workspace_bytes(), padded.input.Elements() * 2) << name;
    EXPECT_EQ(with->plans[0]->workspace_bytes(), 0) << name;
    EXPECT_EQ(with->plans[1], nullptr) << "images have no gradient";
    EXPECT_NE(with->plans[2], nullptr);
    EXPECT_GE(with->workspace_bytes, with->plans[2]->workspace_bytes());
  }
}

// What cuDNN has no plan for in f32 is rounded to bf16, and the set says which of the two it is.
TEST(ConvolutionPlans, WeightGradientsOfBf16AreInF32WhereCudnnHasSuchAPlan) {
  for (const char* const name : {"a100", "h100", "h200"}) {
    ConvolutionPlans plans(DescribedDevice(name), nullptr);
    const auto wide = plans.Find(Problem(Example(), ConvolutionPass::kBackwardWeights));
    const auto set = ConvolutionPlanSet::Find(Example(), MathMode::kBf16, false, &plans);
    ASSERT_TRUE(set.ok()) << set.status().ToString();
    EXPECT_EQ(set->RoundsGradient(), !wide.ok()) << name;
    const auto exact = ConvolutionPlanSet::Find(Example(), MathMode::kTf32, false, &plans);
    ASSERT_TRUE(exact.ok());
    EXPECT_FALSE(exact->RoundsGradient());
  }
}

TEST(ConvolutionPlans, BiasAndActivationAreFused) {
  ConvolutionPlans plans(DescribedDevice("h200"), nullptr);
  for (const MathMode math : {MathMode::kBf16, MathMode::kTf32, MathMode::kF32}) {
    ConvolutionProblem problem = Problem(Example(), ConvolutionPass::kForward, math);
    problem.bias = true;
    for (const Activation activation : {Activation::kNone, Activation::kRelu, Activation::kRelu6}) {
      problem.activation = activation;
      const auto plan = plans.Find(problem);
      EXPECT_TRUE(plan.ok()) << plan.status().ToString();
    }
  }
}

// As cuDNN answers for all while one of its libraries cannot be opened.
ConvolutionProblem WithoutPlan() {
  ConvolutionProblem problem = Problem(Example());
  problem.small.h += 1;  // no window makes that
  return problem;
}

TEST(ConvolutionPlans, NoPlanIsKeptOnlyBesideAPlanOfALesserProblem) {
  PlanCache cache;
  int taken = -1;
  ConvolutionPlans plans(DescribedDevice("h200"), &cache);
  const auto none = plans.FindFirst({WithoutPlan()}, &taken);
  EXPECT_EQ(none.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(cache.size(), 0);
  ASSERT_TRUE(plans.FindFirst({WithoutPlan(), Problem(Example())}, &taken).ok());
  EXPECT_EQ(taken, 1);
  const PlanKey key = {plans.device_name(), DnnLibraryName(), ProblemText(WithoutPlan())};
  ASSERT_NE(cache.Find(key), nullptr);
  EXPECT_EQ(cache.Find(key)->json, "");
  ConvolutionPlans next(DescribedDevice("h200"), &cache);
  ASSERT_TRUE(next.FindFirst({WithoutPlan(), Problem(Example())}, &taken).ok());
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(next.counts().built, 0);
  EXPECT_EQ(next.counts().loaded, 2);
}

TEST(DnnStatus, WhatTheMachineLacksIsNoRefusal) {
  const auto code = [](cudnnStatus_t status) { return DnnStatus(status, "run").code(); };
  EXPECT_EQ(code(CUDNN_STATUS_SUCCESS), StatusCode::kOk);
  for (const cudnnStatus_t status :
       {CUDNN_STATUS_BAD_PARAM, CUDNN_STATUS_NOT_SUPPORTED,
        CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH}) {
    EXPECT_EQ(code(status), StatusCode::kInvalidArgument) << status;
  }
  for (const cudnnStatus_t status :
       {CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED, CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER,
        CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE,
        CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, CUDNN_STATUS_EXECUTION_FAILED}) {
    EXPECT_EQ(code(status), StatusCode::kUnavailable) << status;
  }
}

TEST(FaultOf, LackOfMemoryAndALostDeviceAreNotThePlans) {
  EXPECT_EQ(FaultOf(CUDNN_STATUS_NOT_SUPPORTED, cudaSuccess, cudaSuccess), PlanFault::kPlan);
  EXPECT_EQ(FaultOf(CUDNN_STATUS_EXECUTION_FAILED_CUDART, cudaErrorInvalidConfiguration,
                    cudaErrorNotReady),
            PlanFault::kPlan);
  EXPECT_EQ(FaultOf(CUDNN_STATUS_EXECUTION_FAILED, cudaSuccess, cudaErrorIllegalAddress),
            PlanFault::kDevice);
  for (const cudnnStatus_t code : {CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED,
                                   CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED}) {
    EXPECT_EQ(FaultOf(code, cudaSuccess, cudaErrorNotReady), PlanFault::kMemory);
    EXPECT_EQ(FaultOf(code, cudaSuccess, cudaErrorIllegalAddress), PlanFault::kDevice);
  }
  // As where a kernel is loaded when it is first launched.
  EXPECT_EQ(FaultOf(CUDNN_STATUS_EXECUTION_FAILED_CUDART, cudaErrorMemoryAllocation, cudaSuccess),
            PlanFault::kMemory);
}

ConvolutionShape ExampleWithEnd() {
  ConvolutionShape shape = Example();
  shape.bias = true;
  shape.activation = Activation::kRelu;
  return shape;
}

TEST(ConvolutionPlanSet, ForwardDoesAsMuchAtOnceAsThereIsAPlanFor) {
  ConvolutionPlans plans(DescribedDevice("h200"), nullptr);
  ConvolutionShape shape = ExampleWithEnd();
  shape.forward_only = true;
  auto set = ConvolutionPlanSet::Find(shape, MathMode::kBf16, false, &plans);
  ASSERT_TRUE(set.ok()) << set.status().ToString();
  EXPECT_TRUE(set->AddsBias() && set->Activates());
  EXPECT_NE(set->plans[0], nullptr);
  EXPECT_EQ(set->plans[1], nullptr);
  EXPECT_EQ(set->plans[2], nullptr);
  EXPECT_EQ(plans.counts().built, 1);
  // The large grid is written by plans that end with the convolution.
  shape.transposed = true;
  set = ConvolutionPlanSet::Find(shape, MathMode::kBf16, false, &plans);
  ASSERT_TRUE(set.ok()) << set.status().ToString();
  EXPECT_FALSE(set->AddsBias() || set->Activates());
}

TEST(ConvolutionPlanSet, ForwardProblemsEndInTheBareConvolution) {
  const auto problems = ForwardProblems(ExampleWithEnd(), MathMode::kF32, false);
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_TRUE(problems[0].bias && problems[0].activation == Activation::kRelu);
  EXPECT_TRUE(problems[1].bias && problems[1].activation == Activation::kNone);
  EXPECT_TRUE(!problems[2].bias && problems[2].activation == Activation::kNone);
  EXPECT_EQ(ForwardProblems(Example(), MathMode::kF32, false).size(), 1u);
}

TEST(ConvolutionPlanSet, PlansThatFailGiveWayUntilNoneIsLeft) {
  PlanCache cache;
  ConvolutionPlans plans(DescribedDevice("h200"), &cache);
  auto set = ConvolutionPlanSet::Find(ExampleWithEnd(), MathMode::kBf16, false, &plans);
  ASSERT_TRUE(set.ok()) << set.status().ToString();
  const int64_t workspace_bytes = set->workspace_bytes;
  std::set<std::string> tried;
  bool ended_apart = false;
  int replaced = 0;
  for (;; ++replaced) {
    ASSERT_LT(replaced, 500);
    const std::string name = ProblemText(set->problems[0]) + set->plans[0]->name();
    EXPECT_TRUE(tried.insert(name).second) << "tried again: " << name;
    EXPECT_LE(set->plans[0]->workspace_bytes(), workspace_bytes);
    if (!set->Replace(ConvolutionPass::kForward, &plans).ok()) break;
    ended_apart |= !set->AddsBias() && !set->Activates();
  }
  EXPECT_GT(replaced, 2);
  EXPECT_TRUE(ended_apart);
  EXPECT_EQ(plans.counts().failed, replaced + 1);
  EXPECT_EQ(set->workspace_bytes, workspace_bytes);
  // Nothing of it is kept for the next start, which may try it all again.
  for (const ConvolutionProblem& problem :
       ForwardProblems(ExampleWithEnd(), MathMode::kBf16, false)) {
    const PlanKey key = {plans.device_name(), DnnLibraryName(), ProblemText(problem)};
    EXPECT_EQ(cache.Find(key), nullptr) << key.problem;
  }
  EXPECT_FALSE(ConvolutionPlanSet::Find(ExampleWithEnd(), MathMode::kBf16, false, &plans).ok());
  // The gradients', and that those of the weights have no plan in f32.
  EXPECT_EQ(cache.size(), set->RoundsGradient() ? 3 : 2);
}

// Two layers of one shape share the plan that fails.
TEST(ConvolutionPlanSet, SecondLayerTakesWhatReplacedThePlanOfTheFirst) {
  ConvolutionPlans plans(DescribedDevice("h200"), nullptr);
  auto first = ConvolutionPlanSet::Find(Example(), MathMode::kBf16, false, &plans);
  auto second = ConvolutionPlanSet::Find(Example(), MathMode::kBf16, false, &plans);
  ASSERT_TRUE(first.ok() && second.ok());
  const ExecutionPlan* const failed = first->plans[2];
  EXPECT_EQ(second->plans[2], failed);
  ASSERT_TRUE(first->Replace(ConvolutionPass::kBackwardWeights, &plans).ok());
  const int64_t built = plans.counts().built;
  ASSERT_TRUE(second->Replace(ConvolutionPass::kBackwardWeights, &plans).ok());
  EXPECT_NE(first->plans[2], failed);
  EXPECT_EQ(second->plans[2], first->plans[2]);
  EXPECT_EQ(plans.counts().built, built);
  EXPECT_EQ(plans.counts().failed, 1);
}

TEST(ConvolutionPlanSet, NextStartBeginsWithThePlanThatReplacedAFailedOne) {
  const std::string path = JoinPath(testing::TempDir(), "replaced.plans");
  std::remove(path.c_str());
  std::string failed, next, note;
  {
    auto cache = PlanCache::Open(path, &note);
    ConvolutionPlans plans(DescribedDevice("h200"), &*cache);
    ASSERT_TRUE(ConvolutionPlanSet::Find(Example(), MathMode::kBf16, false, &plans).ok());
    ASSERT_TRUE(cache->Save().ok());
  }
  {
    // The plan comes from the file, and fails.
    auto cache = PlanCache::Open(path, &note);
    ConvolutionPlans plans(DescribedDevice("h200"), &*cache);
    auto set = ConvolutionPlanSet::Find(Example(), MathMode::kBf16, false, &plans);
    ASSERT_TRUE(set.ok());
    EXPECT_EQ(plans.counts().built, 0);
    failed = set->plans[0]->name();
    ASSERT_TRUE(set->Replace(ConvolutionPass::kForward, &plans).ok());
    next = set->plans[0]->name();
    ASSERT_TRUE(cache->Save().ok());
  }
  EXPECT_NE(next, failed);
  auto cache = PlanCache::Open(path, &note);
  ConvolutionPlans plans(DescribedDevice("h200"), &*cache);
  const auto set = ConvolutionPlanSet::Find(Example(), MathMode::kBf16, false, &plans);
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(set->plans[0]->name(), next);
  EXPECT_EQ(plans.counts().built, 0);
}

TEST(ConvolutionPlans, SecondStartBuildsNothing) {
  const std::string path = JoinPath(testing::TempDir(), "second_start.plans");
  std::remove(path.c_str());
  std::vector<ConvolutionProblem> problems;
  for (const ConvolutionPass pass : {ConvolutionPass::kForward, ConvolutionPass::kBackwardData,
                                     ConvolutionPass::kBackwardWeights}) {
    problems.push_back(NarrowProblem(pass));
  }
  std::vector<int64_t> workspaces[2];
  PlanCounts counts[2];
  for (int start = 0; start < 2; ++start) {
    std::string note;
    auto cache = PlanCache::Open(path, &note);
    ASSERT_TRUE(cache.ok());
    EXPECT_EQ(note, "");
    ConvolutionPlans plans(DescribedDevice("h200"), &*cache);
    for (int repetition = 0; repetition < 2; ++repetition) {
      for (const ConvolutionProblem& problem : problems) {
        const auto plan = plans.Find(problem);
        ASSERT_TRUE(plan.ok()) << plan.status().ToString();
        workspaces[start].push_back((*plan)->workspace_bytes());
      }
    }
    counts[start] = plans.counts();
    ASSERT_TRUE(cache->Save().ok());
  }
  EXPECT_EQ(counts[0].built, 3);
  EXPECT_EQ(counts[0].loaded, 0);
  EXPECT_EQ(counts[1].built, 0);
  EXPECT_EQ(counts[1].loaded, 3);
  EXPECT_EQ(workspaces[0], workspaces[1]);
}

TEST(ConvolutionPlans, CachedTextThatCudnnRefusesIsBuiltAnew) {
  const DeviceDescription device = DescribedDevice("h200");
  const ConvolutionProblem problem = Problem(Example());
  PlanCache cache;
  const PlanKey key = {device.name(), DnnLibraryName(), ProblemText(problem)};
  cache.Put(key, {"{\"not\": \"a plan\"}", 0});
  ConvolutionPlans plans(DescribedDevice("h200"), &cache);
  EXPECT_TRUE(plans.Find(problem).ok());
  EXPECT_EQ(plans.counts().refused, 1);
  EXPECT_EQ(plans.counts().built, 1);
  EXPECT_NE(cache.Find(key)->json, "{\"not\": \"a plan\"}");
}

TEST(ConvolutionPlans, PlanOfAnotherDeviceIsNotTaken) {
  PlanCache cache;
  ConvolutionPlans first(DescribedDevice("h200"), &cache), second(DescribedDevice("a100"), &cache);
  ASSERT_TRUE(first.Find(Problem(Example())).ok());
  ASSERT_TRUE(second.Find(Problem(Example())).ok());
  EXPECT_EQ(second.counts().built, 1);
  EXPECT_EQ(cache.size(), 2);
}

// The addresses are not looked at before the plan runs.
TEST(PlanRunner, AddressesAreDescribedWithAndWithoutBias) {
  int place = 0;
  ConvolutionAddresses addresses = {&place, &place, &place, nullptr, &place};
  EXPECT_TRUE(DescribeAddresses(addresses).ok());
  addresses.bias = &place;
  EXPECT_TRUE(DescribeAddresses(addresses).ok());
}

TEST(NotesMeet, DeterministicAndF32RefuseWhatWouldBreakThem) {
  const std::vector<int> nondeterministic = {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC};
  EXPECT_TRUE(NotesMeet({MathMode::kF32, false, 0}, nondeterministic));
  EXPECT_FALSE(NotesMeet({MathMode::kF32, true, 0}, nondeterministic));
  for (const int note : {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS,
                         CUDNN_NUMERICAL_NOTE_WINOGRAD, CUDNN_NUMERICAL_NOTE_FFT}) {
    EXPECT_FALSE(NotesMeet({MathMode::kF32, false, 0}, {note}));
    EXPECT_TRUE(NotesMeet({MathMode::kTf32, false, 0}, {note}));
  }
  EXPECT_FALSE(
      NotesMeet({MathMode::kBf16, false, 0}, {CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION}));
  EXPECT_TRUE(NotesMeet({MathMode::kF32, true, 0}, {}));
}

TEST(DeviceDescription, NamesWhatPlansDependOn) {
  EXPECT_EQ(DescribedDevice("h200").name(), "NVIDIA H200, sm_90, 132 multiprocessors");
  EXPECT_EQ(DescribedDevice("a100").name(), "NVIDIA A100-SXM4-80GB, sm_80, 108 multiprocessors");
}

TEST(DeviceDescription, TextThatDescribesNoDeviceIsInvalidArgument) {
  const std::string sound = DeviceJson("h200");
  const auto code = [](const std::string& json) {
    return DeviceDescription::FromJson(json).status().code();
  };
  EXPECT_EQ(code(""), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("[]"), StatusCode::kInvalidArgument);
  EXPECT_EQ(code("{}"), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(sound.substr(0, sound.size() / 2)), StatusCode::kInvalidArgument);
  for (const char* const field : {"deviceName", "multiProcessorCount", "regsPerBlock"}) {
    std::string changed = sound;
    changed.replace(changed.find(field), 3, "xxx");
    EXPECT_EQ(code(changed), StatusCode::kInvalidArgument) << field;
  }
  std::string negative = sound;
  negative.replace(negative.find("132,"), 3, "-32");
  EXPECT_EQ(code(negative), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
