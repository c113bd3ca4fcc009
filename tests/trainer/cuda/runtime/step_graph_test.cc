#include "trainer/cuda/runtime/step_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
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

TEST(StepGraph, CaptureThatBreaksOffGoesOnEagerly) {
  Trainer trainer;
  trainer.runtime_.set_failing_launch(3);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(trainer.Run("a").ok());
  EXPECT_EQ(trainer.graph_.launched(), 0);
  EXPECT_EQ(trainer.enqueued_, 5);  // that capture too
  EXPECT_NE(trainer.graph_.note().find("this launch cannot be captured"), std::string::npos);
  EXPECT_EQ(FindMissingDependencies(trainer.runtime_.log()), std::vector<std::string>());
}

// Another rank, which says what it is told to.
class OtherRank {
 public:
  // Its answers, the last of them for all further questions. "same": what this rank says.
  OtherRank(Trainer* trainer, std::vector<std::string> answers) : answers_(std::move(answers)) {
    trainer->graph_.set_ranks(
        {[this](std::string_view message) { return Answer(message); }, [this] { ++forgotten_; }});
  }
  int forgotten() const { return forgotten_; }

 private:
  Result<std::vector<std::string>> Answer(std::string_view message) {
    const size_t at = std::min(asked_++, answers_.size() - 1);
    const std::string own(message);
    return std::vector<std::string>{own, answers_[at] == "same" ? own : answers_[at]};
  }

  std::vector<std::string> answers_;
  size_t asked_ = 0;
  int forgotten_ = 0;
};

TEST(StepGraph, RanksOfOneMindCaptureAndLaunch) {
  Trainer trainer;
  OtherRank other(&trainer, {"same"});
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(trainer.Run("a").ok());
  EXPECT_EQ(trainer.graph_.launched(), 4);
  EXPECT_EQ(other.forgotten(), 0);
}

TEST(StepGraph, RankThatCannotCaptureMakesAllOfThemEager) {
  Trainer trainer;
  // Two steps, and how the capture ended.
  OtherRank other(&trainer, {"same", "same", "not captured", "same"});
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(trainer.Run("a").ok());
  EXPECT_EQ(trainer.graph_.launched(), 0);
  EXPECT_EQ(trainer.enqueued_, 5);
  EXPECT_EQ(other.forgotten(), 1);
  EXPECT_EQ(trainer.graph_.note(),
            "the step runs without a CUDA graph: another rank could not capture it");
}

TEST(StepGraph, OwnFailureIsToldAndWhatWasBegunForgotten) {
  Trainer trainer;
  OtherRank other(&trainer, {"same", "same", "captured", "same"});
  trainer.runtime_.set_failing_launch(2);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(trainer.Run("a").ok());
  EXPECT_EQ(trainer.graph_.launched(), 0);
  EXPECT_EQ(other.forgotten(), 1);
}

// A rank whose memory has moved begins anew: nobody launches a graph meanwhile, and then all
// capture again, so that the graphs that are launched together were captured together.
TEST(StepGraph, RankThatBeginsAnewTakesTheOthersAlong) {
  Trainer trainer;
  OtherRank other(&trainer, {"same", "same", "same", "same",  // eager, captured, launched
                             "eagerly", "can be captured", "same", "same"});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(trainer.Run("a").ok());
  EXPECT_EQ(trainer.graph_.launched(), 2);
  EXPECT_EQ(trainer.enqueued_, 2);
  ASSERT_TRUE(trainer.Run("a").ok());
  EXPECT_EQ(trainer.graph_.launched(), 2);
  EXPECT_EQ(trainer.enqueued_, 3);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(trainer.Run("a").ok());
  EXPECT_EQ(trainer.enqueued_, 4);
  EXPECT_EQ(trainer.graph_.launched(), 4);
}

TEST(StepGraph, GraphsOfTwoCapturesAreNotLaunchedTogether) {
  Trainer trainer;
  OtherRank other(&trainer, {"same", "same", "same", "captured7", "same"});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(trainer.Run("a").ok());
  EXPECT_EQ(trainer.enqueued_, 3);  // captured twice
  EXPECT_EQ(trainer.graph_.launched(), 2);
}

TEST(StepGraph, LostRankEndsTheStep) {
  Trainer trainer;
  trainer.graph_.set_ranks({[](std::string_view) -> Result<std::vector<std::string>> {
                              return UnavailableError("rank 1 is gone");
                            },
                            nullptr});
  EXPECT_EQ(trainer.Run("a").message(), "rank 1 is gone");
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
