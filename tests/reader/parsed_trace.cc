#include "tests/reader/parsed_trace.h"

#include <gtest/gtest.h>

#include "rapidjson/document.h"

namespace shardmill {
namespace {

using rapidjson::Value;

const Value& Member(const Value& object, const char* name) {
  static const Value none;
  const bool found = object.IsObject() && object.HasMember(name);
  EXPECT_TRUE(found) << name;
  return found ? object[name] : none;
}

double Number(const Value& object, const char* name) {
  const Value& value = Member(object, name);
  EXPECT_TRUE(value.IsNumber()) << name;
  return value.IsNumber() ? value.GetDouble() : -1;
}

std::string Text(const Value& object, const char* name) {
  const Value& value = Member(object, name);
  EXPECT_TRUE(value.IsString()) << name;
  return value.IsString() ? value.GetString() : "";
}

void ParseEvent(const Value& event, ParsedTrace* trace) {
  const ParsedTrace::Thread thread = {Number(event, "pid"), Number(event, "tid")};
  const Value& arguments = Member(event, "args");
  if (Text(event, "ph") == "M") {
    const std::string kind = Text(event, "name");
    if (kind == "process_name") {
      trace->processes[thread.first] = Text(arguments, "name");
    } else {
      EXPECT_EQ(kind, "thread_name");
      trace->lanes[thread] = Text(arguments, "name");
    }
    return;
  }
  EXPECT_EQ(Text(event, "ph"), "X");
  EXPECT_GE(Number(event, "ts"), 0);
  EXPECT_GE(Number(event, "dur"), 0);
  ParsedSpan span;
  span.name = Text(event, "name");
  span.begin_us = Number(event, "ts");
  span.end_us = span.begin_us + Number(event, "dur");
  span.step = Number(arguments, "step");
  trace->spans[thread].push_back(span);
}

}  // namespace

std::vector<ParsedSpan> ParsedTrace::SpansOf(double process, const std::string& lane) const {
  for (const auto& [thread, name] : lanes) {
    if (thread.first != process || name != lane) continue;
    return spans.count(thread) > 0 ? spans.at(thread) : std::vector<ParsedSpan>();
  }
  ADD_FAILURE() << "no lane " << lane << " of process " << process;
  return {};
}

ParsedTrace ParseTrace(const std::string& text) {
  rapidjson::Document document;
  document.Parse(text.data(), text.size());
  EXPECT_FALSE(document.HasParseError()) << text.substr(0, 400);
  ParsedTrace trace;
  const Value& events = Member(document, "traceEvents");
  EXPECT_TRUE(events.IsArray());
  for (rapidjson::SizeType i = 0; events.IsArray() && i < events.Size(); ++i) {
    ParseEvent(events[i], &trace);
  }
  trace.spans_lost = Number(Member(document, "otherData"), "spans_lost");
  return trace;
}

}  // namespace shardmill
