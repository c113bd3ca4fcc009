// What the communicator makes of NCCL's answers, which the test gives; and the order of sums and
// computation, which the recorder sees. Sums themselves need GPUs.
#include "trainer/cuda/comm/nccl_communicator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/trainer/cuda/comm/running_runtime.h"
#include "trainer/comm/gradient_buckets.h"
#include "trainer/comm/self_communicator.h"
#include "trainer/cuda/comm/devices_apart.h"
#include "trainer/cuda/runtime/dependency_check.h"

namespace shardmill {
namespace {

constexpr int kUnhandledCudaError = 1;

struct SumCall {
  void* data;
  int64_t count;
  SumType type;
  StreamHandle stream;
};

// NCCL's side of the conversation. One at a time.
struct Answers {
  int start = kNcclInProgress;
  int polls_until_done = 3;  // -1: never done
  int failure = kNcclSuccess;
  int sum = kNcclSuccess;
  std::vector<std::string> calls;  // but for sums
  std::vector<SumCall> sums;
} answers;
int connected = 0;  // a place to point at

int MakeId(char* id) {
  answers.calls.push_back("id");
  id[0] = 'x';
  return kNcclSuccess;
}
int Start(int, const char*, int, NcclHandle* comm) {
  answers.calls.push_back("start");
  *comm = &connected;
  return answers.start;
}
int Sum(NcclHandle, void* data, int64_t count, SumType type, StreamHandle stream) {
  answers.sums.push_back({data, count, type, stream});
  return answers.sum;
}
int Finalize(NcclHandle) {
  answers.calls.push_back("finalize");
  return kNcclInProgress;
}
int State(NcclHandle, int* state) {
  *state = answers.failure;
  if (answers.failure != kNcclSuccess) return kNcclSuccess;
  const bool waits = answers.polls_until_done != 0;
  if (waits && answers.polls_until_done > 0) --answers.polls_until_done;
  *state = waits ? kNcclInProgress : kNcclSuccess;
  return kNcclSuccess;
}
int Destroy(NcclHandle) {
  answers.calls.push_back("destroy");
  return kNcclSuccess;
}
int AbortCall(NcclHandle) {
  answers.calls.push_back("abort");
  return kNcclSuccess;
}
const char* ErrorText(int) { return "unhandled cuda error"; }
const char* LastWords(NcclHandle) { return "last words"; }
constexpr NcclTable kScript = {MakeId,  Start,     Sum,       Finalize, State,
                               Destroy, AbortCall, ErrorText, LastWords};

// For what never comes; what comes must not be missed on a busy machine.
constexpr double kSoon = 0.05;

class NcclCommunicatorTest : public testing::Test {
 protected:
  NcclCommunicatorTest() : bootstrap_(CreateSelfCommunicator()) {
    answers = Answers();
    compute_ = *runtime_.CreateStream();
  }
  Result<std::unique_ptr<NcclCommunicator>> Create() {
    return NcclCommunicator::Create({bootstrap_.get(), &runtime_, &kScript, compute_}, options_);
  }
  using Calls = std::vector<std::string>;

  RunningRuntime runtime_;
  std::unique_ptr<Communicator> bootstrap_;
  CommunicatorOptions options_;
  StreamHandle compute_ = nullptr;
};

TEST_F(NcclCommunicatorTest, ConnectsWithoutBlockingAndLeavesInOrder) {
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok()) << nccl.status().ToString();
  answers.polls_until_done = 2;
  EXPECT_TRUE((*nccl)->Close().ok());
  nccl->reset();
  EXPECT_EQ(answers.calls, (Calls{"id", "start", "finalize", "destroy"}));
}

TEST_F(NcclCommunicatorTest, ConnectingThatDoesNotEndIsAbortedAtTheDeadline) {
  options_.timeout_seconds = kSoon;
  answers.polls_until_done = -1;
  const auto nccl = Create();
  EXPECT_EQ(nccl.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(nccl.status().message().find("connecting the GPUs on rank 0 of 1 did not end within"),
            std::string::npos)
      << nccl.status().message();
  EXPECT_EQ(answers.calls, (Calls{"id", "start", "abort"}));
  EXPECT_FALSE(bootstrap_->failure().ok());
}

TEST_F(NcclCommunicatorTest, AsynchronousErrorAbortsOnceAndStays) {
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  EXPECT_TRUE((*nccl)->Progress().ok());
  answers.failure = kUnhandledCudaError;
  const Status status = (*nccl)->Progress();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("unhandled cuda error (last words)"), std::string::npos);
  EXPECT_EQ((*nccl)->Progress().message(), status.message());
  float value = 0;
  EXPECT_EQ((*nccl)->StartSum(&value, 1, SumType::kF32, "late").status().message(),
            status.message());
  EXPECT_EQ((*nccl)->Close().message(), status.message());
  nccl->reset();
  EXPECT_EQ(answers.calls, (Calls{"id", "start", "abort"}));
}

TEST_F(NcclCommunicatorTest, SumThatTheOthersDoNotComeToIsAbortedAtTheDeadline) {
  options_.timeout_seconds = kSoon;
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  const EventHandle event = *runtime_.CreateEvent();
  EXPECT_TRUE((*nccl)->AwaitDevice(event, "the step").ok());
  runtime_.set_pending(true);
  runtime_.set_done(compute_);
  float value = 0;
  ASSERT_TRUE((*nccl)->StartSum(&value, 1, SumType::kF32, "the sum").ok());
  const std::string message((*nccl)->AwaitDevice(event, "the step").message());
  EXPECT_NE(message.find("the sum on rank 0 of 1 did not end"), std::string::npos) << message;
  EXPECT_NE(message.find("(--rank-timeout 0)"), std::string::npos) << message;
  EXPECT_EQ(answers.calls, (Calls{"id", "start", "abort"}));
}

// The deadline is one for other ranks.
TEST_F(NcclCommunicatorTest, WorkOfTheOwnDeviceHasNotTheDeadlineOfSums) {
  options_.timeout_seconds = kSoon;
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  runtime_.set_pending(true);  // what the sum adds is not there yet
  float value = 0;
  ASSERT_TRUE((*nccl)->StartSum(&value, 1, SumType::kF32, "the sum").ok());
  for (double waited = 0; waited < 20 * kSoon; waited += kSoon / 10) {
    EXPECT_TRUE(runtime_.Watched(waited).ok());
  }
  // From now on it waits for the others.
  runtime_.set_done(compute_);
  EXPECT_TRUE(runtime_.Watched(20 * kSoon).ok());
  EXPECT_TRUE(runtime_.Watched(20.9 * kSoon).ok());
  EXPECT_EQ(runtime_.Watched(21.2 * kSoon).code(), StatusCode::kUnavailable);
}

// Where all GPUs hang in work of their own nobody waits for a sum.
TEST_F(NcclCommunicatorTest, DeviceThatNeverComesToASumIsGivenUpInTheEnd) {
  options_.timeout_seconds = 10;
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  runtime_.set_pending(true);
  float value = 0;
  ASSERT_TRUE((*nccl)->StartSum(&value, 1, SumType::kF32, "the sum").ok());
  EXPECT_TRUE(runtime_.Watched(0).ok());
  EXPECT_TRUE(runtime_.Watched(1).ok());
  EXPECT_TRUE(runtime_.Watched(300).ok());
  const Status status = runtime_.Watched(302);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(status.message(),
            "the sum on rank 0 of 1 did not end within 300 s, in which this GPU came to no sum "
            "over the GPUs: it hangs (see nvidia-smi), or needs a longer --rank-timeout than 10");
  EXPECT_EQ(answers.calls, (Calls{"id", "start", "abort"}));
}

// Each sum has the whole time.
TEST_F(NcclCommunicatorTest, SumThatIsDoneGivesTheNextOneItsTime) {
  options_.timeout_seconds = kSoon;
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  runtime_.set_pending(true);
  runtime_.set_done(compute_);
  float value = 0;
  for (int sum = 0; sum < 3; ++sum) {
    (*nccl)->set_step(10 * sum);  // those before are forgotten
    ASSERT_TRUE((*nccl)->StartSum(&value, 1, SumType::kF32, "the sum").ok());
    EXPECT_TRUE(runtime_.Watched(sum * kSoon + 0.1 * kSoon).ok());
    EXPECT_TRUE(runtime_.Watched(sum * kSoon + 0.9 * kSoon).ok());
  }
  EXPECT_FALSE(runtime_.Watched(4 * kSoon).ok());
}

// Nothing is known on the way but how long such steps have taken.
TEST_F(NcclCommunicatorTest, CapturedStepMayTakeTheDeadlineLongerThanBefore) {
  options_.timeout_seconds = kSoon;
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  float value = 0;
  ASSERT_TRUE((*nccl)->StartSum(&value, 1, SumType::kF32, "the sum").ok());
  runtime_.set_pending(true);
  // A step that could be asked took five times the deadline to compute.
  EXPECT_TRUE(runtime_.Watched(5 * kSoon).ok());
  runtime_.set_captured(true);
  EXPECT_TRUE(runtime_.Watched(0).ok());
  EXPECT_TRUE(runtime_.Watched(0.1 * kSoon).ok());
  EXPECT_TRUE(runtime_.Watched(10 * kSoon).ok());
  const Status status = runtime_.Watched(12 * kSoon);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("from \"the sum\" to \"the sum\""), std::string::npos)
      << status.message();
}

TEST_F(NcclCommunicatorTest, GraphsGoOnceBeforeTheAbortWhichElseDoesNotCome) {
  for (const bool are_gone : {true, false}) {
    answers = Answers();
    bootstrap_ = CreateSelfCommunicator();
    auto nccl = Create();
    ASSERT_TRUE(nccl.ok());
    (*nccl)->set_drop_graphs([=] {
      answers.calls.push_back("graphs");
      return are_gone;
    });
    EXPECT_FALSE((*nccl)->Abort(UnavailableError("over")).ok());
    EXPECT_FALSE((*nccl)->Progress().ok());
    nccl->reset();
    Calls expected = {"id", "start", "graphs"};
    if (are_gone) expected.push_back("abort");
    EXPECT_EQ(answers.calls, expected);
  }
}

// Anything that waits for the device, such as the choice of hard pixels, waits for sums too.
TEST_F(NcclCommunicatorTest, PlainWaitForTheDeviceHasTheDeadlineOfTheRanks) {
  options_.timeout_seconds = kSoon;
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  EXPECT_TRUE(runtime_.SynchronizeStream(compute_).ok());
  float value = 0;
  ASSERT_TRUE((*nccl)->StartSum(&value, 1, SumType::kF32, "the sum").ok());
  runtime_.set_pending(true);
  runtime_.set_done(compute_);
  EXPECT_NE(runtime_.SynchronizeStream(compute_).message().find(
                "the sum on rank 0 of 1 did not end within"),
            std::string::npos);
  EXPECT_EQ(answers.calls, (Calls{"id", "start", "abort"}));
  nccl->reset();
  EXPECT_TRUE(runtime_.SynchronizeStream(compute_).ok());
}

TEST_F(NcclCommunicatorTest, PlainWaitForTheDeviceSeesThatTheJobHasFailed) {
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  runtime_.set_pending(true);
  ASSERT_FALSE(bootstrap_->Abort(UnavailableError("rank 3 is gone")).ok());
  const EventHandle event = *runtime_.CreateEvent();
  EXPECT_EQ(runtime_.Synchronize(event).message(), "rank 3 is gone");
  EXPECT_EQ(answers.calls, (Calls{"id", "start", "abort"}));
}

// Starts the two buckets of a step, of which the device does not get anywhere.
Status StartHangingStep(RecordingRuntime* runtime, NcclCommunicator* nccl, int64_t step) {
  runtime->set_pending(true);
  nccl->set_step(step);
  auto* gradients = static_cast<float*>(*runtime->AllocateDevice(64 * sizeof(float)));
  auto buckets = GradientBuckets::Create(nccl, gradients, 64, {{0, 32}, {32, 64}},
                                         {32 * sizeof(float), Overlap::kWithBackward});
  RETURN_IF_ERROR(buckets.status());
  RETURN_IF_ERROR((*buckets)->MarkFinal(1));
  RETURN_IF_ERROR((*buckets)->MarkFinal(0));
  return (*buckets)->Finish();
}

TEST_F(NcclCommunicatorTest, AsynchronousErrorNamesRankStepAndCollective) {
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  ASSERT_TRUE(StartHangingStep(&runtime_, nccl->get(), 7).ok());
  answers.failure = kUnhandledCudaError;
  const Status status = (*nccl)->AwaitDevice(*runtime_.CreateEvent(), "the step");
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(status.message(),
            "NCCL, gradient bucket 0 in step 7 on rank 0 of 1: unhandled cuda error (last words)");
  EXPECT_EQ(answers.calls.back(), "abort");
}

TEST_F(NcclCommunicatorTest, DeadlineNamesRankStepAndCollective) {
  options_.timeout_seconds = kSoon;
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  ASSERT_TRUE(StartHangingStep(&runtime_, nccl->get(), 8).ok());
  runtime_.set_done(compute_);
  const Status status = (*nccl)->AwaitDevice(*runtime_.CreateEvent(), "the step");
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("gradient bucket 0 in step 8 on rank 0 of 1 did not end within"),
            std::string::npos)
      << status.message();
  EXPECT_EQ(answers.calls.back(), "abort");
}

TEST_F(NcclCommunicatorTest, SumThatNcclRefusesEndsTheStep) {
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  answers.sum = kUnhandledCudaError;
  const Status status = StartHangingStep(&runtime_, nccl->get(), 9);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("gradient bucket 0 in step 9"), std::string::npos)
      << status.message();
  EXPECT_EQ(answers.calls.back(), "abort");
}

// While a step is enqueued the one before it may be under way, and may be the one that hangs.
TEST_F(NcclCommunicatorTest, SumOfTheStepBeforeIsNamedWhereThatHangs) {
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  ASSERT_TRUE(StartHangingStep(&runtime_, nccl->get(), 7).ok());
  ASSERT_TRUE(StartHangingStep(&runtime_, nccl->get(), 8).ok());
  answers.failure = kUnhandledCudaError;
  EXPECT_NE((*nccl)->Progress().message().find("gradient bucket 0 in step 7 on rank 0 of 1"),
            std::string::npos);
}

// Two steps' slots at most, whatever the number of steps.
TEST_F(NcclCommunicatorTest, SlotsOfOldStepsAreUsedAgain) {
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  std::vector<int> slots;
  float values[3] = {};
  for (int64_t step = 1; step <= 9; ++step) {
    (*nccl)->set_step(step);
    for (float& value : values) {
      const auto call = (*nccl)->StartSum(&value, 1, SumType::kF32, "sum");
      ASSERT_TRUE(call.ok());
      ASSERT_TRUE((*nccl)->Wait(*call).ok());
      slots.push_back(call->slot);
    }
  }
  EXPECT_EQ(*std::max_element(slots.begin(), slots.end()), 5);
  EXPECT_EQ(std::vector<int>(slots.end() - 3, slots.end()), (std::vector<int>{0, 1, 2}));
}

TEST_F(NcclCommunicatorTest, ForgottenSumsNeitherHoldSlotsNorNames) {
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  (*nccl)->set_step(4);
  float value = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE((*nccl)->StartSum(&value, 1, SumType::kF32, "captured").ok());
  }
  (*nccl)->ForgetCaptured();
  const auto call = (*nccl)->StartSum(&value, 1, SumType::kF32, "eager");
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(call->slot, 0);
  runtime_.set_pending(true);
  answers.failure = kUnhandledCudaError;
  EXPECT_NE((*nccl)->Progress().message().find("NCCL, eager in step 4"), std::string::npos);
}

// The graph of an earlier step is launched: nothing is started, and its events cannot be asked.
TEST_F(NcclCommunicatorTest, LaunchedGraphNamesItsFirstAndLastSum) {
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  ASSERT_TRUE(StartHangingStep(&runtime_, nccl->get(), 1).ok());
  runtime_.set_pending(false);
  (*nccl)->set_step(30);
  answers.failure = kUnhandledCudaError;
  const std::string message = (*nccl)->Progress().message();
  EXPECT_NE(message.find("from \"gradient bucket 0\" to \"gradient bucket 1\", in step 30"),
            std::string::npos)
      << message;
}

TEST_F(NcclCommunicatorTest, BucketsReachNcclInBackwardOrderWithTheirParts) {
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  ASSERT_TRUE(StartHangingStep(&runtime_, nccl->get(), 1).ok());
  ASSERT_EQ(answers.sums.size(), 2u);
  auto* const first = static_cast<float*>(answers.sums[0].data);
  EXPECT_EQ(answers.sums[1].data, first - 32);
  for (const SumCall& sum : answers.sums) {
    EXPECT_EQ(sum.count, 32);
    EXPECT_EQ(sum.type, SumType::kF32);
    EXPECT_EQ(sum.stream, answers.sums[0].stream);
    EXPECT_NE(sum.stream, compute_);
  }
}

// What ends at last is told by the job's own communicator; the sums that wait for other ranks end
// when somebody looks.
TEST_F(NcclCommunicatorTest, FailureOfTheJobAbortsNcclWhenItIsLookedAt) {
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  ASSERT_FALSE(bootstrap_->Abort(UnavailableError("rank 3 is gone")).ok());
  EXPECT_EQ((*nccl)->Progress().message(), "rank 3 is gone");
  EXPECT_EQ(answers.calls, (Calls{"id", "start", "abort"}));
}

TEST_F(NcclCommunicatorTest, FailureOfAnotherRankAbortsNccl) {
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  ASSERT_FALSE(bootstrap_->Abort(UnavailableError("rank 3 is gone")).ok());
  EXPECT_EQ((*nccl)->AwaitDevice(*runtime_.CreateEvent(), "the step").message(), "rank 3 is gone");
  nccl->reset();
  EXPECT_EQ(answers.calls, (Calls{"id", "start", "abort"}));
}

TEST(DevicesApart, RanksWithOneGpuAreNamed) {
  EXPECT_TRUE(CheckApart({"a"}).ok());
  EXPECT_TRUE(CheckApart({"a", "b", "c"}).ok());
  const Status status = CheckApart({"a", "b", "c", "b", "a"});
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("ranks 1 and 3 have the same GPU"), std::string::npos);
}

// Backward makes the gradients of four parameters from the last to the first, buckets of two are
// summed meanwhile, the update reads all.
std::vector<RecordedStep> RunSteps(RecordingRuntime* runtime, NcclCommunicator* nccl,
                                   StreamHandle compute, int steps) {
  auto* gradients = static_cast<float*>(*runtime->AllocateDevice(64 * sizeof(float)));
  auto buckets =
      GradientBuckets::Create(nccl, gradients, 64, {{0, 16}, {16, 32}, {32, 48}, {48, 64}},
                              {32 * sizeof(float), Overlap::kWithBackward});
  SHARDMILL_CHECK(buckets.ok());
  for (int step = 0; step < steps; ++step) {
    for (int range = 3; range >= 0; --range) {
      EXPECT_TRUE(
          runtime->Launch(compute, {"backward", {}, {{gradients + 16 * range, 64}}}, nullptr).ok());
      EXPECT_TRUE((*buckets)->MarkFinal(range).ok());
    }
    EXPECT_TRUE((*buckets)->Finish().ok());
    EXPECT_TRUE(runtime->Launch(compute, {"update", {{gradients, 256}}, {}}, nullptr).ok());
  }
  return runtime->log();
}

TEST_F(NcclCommunicatorTest, BucketsOverlapBackwardAndNothingIsForgotten) {
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  const auto log = RunSteps(&runtime_, nccl->get(), compute_, 3);
  EXPECT_EQ(FindMissingDependencies(log), std::vector<std::string>());
  std::string order;
  for (const RecordedStep& step : log) {
    EXPECT_NE(step.kind, RecordedStep::Kind::kHostWaits);
    EXPECT_NE(step.kind, RecordedStep::Kind::kHostWaitsAll);
    if (step.kind == RecordedStep::Kind::kStreamWork) order += step.name[0];
  }
  EXPECT_EQ(order, "bbsbbsubbsbbsubbsbbsu");
}

TEST_F(NcclCommunicatorTest, EveryWaitThatIsLeftOutIsFound) {
  auto nccl = Create();
  ASSERT_TRUE(nccl.ok());
  const auto log = RunSteps(&runtime_, nccl->get(), compute_, 2);
  int left_out = 0;
  for (size_t i = 0; i < log.size(); ++i) {
    if (log[i].kind != RecordedStep::Kind::kStreamWaits) continue;
    auto faulty = log;
    faulty.erase(faulty.begin() + static_cast<int64_t>(i));
    // The sums run one after the other: to wait for the last of a step is to wait for all.
    const bool waits_for_first_sum = log[i].stream == 0 && i + 1 < log.size() &&
                                     log[i + 1].kind == RecordedStep::Kind::kStreamWaits;
    EXPECT_EQ(FindMissingDependencies(faulty).empty(), waits_for_first_sum) << "step " << i;
    ++left_out;
  }
  EXPECT_EQ(left_out, 8);
}

}  // namespace
}  // namespace shardmill
