#include "reader/loader_trace.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "reader/base/file.h"
#include "reader/base/file_remnants.h"

namespace shardmill {
namespace {

constexpr int kProcess = 1;

uint64_t FirstBeginNs(const std::vector<TraceLane>& lanes) {
  uint64_t first = std::numeric_limits<uint64_t>::max();
  for (const TraceLane& lane : lanes) {
    if (lane.clock->span_count() > 0) first = std::min(first, lane.clock->span(0).begin_ns);
  }
  return first;
}

}  // namespace

uint64_t AddLanes(const std::vector<TraceLane>& lanes, int process, int first_thread,
                  TraceEvents* events) {
  uint64_t lost = 0;
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    const int thread = first_thread + static_cast<int>(lane);
    const StageClock& clock = *lanes[lane].clock;
    events->NameThread(process, thread, lanes[lane].name);
    const uint64_t spans = clock.span_count();
    for (uint64_t i = 0; i < spans; ++i) {
      const StageSpan& span = clock.span(i);
      events->AddSpan(process, thread,
                      {StageName(span.stage), span.begin_ns, span.end_ns, span.epoch, span.step});
    }
    lost += clock.spans_lost();
  }
  return lost;
}

std::string ChromeTrace(const std::vector<TraceLane>& lanes) {
  TraceEvents events(FirstBeginNs(lanes));
  const uint64_t lost = AddLanes(lanes, kProcess, /*first_thread=*/1, &events);
  return JoinTrace({events.text()}, lost);
}

Status WriteChromeTrace(const std::string& path, const std::vector<TraceLane>& lanes) {
  RemoveRemnants(path);
  ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  const std::string text = ChromeTrace(lanes);
  RETURN_IF_ERROR(file.Append(text.data(), text.size()));
  return file.Commit();
}

}  // namespace shardmill
