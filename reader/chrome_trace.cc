#include "reader/chrome_trace.h"

#include <algorithm>

#include "reader/console/json_writer.h"

namespace shardmill {

void TraceEvents::NameProcess(int process, std::string_view name) {
  AddName("process_name", process, 0, name);
}

void TraceEvents::NameThread(int process, int thread, std::string_view name) {
  AddName("thread_name", process, thread, name);
}

void TraceEvents::AddName(const char* kind, int process, int thread, std::string_view name) {
  JsonWriter json(JsonStyle::kOneLine);
  json.BeginObject();
  json.Key("name").String(kind);
  json.Key("ph").String("M");
  json.Key("pid").Number(process);
  json.Key("tid").Number(thread);
  json.Key("args").BeginObject();
  json.Key("name").String(name);
  json.EndObject();
  json.EndObject();
  Add(json.Take());
}

void TraceEvents::AddSpan(int process, int thread, const TraceSpan& span) {
  const uint64_t begin_ns = std::max(span.begin_ns, zero_ns_);
  const uint64_t end_ns = std::max(span.end_ns, begin_ns);
  JsonWriter json(JsonStyle::kOneLine);
  json.BeginObject();
  json.Key("name").String(span.name);
  json.Key("ph").String("X");
  json.Key("pid").Number(process);
  json.Key("tid").Number(thread);
  json.Key("ts").Number(static_cast<double>(begin_ns - zero_ns_) / 1000.0);
  json.Key("dur").Number(static_cast<double>(end_ns - begin_ns) / 1000.0);
  json.Key("args").BeginObject();
  json.Key("epoch").Number(span.epoch);
  json.Key("step").Number(span.step);
  json.EndObject();
  json.EndObject();
  Add(json.Take());
}

void TraceEvents::Add(const std::string& event) {
  if (!text_.empty()) text_ += ",";
  text_ += event;
}

std::string JoinTrace(const std::vector<std::string>& lists, uint64_t spans_lost) {
  std::string text = "{\"traceEvents\": [";
  bool is_first = true;
  for (const std::string& list : lists) {
    if (list.empty()) continue;
    text += (is_first ? "" : ",") + list;
    is_first = false;
  }
  return text + "], \"displayTimeUnit\": \"ns\", \"otherData\": {\"spans_lost\": " +
         std::to_string(spans_lost) + "}}\n";
}

}  // namespace shardmill
