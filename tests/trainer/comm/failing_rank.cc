// One rank of a job that goes wrong: `failing_rank WHAT RANK TIMEOUT`. All ranks make the calls of
// a training loop; at step 3 rank RANK does WHAT to itself between two gradient buckets, and says
// when, on CLOCK_MONOTONIC.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "reader/base/interrupt.h"
#include "trainer/comm/create_communicator.h"
#include "trainer/comm/rank_guard.h"
#include "trainer/comm/reachable_work.h"
#include "trainer/engine/weight_check.h"

namespace shardmill {
namespace {

constexpr int64_t kFailingStep = 3;
constexpr int64_t kSteps = 6;
constexpr char kOtherWeights[] = "other-weights";

// Without the handlers that a sanitizer or MPI may have installed.
Status Crash(Communicator*) {
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
  return OkStatus();
}

Status Hang(Communicator*) {
  for (;;) pause();
}

// No misdeed: longer than the deadline that its test gives, but with answers.
Status Work(Communicator* communicator) {
  return WorkReachably(communicator, [] {
    std::this_thread::sleep_for(std::chrono::seconds(6));
    return OkStatus();
  });
}

void SayWhen() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  std::fprintf(stderr, "failing at %lld\n", now.tv_sec * 1000000000LL + now.tv_nsec);
}

const std::map<std::string, std::function<Status(Communicator*)>>& Misdeeds() {
  static const auto* misdeeds = new std::map<std::string, std::function<Status(Communicator*)>>{
      {"nothing", [](Communicator*) { return OkStatus(); }},
      {kOtherWeights, [](Communicator*) { return OkStatus(); }},
      {"kill", [](Communicator*) { return raise(SIGKILL), OkStatus(); }},
      {"crash", Crash},
      {"stop", [](Communicator*) { return raise(SIGSTOP), OkStatus(); }},
      {"kill-guard", [](Communicator*) { return kill(getppid(), SIGKILL), OkStatus(); }},
      {"exit", [](Communicator*) -> Status { exit(0); }},
      {"_exit", [](Communicator*) -> Status { _exit(0); }},
      {"throw", [](Communicator*) -> Status { throw std::runtime_error("a thrown exception"); }},
      {"error", [](Communicator*) { return DataLossError("record 7 is damaged"); }},
      {"hang", Hang},
      {"other-call", [](Communicator* communicator) { return communicator->Barrier("detour"); }},
      {"work", Work},
      {"stop-at-work",
       [](Communicator* communicator) {
         return WorkReachably(communicator, [] { return raise(SIGSTOP), OkStatus(); });
       }},
  };
  return *misdeeds;
}

Status Step(Communicator* communicator, bool fails, const std::string& what,
            std::vector<float>& gradients) {
  gradients.assign(300000, 1.0f);
  ASSIGN_OR_RETURN(
      const StartedCall call,
      communicator->StartSum(gradients.data(), 200000, SumType::kF32, "gradient bucket 0"));
  if (fails) {
    SayWhen();
    RETURN_IF_ERROR(Misdeeds().at(what)(communicator));
  }
  RETURN_IF_ERROR(communicator->Sum(gradients.data() + 200000, 100000, "gradient bucket 1"));
  RETURN_IF_ERROR(communicator->Wait(call));
  if (what == kOtherWeights) {
    const std::string hash = fails ? "b" : "a";
    RETURN_IF_ERROR(CompareHashes(communicator, hash, kFailingStep));
  }
  return gradients[0] == static_cast<float>(communicator->size())
             ? OkStatus()
             : InternalError("a wrong sum of gradients");
}

Status Train(Communicator* communicator, const std::string& what, int rank,
             std::vector<float>& gradients) {
  for (int64_t step = 0; step < kSteps; ++step) {
    communicator->set_step(step);
    const bool fails = step == kFailingStep && communicator->rank() == rank;
    RETURN_IF_ERROR(Step(communicator, fails, what, gradients));
  }
  return OkStatus();
}

Status Run(const std::string& what, int rank, double timeout) {
  RETURN_IF_ERROR(InstallInterruptHandlers());
  CommunicatorOptions options;
  options.timeout_seconds = timeout;
  if (what == "no-start" && std::atoi(std::getenv("OMPI_COMM_WORLD_RANK")) == rank) {
    RETURN_IF_ERROR(Hang(nullptr));
  }
  auto communicator = CreateCommunicator(options);
  if (!communicator.ok()) {
    std::fprintf(stderr, "error: %s\n", communicator.status().message().c_str());
    return communicator.status();
  }
  // Outlives the sums that are under way when a step fails.
  std::vector<float> gradients;
  const Status status =
      Train(communicator->get(), what == "no-start" ? "nothing" : what, rank, gradients);
  return status.ok() ? (*communicator)->Close() : (*communicator)->Abort(status);
}

}  // namespace
}  // namespace shardmill

int main(int argc, char** argv) {
  return shardmill::RunGuarded(argc, argv, [&] {
    if (argc != 4) return 2;
    const std::string what = argv[1];
    return shardmill::ExitCode(shardmill::Run(what, std::atoi(argv[2]), std::atof(argv[3])));
  });
}
