#include "reader/loader_trace.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "reader/base/file.h"
#include "reader/console/json_writer.h"

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

void WriteThreadName(const TraceLane& lane, int thread, JsonWriter* json) {
  json->BeginObject();
  json->Key("name").String("thread_name");
  json->Key("ph").String("M");
  json->Key("pid").Number(kProcess);
  json->Key("tid").Number(thread);
  json->Key("args").BeginObject();
  json->Key("name").String(lane.name);
  json->EndObject();
  json->EndObject();
}

void WriteSpan(const StageSpan& span, uint64_t first_ns, int thread, JsonWriter* json) {
  json->BeginObject();
  json->Key("name").String(StageName(span.stage));
  json->Key("ph").String("X");
  json->Key("pid").Number(kProcess);
  json->Key("tid").Number(thread);
  json->Key("ts").Number(static_cast<double>(span.begin_ns - first_ns) / 1000.0);
  json->Key("dur").Number(static_cast<double>(span.end_ns - span.begin_ns) / 1000.0);
  json->Key("args").BeginObject();
  json->Key("epoch").Number(span.epoch);
  json->Key("step").Number(span.step);
  json->EndObject();
  json->EndObject();
}

}  // namespace

std::string ChromeTrace(const std::vector<TraceLane>& lanes) {
  const uint64_t first_ns = FirstBeginNs(lanes);
  uint64_t lost = 0;
  JsonWriter json(JsonStyle::kOneLine);
  json.BeginObject();
  json.Key("traceEvents").BeginArray();
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    const int thread = static_cast<int>(lane) + 1;
    const StageClock& clock = *lanes[lane].clock;
    WriteThreadName(lanes[lane], thread, &json);
    const uint64_t spans = clock.span_count();
    for (uint64_t i = 0; i < spans; ++i) WriteSpan(clock.span(i), first_ns, thread, &json);
    lost += clock.spans_lost();
  }
  json.EndArray();
  json.Key("displayTimeUnit").String("ns");
  json.Key("otherData").BeginObject();
  json.Key("spans_lost").Number(lost);
  json.EndObject();
  json.EndObject();
  return json.Take();
}

Status WriteChromeTrace(const std::string& path, const std::vector<TraceLane>& lanes) {
  ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  const std::string text = ChromeTrace(lanes);
  RETURN_IF_ERROR(file.Append(text.data(), text.size()));
  return file.Commit();
}

}  // namespace shardmill
