#include "trainer/cuda/runtime/dependency_check.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace shardmill {
namespace {

using Kind = RecordedStep::Kind;

// Vector clocks: lane 0 is the host, lane s + 1 stream s. A lane's own entry counts its steps;
// the others say up to which step of another lane is known to be done.
class Clock {
 public:
  int64_t At(int lane) const { return lane < static_cast<int>(ticks_.size()) ? ticks_[lane] : 0; }
  void Advance(int lane) {
    Grow(lane + 1);
    ++ticks_[lane];
  }
  void Join(const Clock& other) {
    Grow(static_cast<int>(other.ticks_.size()));
    for (size_t i = 0; i < other.ticks_.size(); ++i) {
      ticks_[i] = std::max(ticks_[i], other.ticks_[i]);
    }
  }

 private:
  void Grow(int lanes) {
    if (static_cast<int>(ticks_.size()) < lanes) ticks_.resize(lanes);
  }
  std::vector<int64_t> ticks_;
};

struct Access {
  int step = 0;
  int lane = 0;
  int64_t tick = 0;  // of its lane
  bool write = false;
  uintptr_t begin = 0, end = 0;
};

using Range = std::pair<uintptr_t, uintptr_t>;

Range RangeOf(const MemorySpan& span) {
  const auto begin = reinterpret_cast<uintptr_t>(span.address);
  return {begin, begin + static_cast<uintptr_t>(std::max<int64_t>(span.bytes, 0))};
}

class Checker {
 public:
  explicit Checker(const std::vector<RecordedStep>& log) : log_(log) {}

  std::vector<std::string> Run() {
    for (step_ = 0; step_ < static_cast<int>(log_.size()); ++step_) Take(log_[step_]);
    return std::move(faults_);
  }

 private:
  void Take(const RecordedStep& step) {
    switch (step.kind) {
      case Kind::kAllocate:
        blocks_[RangeOf(step.span).first] = RangeOf(step.span).second;
        return;
      case Kind::kFree:
        return Free(step);
      case Kind::kStreamWork:
        // Work starts after the host has enqueued it.
        clocks_[Lane(step)].Join(clocks_[0]);
        return Work(step, Lane(step));
      case Kind::kHostWork:
        return Work(step, 0);
      case Kind::kRecordEvent:
        clocks_[Lane(step)].Join(clocks_[0]);
        events_[step.event] = clocks_[Lane(step)];
        return;
      case Kind::kStreamWaits:
        clocks_[Lane(step)].Join(events_[step.event]);
        return;
      case Kind::kHostWaits:
        clocks_[0].Join(events_[step.event]);
        return;
      case Kind::kHostWaitsAll:
        clocks_[0].Join(clocks_[Lane(step)]);
        return;
    }
  }

  static int Lane(const RecordedStep& step) { return step.stream + 1; }

  void Work(const RecordedStep& step, int lane) {
    clocks_[lane].Advance(lane);
    for (const MemorySpan& span : step.reads) AddAccess(span, lane, /*write=*/false);
    for (const MemorySpan& span : step.writes) AddAccess(span, lane, /*write=*/true);
  }

  void AddAccess(const MemorySpan& span, int lane, bool write) {
    const Range range = RangeOf(span);
    if (range.first == range.second) return;
    if (!IsAllocated(range)) Fault("touches memory that is not allocated");
    if (!write && !IsWritten(range)) Fault("reads what nothing has written");
    for (const Access& earlier : accesses_) {
      const bool apart = earlier.end <= range.first || range.second <= earlier.begin;
      if (apart || (!write && !earlier.write) || earlier.step == step_) continue;
      if (clocks_[lane].At(earlier.lane) >= earlier.tick) continue;
      Fault(std::string(write ? "writes" : "reads") + " what " + StepText(earlier.step) +
            " may not have " + (earlier.write ? "written" : "read") + " yet");
    }
    accesses_.push_back({step_, lane, clocks_[lane].At(lane), write, range.first, range.second});
  }

  bool IsAllocated(const Range& range) const {
    auto block = blocks_.upper_bound(range.first);
    if (block == blocks_.begin()) return false;
    return std::prev(block)->second >= range.second;
  }

  // Whether writes, wherever they stand in time, cover the range.
  bool IsWritten(const Range& range) const {
    std::vector<Range> writes;
    for (const Access& access : accesses_) {
      if (access.write) writes.push_back({access.begin, access.end});
    }
    std::sort(writes.begin(), writes.end());
    uintptr_t covered = range.first;
    for (const Range& write : writes) {
      if (write.first > covered) break;
      covered = std::max(covered, write.second);
    }
    return covered >= range.second;
  }

  void Free(const RecordedStep& step) {
    const Range range = RangeOf(step.span);
    for (const Access& access : accesses_) {
      const bool inside = access.begin < range.second && range.first < access.end;
      if (inside && clocks_[0].At(access.lane) < access.tick) {
        Fault("frees what " + StepText(access.step) + " may still use");
      }
    }
    blocks_.erase(range.first);
    accesses_.erase(std::remove_if(accesses_.begin(), accesses_.end(),
                                   [&](const Access& access) {
                                     return access.begin < range.second && range.first < access.end;
                                   }),
                    accesses_.end());
  }

  std::string StepText(int step) const {
    return "step " + std::to_string(step) + ", \"" + log_[step].name + "\",";
  }
  void Fault(const std::string& what) { faults_.push_back(StepText(step_) + " " + what); }

  const std::vector<RecordedStep>& log_;
  int step_ = 0;
  std::map<int, Clock> clocks_;  // by lane
  std::map<int, Clock> events_;
  std::map<uintptr_t, uintptr_t> blocks_;  // begin to end
  std::vector<Access> accesses_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> FindMissingDependencies(const std::vector<RecordedStep>& log) {
  return Checker(log).Run();
}

}  // namespace shardmill
