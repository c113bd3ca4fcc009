#include "trainer/cuda/runtime/step_graph.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trainer/cuda/runtime/dependency_check.h"
#include "trainer/cuda/runtime/recording_runtime.h"

namespace shardmill {
namespace {

// A step with a fork: gradients are reduced on a second stream while backward goes on.
class Trainer {
 public:
  Trainer() {
    compute_ = *runtime_.CreateStream();
    communication_ = *runtime_.CreateStream();
    made_ = *runtime_.CreateEvent();
    reduced_ = *runtime_.CreateEvent();
    weights_ = static_cast<char*>(*runtime_.AllocateDevice(64));
    gradients_ = static_cast<char*>(*runtime_.AllocateDevice(64));
    EXPECT_TRUE(runtime_.SetZero(compute_, 64, weights_).ok());
  }

  Status Step(StreamHandle stream) {
    ++enqueued_;
    RETURN_IF_ERROR(runtime_.Launch(
        stream, {"backward 2", {{weights_, 64}}, {{gradients_ + 32, 32}}}, nullptr));
    RETURN_IF_ERROR(runtime_.RecordEvent(made_, stream));
    RETURN_IF_ERROR(runtime_.WaitEvent(communication_, made_));
    RETURN_IF_ERROR(runtime_.Launch(
        communication_, {"reduce", {{gradients_ + 32, 32}}, {{gradients_ + 32, 32}}}, nullptr));
    RETURN_IF_ERROR(
        runtime_.Launch(stream, {"backward 1", {{weights_, 64}}, {{gradients_, 32}}}, nullptr));
    RETURN_IF_ERROR(runtime_.RecordEvent(reduced_, communication_));
    RETURN_IF_ERROR(runtime_.WaitEvent(stream, reduced_));
    return runtime_.Launch(stream, {"update", {{gradients_, 64}}, {{weights_, 64}}}, nullptr);
  }

  Status Run(const std::string& key) {
    return graph_.Run(key, compute_, [this](StreamHandle stream) { return Step(stream); });
  }

  std::vector<std::string> Work() const {
    std::vector<std::string> names;
    for (const RecordedStep& step : runtime_.log()) {
      if (step.kind == RecordedStep::Kind::kStreamWork) names.push_back(step.name);
    }
    return names;
  }

  RecordingRuntime runtime_;
  StepGraph graph_{&runtime_};
  StreamHandle compute_ = nullptr, communication_ = nullptr;
  EventHandle made_ = nullptr, reduced_ = nullptr;
  char* weights_ = nullptr;
  char* gradients_ = nullptr;
  int enqueued_ = 0;
};

TEST(StepGraph, CapturedStepsDoTheWorkOfEagerOnes) {
  Trainer captured, eager;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(captured.Run("8 × 32 × 32").ok());
    ASSERT_TRUE(eager.Step(eager.compute_).ok());
  }
  EXPECT_EQ(captured.Work(), eager.Work());
  EXPECT_EQ(captured.enqueued_, 2);  // once eagerly, once to capture
  EXPECT_EQ(captured.graph_.launched(), 4);
  EXPECT_EQ(captured.runtime_.graphs_launched(), 4);
  EXPECT_EQ(FindMissingDependencies(captured.runtime_.log()), std::vector<std::string>());
  EXPECT_TRUE(captured.runtime_.misuses().empty());
}

TEST(StepGraph, OtherShapesAreCapturedApart) {
  Trainer trainer;
  for (const char* const key : {"a", "a", "a", "b", "b", "b", "a"}) {
    ASSERT_TRUE(trainer.Run(key).ok());
  }
  EXPECT_EQ(trainer.enqueued_, 4);
  EXPECT_EQ(trainer.graph_.launched(), 5);
  ASSERT_TRUE(trainer.graph_.Forget().ok());
  ASSERT_TRUE(trainer.Run("a").ok());
  EXPECT_EQ(trainer.enqueued_, 5);
}

TEST(StepGraph, StepThatCannotBeCapturedGoesOnEagerly) {
  Trainer trainer;
  trainer.runtime_.set_refuse_capture(true);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(trainer.Run("a").ok());
  EXPECT_EQ(trainer.enqueued_, 4);
  EXPECT_EQ(trainer.graph_.launched(), 0);
  EXPECT_NE(trainer.graph_.note().find("without a CUDA graph"), std::string::npos);
}

TEST(StepGraph, ErrorOfAStepIsReturned) {
  RecordingRuntime runtime;
  StepGraph graph(&runtime);
  const StreamHandle stream = *runtime.CreateStream();
  const auto fail = [](StreamHandle) { return InternalError("broken"); };
  EXPECT_EQ(graph.Run("a", stream, fail).message(), "broken");
  const auto work = [](StreamHandle) { return OkStatus(); };
  ASSERT_TRUE(graph.Run("a", stream, work).ok());
  EXPECT_EQ(graph.Run("a", stream, fail).message(), "broken");
}

TEST(RecordingRuntime, SynchronizingAndAllocatingWhileCapturingAreMisuses) {
  RecordingRuntime runtime;
  StepGraph graph(&runtime);
  const StreamHandle stream = *runtime.CreateStream();
  const auto step = [&](StreamHandle on) {
    RETURN_IF_ERROR(runtime.AllocateDevice(4).status());
    return runtime.SynchronizeStream(on);
  };
  ASSERT_TRUE(graph.Run("a", stream, step).ok());
  EXPECT_TRUE(runtime.misuses().empty());
  ASSERT_TRUE(graph.Run("a", stream, step).ok());
  EXPECT_EQ(runtime.misuses(), (std::vector<std::string>{"allocates while capturing",
                                                         "synchronizes while capturing"}));
}

}  // namespace
}  // namespace shardmill
