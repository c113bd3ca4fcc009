// Stage clocks and the Chrome trace of their spans, read back with a JSON parser.
#include "reader/loader_trace.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "reader/base/file.h"
#include "tests/reader/loader_testing.h"
#include "tests/reader/parsed_trace.h"

namespace shardmill {
namespace {

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
  EXPECT_EQ(ParseTrace(ChromeTrace({{"thread", &clock}})).spans_lost, 7);
}

TEST(LoaderTrace, SpansOfALaneFollowEachOtherAndLanesAreNamed) {
  const auto dataset = OpenTestDataset("trace", TestDatasetOptions());
  auto loader = OpenLoader(dataset, Options());
  EXPECT_EQ(ReadAll(loader.get()).size(), 12u);
  const std::string path = testing::TempDir() + "/trace.json";
  ASSERT_TRUE(loader->WriteTrace(path).ok());
  const auto text = ReadFile(path, 1 << 24);
  ASSERT_TRUE(text.ok());
  const ParsedTrace trace = ParseTrace(*text);
  ASSERT_EQ(trace.lanes.size(), 4u);
  EXPECT_EQ(trace.spans_lost, 0);
  std::map<std::string, int> stages;
  for (const auto& [thread, spans] : trace.spans) {
    for (size_t i = 0; i < spans.size(); ++i) {
      ++stages[spans[i].name];
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
  for (const ParsedSpan& span : trace.SpansOf(1, "consumer")) {
    if (span.name != "consumer waiting") continue;
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
