// Stage clocks and the Chrome trace of their spans, read back with a JSON parser.
#include "reader/loader_trace.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "rapidjson/document.h"
#include "reader/base/file.h"
#include "tests/reader/loader_testing.h"

namespace shardmill {
namespace {

using rapidjson::Value;

struct ParsedSpan {
  std::string stage;
  double begin_us = 0;
  double end_us = 0;
  double step = 0;
};

struct ParsedTrace {
  std::map<double, std::string> lanes;              // by thread id
  std::map<double, std::vector<ParsedSpan>> spans;  // by thread id
  double spans_lost = 0;

  std::vector<ParsedSpan> SpansOf(const std::string& lane) const {
    for (const auto& [thread, name] : lanes) {
      if (name == lane)
        return spans.count(thread) > 0 ? spans.at(thread) : std::vector<ParsedSpan>();
    }
    ADD_FAILURE() << "no lane " << lane;
    return {};
  }
};

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
  const double thread = Number(event, "tid");
  EXPECT_EQ(Number(event, "pid"), 1);
  const Value& arguments = Member(event, "args");
  if (Text(event, "ph") == "M") {
    EXPECT_EQ(Text(event, "name"), "thread_name");
    trace->lanes[thread] = Text(arguments, "name");
    return;
  }
  EXPECT_EQ(Text(event, "ph"), "X");
  ParsedSpan span;
  span.stage = Text(event, "name");
  span.begin_us = Number(event, "ts");
  span.end_us = span.begin_us + Number(event, "dur");
  span.step = Number(arguments, "step");
  trace->spans[thread].push_back(span);
}

ParsedTrace Parse(const std::string& text) {
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

BatchLoaderOptions Options() {
  BatchLoaderOptions options;
  options.split = "train";
  options.global_batch = 8;
  options.threads = 2;
  options.trace_spans = 10000;
  options.fields = {{"image"}, {"label", Delivery::kOneHotF32}};
  return options;
}

TEST(StageClock, EnteringTheSameStageEndsNoSpan) {
  StageClock clock;
  clock.KeepSpans(10);
  clock.Enter(Stage::kCopy);
  clock.Enter(Stage::kCopy);
  clock.Enter(Stage::kDecode);
  EXPECT_EQ(clock.span_count(), 2u);
  EXPECT_EQ(clock.span(1).stage, Stage::kCopy);
  EXPECT_EQ(clock.span(1).begin_ns, clock.span(0).end_ns);
  EXPECT_EQ(clock.nanoseconds(Stage::kCopy), clock.span(1).end_ns - clock.span(1).begin_ns);
  EXPECT_EQ(clock.nanoseconds(Stage::kDecode), 0u);
}

TEST(StageClock, SpansBeyondTheLimitAreCountedAndTimesGoOn) {
  StageClock clock;
  clock.KeepSpans(3);
  for (int i = 0; i < 5; ++i) {
    clock.Enter(Stage::kCopy);
    clock.Enter(Stage::kChecksum);
  }
  EXPECT_EQ(clock.span_count(), 3u);
  EXPECT_EQ(clock.spans_lost(), 7u);
  EXPECT_EQ(Parse(ChromeTrace({{"thread", &clock}})).spans_lost, 7);
}

TEST(LoaderTrace, SpansOfALaneFollowEachOtherAndLanesAreNamed) {
  const auto dataset = OpenTestDataset("trace", TestDatasetOptions());
  auto loader = OpenLoader(dataset, Options());
  EXPECT_EQ(ReadAll(loader.get()).size(), 12u);
  const std::string path = testing::TempDir() + "/trace.json";
  ASSERT_TRUE(loader->WriteTrace(path).ok());
  const auto text = ReadFile(path, 1 << 24);
  ASSERT_TRUE(text.ok());
  const ParsedTrace trace = Parse(*text);
  ASSERT_EQ(trace.lanes.size(), 4u);
  EXPECT_EQ(trace.spans_lost, 0);
  std::map<std::string, int> stages;
  for (const auto& [thread, spans] : trace.spans) {
    for (size_t i = 0; i < spans.size(); ++i) {
      ++stages[spans[i].stage];
      if (i > 0) {
        EXPECT_NEAR(spans[i].begin_us, spans[i - 1].end_us, 1e-3);
      }
    }
  }
  for (const char* stage : {"copy", "checksum", "decode", "expand", "waiting for a slot", "plan"}) {
    EXPECT_GT(stages[stage], 0) << stage;
  }
  // Twelve batches and the call that finds the end, which does not wait.
  int waits = 0;
  for (const ParsedSpan& span : trace.SpansOf("consumer")) {
    if (span.stage != "consumer waiting") continue;
    EXPECT_EQ(span.step, waits++);
  }
  EXPECT_EQ(waits, 12);
}

TEST(LoaderTrace, IsRefusedWhenNoSpansWereKept) {
  const auto dataset = OpenTestDataset("no-trace", TestDatasetOptions());
  BatchLoaderOptions options = Options();
  options.trace_spans = 0;
  const Status status = OpenLoader(dataset, options)->WriteTrace(testing::TempDir() + "/none.json");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
