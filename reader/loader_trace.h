// Writes the spans of stage clocks as a Chrome trace: open it in chrome://tracing or Perfetto.
//
// One file, one process, one named thread per lane; a span is a complete event ("ph": "X") whose
// time is in microseconds from the first span of all. Safe while the clocks are running.
#pragma once

#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/stage_clock.h"

namespace shardmill {

struct TraceLane {
  std::string name;
  const StageClock* clock = nullptr;
};

// The JSON text. Spans that a full clock did not keep are counted in "otherData".
std::string ChromeTrace(const std::vector<TraceLane>& lanes);

// Writes it whole or not at all (see AtomicFile).
Status WriteChromeTrace(const std::string& path, const std::vector<TraceLane>& lanes);

}  // namespace shardmill
