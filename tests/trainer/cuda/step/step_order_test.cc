// What a whole training step owes its streams: the log of several steps has no missing dependency,
// and the log with any one wait left out has.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/trainer/cuda/step/step_trial.h"
#include "trainer/comm/self_communicator.h"
#include "trainer/cuda/comm/nccl_communicator.h"
#include "trainer/cuda/runtime/dependency_check.h"

namespace shardmill {
namespace {

using Kind = RecordedStep::Kind;
using Log = std::vector<RecordedStep>;

// NCCL for two ranks that have equal parts of each batch: a sum doubles. One runtime at a time.
SimulatedRuntime* doubling = nullptr;
int place = 0;
int MakeId(char*) { return kNcclSuccess; }
int StartNccl(int, const char*, int, NcclHandle* comm) {
  *comm = &place;
  return kNcclSuccess;
}
int Double(NcclHandle, void* data, int64_t count, SumType type, StreamHandle stream) {
  const Status status = doubling->Enqueue(stream, [=] {
    for (int64_t i = 0; i < count; ++i) {
      if (type == SumType::kF32) {
        static_cast<float*>(data)[i] *= 2;
      } else {
        static_cast<double*>(data)[i] *= 2;
      }
    }
  });
  return status.ok() ? kNcclSuccess : 1;
}
int Sound(NcclHandle, int* state) {
  *state = kNcclSuccess;
  return kNcclSuccess;
}
int Nothing(NcclHandle) { return kNcclSuccess; }
int aborts = 0;
int64_t graphs_at_abort = 0;
int AbortNccl(NcclHandle) {
  ++aborts;
  graphs_at_abort = doubling->graphs_alive();
  return kNcclSuccess;
}
const char* NoText(int) { return ""; }
const char* NoWords(NcclHandle) { return ""; }
constexpr NcclTable kDoubling = {MakeId,  StartNccl, Double, Nothing, Sound,
                                 Nothing, AbortNccl, NoText, NoWords};

// A device with another rank beside it.
class SharedTrial {
 public:
  explicit SharedTrial(const StepTrial& trial, const CommunicatorOptions& options = {})
      : device(trial), bootstrap_(CreateSelfCommunicator()) {
    doubling = &device.runtime();
    const NcclCommunicator::Parts parts = {bootstrap_.get(), &device.runtime(), &kDoubling,
                                           device.ops().HandleOf(device.graph_stream())};
    nccl_ = std::move(*NcclCommunicator::Create(parts, options));
  }
  ~SharedTrial() {
    doubling = &device.runtime();  // a trial that was started later may be gone
    device.Close();
  }
  Status Start() { return device.Start(nccl_.get()); }
  Status Train(int steps) {
    RETURN_IF_ERROR(Start());
    for (int i = 0; i < steps; ++i) RETURN_IF_ERROR(device.Step(BatchOf(i), 4));
    return device.Finish();
  }
  Status FailJob() { return bootstrap_->Abort(UnavailableError("rank 1 is gone")); }

  DeviceTrial device;

 private:
  std::unique_ptr<Communicator> bootstrap_;
  std::unique_ptr<NcclCommunicator> nccl_;
};

// Names of the work of a stream, without the kernels.
std::vector<std::string> NamesOf(const Log& log) {
  std::vector<std::string> names;
  for (const RecordedStep& step : log) {
    if (step.kind == Kind::kStreamWork) {
      names.push_back(step.name + " on " + std::to_string(step.stream));
    }
  }
  return names;
}

TEST(StepOrder, WholeStepsForgetNoDependency) {
  for (int variant = 0; variant < 5; ++variant) {
    StepTrial trial;
    trial.passes = 1 + variant / 4;
    trial.capture = variant % 2 == 1;
    trial.average = 0.9;
    DeviceTrial device(trial, /*pinned_buffers=*/3 + variant / 2 % 2);
    device.Train({BatchOf(0), BatchOf(1), BatchOf(2), BatchOf(3), BatchOf(4), BatchOf(5)});
    device.Close();
    EXPECT_EQ(FindMissingDependencies(device.runtime().log()), std::vector<std::string>());
    EXPECT_TRUE(device.runtime().misuses().empty());
  }
}

// With one pass, and with passes of one row each.
void ExpectTwoRanksTrainAsOne(int passes) {
  StepTrial trial;
  trial.passes = passes;
  const auto ops = CreateHostKernelOps(trial.type, KernelOrder::kAscending);
  const TrialOutcome expected =
      TrainOnHost(trial, ops.get(), {BatchOf(0), BatchOf(1), BatchOf(2), BatchOf(3), BatchOf(4)});
  for (const bool capture : {false, true}) {
    trial.capture = capture;
    SharedTrial shared(trial);
    ASSERT_TRUE(shared.Train(5).ok());
    EXPECT_EQ(shared.device.step().graphs_launched() > 0, capture);
    const TrialOutcome& outcome = shared.device.outcome();
    ASSERT_EQ(outcome.losses.size(), expected.losses.size());
    for (size_t i = 0; i < expected.losses.size(); ++i) {
      EXPECT_NEAR(outcome.losses[i], expected.losses[i], 2e-5);
      EXPECT_NEAR(outcome.norms[i], expected.norms[i], 2e-4 * expected.norms[i]);
    }
    shared.device.Close();
    EXPECT_EQ(FindMissingDependencies(shared.device.runtime().log()), std::vector<std::string>());
  }
}

TEST(StepOrder, StepsOfTwoRanksForgetNothingAndTrainAsOne) { ExpectTwoRanksTrainAsOne(1); }
TEST(StepOrder, PassesOfTwoRanksForgetNothingAndTrainAsOne) { ExpectTwoRanksTrainAsOne(2); }

// The host asks for the outcome of a step when the next one is enqueued, and for nothing else.
TEST(StepOrder, HostWaitsForOutcomesAndCopiesAlone) {
  DeviceTrial device(StepTrial{});
  ASSERT_TRUE(device.Start().ok());
  const size_t start = device.runtime().log().size();
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(device.Step(BatchOf(i)).ok());
  const Log log(device.runtime().log().begin() + static_cast<int64_t>(start),
                device.runtime().log().end());
  int updates = 0, outcomes = 0, whole_streams = 0;
  for (const RecordedStep& step : log) {
    updates += step.name == "update" ? 1 : 0;
    // The first plans memory, and waits before it.
    whole_streams += step.kind == Kind::kHostWaitsAll && updates > 0 ? 1 : 0;
    if (step.name != "outcome of a step") continue;
    ++outcomes;
    EXPECT_EQ(updates, outcomes + 1) << "the next step was under way";
  }
  EXPECT_EQ(outcomes, 7);
  EXPECT_EQ(whole_streams, 0);
}

// Each wait of a step is needed, and the check sees it when it is missing, but for three that
// others imply: the copy into a slot, whose consumer the host has awaited; the compute stream's
// wait for the gradients, as the sum of the losses comes behind them on the same stream; and that
// sum's wait for backward, behind which the gradients' sum has waited.
TEST(StepOrder, EveryWaitThatIsLeftOutIsFound) {
  StepTrial trial;
  trial.model = SmallUnet(1);
  SharedTrial shared(trial);
  ASSERT_TRUE(shared.Train(4).ok());
  const Log log = shared.device.runtime().log();
  ASSERT_TRUE(FindMissingDependencies(log).empty());
  std::vector<size_t> updates;
  for (size_t i = 0; i < log.size(); ++i) {
    if (log[i].name == "update") updates.push_back(i);
  }
  ASSERT_EQ(updates.size(), 4u);
  int left_out = 0, implied = 0;
  Log least(log.begin(), log.begin() + static_cast<int64_t>(updates[1]));
  for (size_t i = updates[1]; i < updates[2]; ++i) {
    const bool waits = log[i].kind == Kind::kStreamWaits || log[i].kind == Kind::kHostWaits;
    if (waits) {
      ++left_out;
      Log faulty = log;
      faulty.erase(faulty.begin() + static_cast<int64_t>(i));
      if (FindMissingDependencies(faulty).empty()) {
        ++implied;
        continue;
      }
    }
    least.push_back(log[i]);
  }
  // Nothing less is enough, and the rest is.
  least.insert(least.end(), log.begin() + static_cast<int64_t>(updates[2]), log.end());
  EXPECT_TRUE(FindMissingDependencies(least).empty());
  EXPECT_GE(left_out, 20);  // most of them for the sums of batch norm
  EXPECT_LE(implied, 4);
}

TEST(StepOrder, EventThatIsRecordedTooEarlyIsFound) {
  StepTrial trial;
  DeviceTrial device(trial);
  device.Train({BatchOf(0), BatchOf(1), BatchOf(2), BatchOf(3)});
  const Log log = device.runtime().log();
  int moved = 0;
  for (size_t i = 1; i < log.size(); ++i) {
    // What was recorded behind a copy is recorded in front of it.
    if (log[i].kind != Kind::kRecordEvent || log[i - 1].kind != Kind::kStreamWork) continue;
    if (log[i - 1].name.rfind("copy to", 0) != 0) continue;
    Log faulty = log;
    std::swap(faulty[i], faulty[i - 1]);
    EXPECT_FALSE(FindMissingDependencies(faulty).empty()) << "event at step " << i;
    ++moved;
  }
  EXPECT_GE(moved, 6);
}

TEST(StepOrder, CapturedStepsDoWhatEagerStepsDo) {
  std::vector<std::vector<std::string>> names;
  for (const bool capture : {false, true}) {
    StepTrial trial;
    trial.capture = capture;
    DeviceTrial device(trial);
    ASSERT_TRUE(device.Start().ok());
    for (int i = 0; i < 6; ++i) ASSERT_TRUE(device.Step(BatchOf(i)).ok());
    EXPECT_EQ(device.runtime().graphs_launched(), capture ? 4 : 0);  // two slots, each eager once
    names.push_back(NamesOf(device.runtime().log()));
  }
  EXPECT_EQ(names[0], names[1]);
}

TEST(StepOrder, AnotherShapeIsCapturedAnewAndTheFirstStaysUnlessMemoryMoves) {
  StepTrial trial;
  const Shape small = {1, 8, 8, 3};
  std::vector<Samples> batches;
  // Large shapes first: the arena need not grow for the small one.
  for (int i = 0; i < 16; ++i) batches.push_back(i % 8 < 4 ? BatchOf(i) : BatchOf(i, small));
  const auto ops = CreateHostKernelOps(trial.type, KernelOrder::kAscending);
  const TrialOutcome expected = TrainOnHost(trial, ops.get(), batches);
  DeviceTrial device(trial);
  EXPECT_EQ(device.Train(batches).losses, expected.losses);
  // Each shape ran eagerly once per slot.
  EXPECT_EQ(device.runtime().graphs_launched(), 16 - 4);

  // From small to large the arena moves, and what was captured is forgotten.
  std::reverse(batches.begin(), batches.end());
  const TrialOutcome reversed = TrainOnHost(trial, ops.get(), batches);
  DeviceTrial growing(trial);
  EXPECT_EQ(growing.Train(batches).losses, reversed.losses);
  EXPECT_EQ(growing.runtime().graphs_launched(), 16 - 2 - 2 - 2);
}

TEST(StepOrder, WorkThatCannotBeCapturedRunsEagerly) {
  StepTrial trial;
  DeviceTrial device(trial);
  ASSERT_TRUE(device.Start().ok());
  device.runtime().set_refuse_capture(true);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(device.Step(BatchOf(i)).ok());
  ASSERT_TRUE(device.Finish().ok());
  EXPECT_EQ(device.step().graphs_launched(), 0);
  EXPECT_FALSE(device.step().note().empty());
  const auto ops = CreateHostKernelOps(trial.type, KernelOrder::kAscending);
  const TrialOutcome expected =
      TrainOnHost(trial, ops.get(), {BatchOf(0), BatchOf(1), BatchOf(2), BatchOf(3), BatchOf(4)});
  EXPECT_EQ(device.outcome().losses, expected.losses);
}

// A step that hangs is named, and the sum in it. Its graphs go before NCCL is aborted, which would
// wait for them; and the end of the program waits for nothing.
TEST(StepOrder, StepThatHangsIsNamedAndLeft) {
  for (const bool capture : {false, true}) {
    StepTrial trial;
    trial.capture = capture;
    CommunicatorOptions options;
    options.timeout_seconds = 0.05;
    options.report = [](const std::string&) {};
    SharedTrial shared(trial, options);
    ASSERT_TRUE(shared.Start().ok());
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(shared.device.Step(BatchOf(i), 4).ok());
    const SimulatedRuntime& runtime = shared.device.runtime();
    EXPECT_EQ(runtime.graphs_alive(), capture ? 2 : 0);
    shared.device.runtime().set_hanging("sum over the GPUs");
    ASSERT_TRUE(shared.device.Step(BatchOf(5), 4).ok());  // ends with the outcome of step 5
    const Status status = shared.device.Step(BatchOf(6), 4);
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
    const std::string step = capture ? " in step 7" : " in step 6";
    EXPECT_NE(status.message().find(step + " on rank 0 of 1 did not end"), std::string::npos)
        << status.message();
    EXPECT_EQ(graphs_at_abort, 0);
    shared.device.runtime().set_lost(true);
  }
}

// The ranks meet before a step, not in its sums: a rank that waits for its data takes its time.
TEST(StepOrder, RanksMeetBeforeAStepIsEnqueued) {
  for (const bool capture : {false, true}) {
    StepTrial trial;
    trial.capture = capture;
    SharedTrial shared(trial);
    ASSERT_TRUE(shared.Start().ok());
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(shared.device.Step(BatchOf(i), 4).ok());
    const auto inputs = [&] {
      const Log& log = shared.device.runtime().log();
      return std::count_if(log.begin(), log.end(),
                           [](const RecordedStep& step) { return step.name == "input"; });
    };
    const auto before = inputs();
    EXPECT_EQ(before, 2);
    EXPECT_FALSE(shared.FailJob().ok());
    EXPECT_EQ(shared.device.Step(BatchOf(2), 4).message(), "rank 1 is gone");
    EXPECT_EQ(inputs(), before);
  }
}

// NCCL would wait without end for graphs that a lost device does not let go.
TEST(StepOrder, NcclIsNotAbortedWhereGraphsCannotGo) {
  for (const bool capture : {false, true}) {
    StepTrial trial;
    trial.capture = capture;
    aborts = 0;
    {
      SharedTrial shared(trial);
      ASSERT_TRUE(shared.Start().ok());
      for (int i = 0; i < 5; ++i) ASSERT_TRUE(shared.device.Step(BatchOf(i), 4).ok());
      EXPECT_EQ(shared.device.step().graphs_launched() > 0, capture);
      shared.device.runtime().set_lost(true);
    }
    EXPECT_EQ(aborts, capture ? 0 : 1);
  }
}

// Nothing that a step owns waits for a device that is lost, or needs it to say that it is done.
TEST(StepOrder, LostDeviceDoesNotHoldTheEnd) {
  StepTrial trial;
  trial.average = 0.9;
  trial.passes = 2;
  DeviceTrial device(trial);
  ASSERT_TRUE(device.Start().ok());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(device.Step(BatchOf(i)).ok());
  device.runtime().set_lost(true);
  EXPECT_EQ(device.Step(BatchOf(5)).code(), StatusCode::kUnavailable);
  const size_t asked = device.runtime().log().size();
  device.Close();
  EXPECT_EQ(device.runtime().log().size(), asked);
}

// Wherever the capture breaks off, in backward with sums under way too: the eager steps after it
// start clean and train as if nothing had been captured.
TEST(StepOrder, CaptureThatBreaksOffLeavesNothingToTheEagerSteps) {
  StepTrial trial;
  trial.model = SmallUnet(1);
  trial.capture = false;
  SharedTrial eager(trial);
  ASSERT_TRUE(eager.Train(5).ok());
  int launches = 0;
  for (const RecordedStep& step : eager.device.runtime().log()) {
    launches += step.kind == Kind::kStreamWork ? 1 : 0;
  }
  trial.capture = true;
  for (const int failing : {1, launches / 10, launches / 7, launches / 6}) {
    SharedTrial shared(trial);
    shared.device.runtime().set_failing_launch(failing);
    const Status status = shared.Train(5);
    ASSERT_TRUE(status.ok()) << failing << ": " << status.message();
    EXPECT_EQ(shared.device.step().graphs_launched(), 0);
    EXPECT_NE(shared.device.step().note().find("this launch cannot"), std::string::npos);
    EXPECT_EQ(shared.device.outcome().losses, eager.device.outcome().losses);
    EXPECT_EQ(shared.device.outcome().values, eager.device.outcome().values);
    shared.device.Close();
    EXPECT_EQ(FindMissingDependencies(shared.device.runtime().log()), std::vector<std::string>());
  }
}

}  // namespace
}  // namespace shardmill
