#include "trainer/logs/run_trace.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "reader/base/file.h"
#include "reader/base/file_remnants.h"
#include "trainer/comm/reachable_work.h"

namespace shardmill {
namespace {

constexpr const char* kLaneNames[] = {"steps", "waiting for other ranks"};
constexpr int kFirstLoaderThread = 3;

// Rank 0's zero, and the running system whose clock it was read from.
struct SharedZero {
  char system[64] = {};
  uint64_t zero_ns = 0;
};

SharedZero ZeroOfThisSystem() {
  SharedZero zero;
  zero.zero_ns = SteadyNanoseconds();
  std::ifstream("/proc/sys/kernel/random/boot_id").getline(zero.system, sizeof zero.system);
  return zero;
}

}  // namespace

uint64_t SteadyNanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

RunTrace::RunTrace(std::string path, Communicator* communicator)
    : path_(std::move(path)), communicator_(communicator) {}

RunTrace::~RunTrace() {
  if (IsOn()) communicator_->set_wait_listener(nullptr);
}

Status RunTrace::Start() {
  if (!IsOn()) return OkStatus();
  RETURN_IF_ERROR(communicator_->Barrier("start of the trace"));
  const SharedZero own = ZeroOfThisSystem();
  SharedZero first = own;
  RETURN_IF_ERROR(communicator_->Broadcast(&first, sizeof first, 0, "zero of the trace"));
  // Ranks of one host read the same clock: exact. Of others the barrier is the best that is known.
  const bool same_clock = own.system[0] != 0 && std::string(own.system) == first.system;
  zero_ns_ = same_clock ? first.zero_ns : own.zero_ns;
  communicator_->set_wait_listener(
      [this](std::string_view name, uint64_t begin_ns, uint64_t end_ns) {
        Add(Lane::kCommunication, name, begin_ns, end_ns);
      });
  return OkStatus();
}

void RunTrace::SetStep(uint64_t epoch, uint64_t step) {
  epoch_ = epoch;
  step_ = step;
}

void RunTrace::Add(Lane lane, std::string_view name, uint64_t begin_ns, uint64_t end_ns) {
  if (!IsOn()) return;
  std::vector<Span>& spans = spans_[static_cast<int>(lane)];
  if (spans.size() == kMaxSpans) {
    ++lost_;
    return;
  }
  spans.push_back({std::string(name), begin_ns, end_ns, epoch_, step_});
}

std::string RunTrace::OwnEvents(const std::vector<TraceLane>& loader) {
  const int rank = communicator_->rank();
  TraceEvents events(zero_ns_);
  events.NameProcess(rank, "rank " + std::to_string(rank));
  for (int lane = 0; lane < 2; ++lane) {
    events.NameThread(rank, lane + 1, kLaneNames[lane]);
    for (const Span& span : spans_[lane]) {
      events.AddSpan(rank, lane + 1,
                     {span.name, span.begin_ns, span.end_ns, span.epoch, span.step});
    }
  }
  lost_ += AddLanes(loader, rank, kFirstLoaderThread, &events);
  return events.text();
}

// Of all ranks, at rank 0.
Result<std::vector<std::string>> RunTrace::GatherEvents(const std::string& own) {
  ASSIGN_OR_RETURN(const std::vector<std::string> sizes,
                   communicator_->Gather(std::to_string(own.size()), "sizes of the traces"));
  std::vector<std::string> lists(sizes.size());
  lists[static_cast<size_t>(communicator_->rank())] = own;
  std::vector<SendPiece> sends;
  std::vector<ReceivePiece> receives;
  if (communicator_->rank() > 0) {
    sends.push_back({0, own.data(), static_cast<int64_t>(own.size())});
  } else {
    for (size_t rank = 1; rank < lists.size(); ++rank) {
      lists[rank].resize(std::strtoull(sizes[rank].c_str(), nullptr, 10));
      receives.push_back(
          {static_cast<int>(rank), lists[rank].data(), static_cast<int64_t>(lists[rank].size())});
    }
  }
  RETURN_IF_ERROR(communicator_->Exchange(sends, receives, "traces"));
  return lists;
}

Status RunTrace::Write(const std::vector<TraceLane>& loader) {
  if (!IsOn()) return OkStatus();
  communicator_->set_wait_listener(nullptr);
  ASSIGN_OR_RETURN(const std::vector<std::string> lists, GatherEvents(OwnEvents(loader)));
  RETURN_IF_ERROR(communicator_->Sum(&lost_, 1, "spans lost"));
  if (communicator_->rank() > 0) return OkStatus();
  return WorkReachably(communicator_, [&] { return WriteFile(JoinTrace(lists, lost_)); });
}

Status RunTrace::WriteFile(const std::string& text) const {
  RemoveRemnants(path_);
  ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path_));
  RETURN_IF_ERROR(file.Append(text.data(), text.size()));
  return file.Commit();
}

}  // namespace shardmill
