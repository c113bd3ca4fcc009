// Stage clocks and the Chrome trace of their spans, read back with a JSON parser.
#include "reader/loader_trace.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "reader/base/file.h"
#include "tests/reader/loader_testing.h"

namespace shardmill {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

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

const Value& Member(const Struct& object, const std::string& name) {
  static const Value none;
  const auto found = object.fields().find(name);
  EXPECT_NE(found, object.fields().end()) << name;
  return found == object.fields().end() ? none : found->second;
}

void ParseEvent(const Struct& event, ParsedTrace* trace) {
  const double thread = Member(event, "tid").number_value();
  EXPECT_EQ(Member(event, "pid").number_value(), 1);
  const Struct& arguments = Member(event, "args").struct_value();
  if (Member(event, "ph").string_value() == "M") {
    EXPECT_EQ(Member(event, "name").string_value(), "thread_name");
    trace->lanes[thread] = Member(arguments, "name").string_value();
    return;
  }
  EXPECT_EQ(Member(event, "ph").string_value(), "X");
  ParsedSpan span;
  span.stage = Member(event, "name").string_value();
  span.begin_us = Member(event, "ts").number_value();
  span.end_us = span.begin_us + Member(event, "dur").number_value();
  span.step = Member(arguments, "step").number_value();
  trace->spans[thread].push_back(span);
}

ParsedTrace Parse(const std::string& text) {
  Struct document;
  const auto status = google::protobuf::util::JsonStringToMessage(text, &document);
  EXPECT_TRUE(status.ok()) << status.ToString() << text.substr(0, 400);
  ParsedTrace trace;
  for (const Value& event : Member(document, "traceEvents").list_value().values()) {
    ParseEvent(event.struct_value(), &trace);
  }
  trace.spans_lost =
      Member(Member(document, "otherData").struct_value(), "spans_lost").number_value();
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
