// Where the time of each rank goes, step by step, as a Chrome trace: one process per rank, with a
// thread of the steps (waiting for data, copying, computing, evaluating, writing checkpoints), one
// of the waits for other ranks, and those of the loader.
//
// The times of all ranks count from the same barrier. Not for concurrent use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "reader/loader_trace.h"
#include "trainer/comm/communicator.h"

namespace shardmill {

class RunTrace {
 public:
  enum class Lane { kSteps, kCommunication };

  // `path`: of the file that rank 0 writes; empty: nothing is kept.
  RunTrace(std::string path, Communicator* communicator);
  ~RunTrace();
  RunTrace(const RunTrace&) = delete;
  RunTrace& operator=(const RunTrace&) = delete;

  bool IsOn() const { return !path_.empty(); }
  // Of the loader too.
  static constexpr uint64_t kMaxSpans = 100000;

  // To be called by all ranks, before the first span. Waits for the ranks in front of a barrier,
  // and listens to the communicator from then on.
  Status Start();
  // The steps of the spans that follow, counted from 1.
  void SetStep(uint64_t epoch, uint64_t step);
  void Add(Lane lane, std::string_view name, uint64_t begin_ns, uint64_t end_ns);
  // To be called by all ranks: rank 0 writes the spans of all of them.
  Status Write(const std::vector<TraceLane>& loader);

 private:
  struct Span {
    std::string name;
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;
    uint64_t epoch = 0;
    uint64_t step = 0;
  };
  std::string OwnEvents(const std::vector<TraceLane>& loader);
  Result<std::vector<std::string>> GatherEvents(const std::string& own);
  Status WriteFile(const std::string& text) const;

  const std::string path_;
  Communicator* const communicator_;
  uint64_t zero_ns_ = 0;
  uint64_t epoch_ = 0;
  uint64_t step_ = 0;
  uint64_t lost_ = 0;
  std::vector<Span> spans_[2];  // of the lanes
};

// Nanoseconds of the steady clock.
uint64_t SteadyNanoseconds();

}  // namespace shardmill
