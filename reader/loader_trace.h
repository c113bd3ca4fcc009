// Writes the spans of stage clocks as a Chrome trace: open it in chrome://tracing or Perfetto.
//
// One file, one process, one named thread per lane; a span is a complete event ("ph": "X") whose
// time is in microseconds from the first span of all. Safe while the clocks are running.
#pragma once

#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/chrome_trace.h"
#include "reader/stage_clock.h"

namespace shardmill {

struct TraceLane {
  std::string name;
  const StageClock* clock = nullptr;
};

// Adds the lanes as threads first_thread, first_thread + 1, … of a process; returns how many spans
// the clocks did not keep.
uint64_t AddLanes(const std::vector<TraceLane>& lanes, int process, int first_thread,
                  TraceEvents* events);

// The JSON text. Spans that a full clock did not keep are counted in "otherData".
std::string ChromeTrace(const std::vector<TraceLane>& lanes);

// Writes it whole or not at all (see AtomicFile).
Status WriteChromeTrace(const std::string& path, const std::vector<TraceLane>& lanes);

}  // namespace shardmill
