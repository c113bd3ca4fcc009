#include "trainer/logs/jsonl_log.h"

#include <fcntl.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "reader/console/json_writer.h"

namespace shardmill {
namespace {

using google::protobuf::Struct;

class JsonlLogTest : public testing::Test {
 protected:
  JsonlLogTest() {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    path_ = testing::TempDir() + "/jsonl_log_" + test;
    std::remove(path_.c_str());
  }

  std::vector<Struct> Lines() const {
    std::vector<Struct> objects;
    std::ifstream file(path_);
    std::string line;
    while (std::getline(file, line)) {
      Struct object;
      const auto status = google::protobuf::util::JsonStringToMessage(line, &object);
      EXPECT_TRUE(status.ok()) << line;
      objects.push_back(object);
    }
    return objects;
  }

  static StepEvent Step(uint64_t step) {
    StepEvent event;
    event.step = step;
    event.epoch = 1;
    event.loss = 0.1 + 0.2;
    event.images = 8;
    event.wait_ms = 1;
    event.copy_ms = 0.5;
    event.communication_ms = 0.25;
    event.compute_ms = 2.25;
    return event;
  }

  static double NumberOf(const Struct& line, const char* key) {
    return line.fields().at(key).number_value();
  }

  std::string path_;
};

TEST_F(JsonlLogTest, PipeIsRefusedWhereNothingReadsIt) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const Status refused = JsonlLog::Create(path_).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find(path_ + " is no regular file"), std::string::npos);
  EXPECT_EQ(JsonlLog::Continue(path_, {1}).status().code(), StatusCode::kInvalidArgument);
  const int reader = open(path_.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(JsonlLog::Create(path_).ok());
  close(reader);
}

TEST_F(JsonlLogTest, OutlierLineHasTheLossItsDistanceAndTheRecords) {
  auto log = JsonlLog::Create(path_);
  ASSERT_TRUE(log.ok());
  OutlierEvent event;
  event.step = 40;
  event.loss = 9;
  event.mean = 1;
  event.deviations = 7.5;
  event.records = {"3 (train/3.png)", "5 (train/5.png)"};
  ASSERT_TRUE(log->Write(event).ok());
  const std::vector<Struct> lines = Lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].fields().at("kind").string_value(), "outlier");
  EXPECT_EQ(NumberOf(lines[0], "deviations"), 7.5);
  EXPECT_EQ(lines[0].fields().at("records").list_value().values_size(), 2);
  EXPECT_EQ(lines[0].fields().count("dump"), 0u);
}

TEST_F(JsonlLogTest, StepLineHasTheTimeSplitAndTheExactLoss) {
  auto log = JsonlLog::Create(path_);
  ASSERT_TRUE(log.ok());
  ASSERT_TRUE(log->Write(Step(7)).ok());
  const std::vector<Struct> lines = Lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(NumberOf(lines[0], "waiting_share"), 0.25);
  EXPECT_EQ(lines[0].fields().at("kind").string_value(), "step");
  EXPECT_EQ(NumberOf(lines[0], "step"), 7);
  EXPECT_EQ(NumberOf(lines[0], "loss"), 0.1 + 0.2);
  EXPECT_EQ(NumberOf(lines[0], "wait_ms"), 1);
  EXPECT_EQ(NumberOf(lines[0], "copy_ms"), 0.5);
  EXPECT_EQ(NumberOf(lines[0], "communication_ms"), 0.25);
  EXPECT_EQ(NumberOf(lines[0], "compute_ms"), 2.25);
  EXPECT_EQ(NumberOf(lines[0], "total_ms"), 4);
  EXPECT_EQ(NumberOf(lines[0], "images_per_s"), 2000);
}

TEST_F(JsonlLogTest, EvaluationLineNamesClassesAndHasNullForAbsentOnes) {
  auto log = JsonlLog::Create(path_);
  ConfusionMatrix matrix(2, std::nullopt);
  matrix.AddCount(0, 0, 4);
  EvaluationEvent event;
  event.split = "val";
  event.scores = ComputeScores(matrix);
  EvaluationEvent of_records = event;
  of_records.scores.top_five_accuracy = 0.75;
  ASSERT_TRUE(log->Write(event, {"sky \"blue\"", "car"}).ok());
  const std::vector<Struct> lines = Lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(NumberOf(lines[0], "miou"), 1);
  EXPECT_EQ(lines[0].fields().count("top5_accuracy"), 0u);
  const auto& classes = lines[0].fields().at("class_iou").list_value().values();
  ASSERT_EQ(classes.size(), 2);
  EXPECT_EQ(classes[0].struct_value().fields().at("class").string_value(), "sky \"blue\"");
  EXPECT_TRUE(classes[1].struct_value().fields().at("iou").has_null_value());
  ASSERT_TRUE(log->Write(of_records, {"sky", "car"}).ok());
  EXPECT_EQ(NumberOf(Lines().back(), "top5_accuracy"), 0.75);
}

TEST_F(JsonlLogTest, ContinuedLogHasEachStepOnce) {
  {
    auto log = JsonlLog::Create(path_);
    ASSERT_TRUE(log->WriteStart(0, [](JsonWriter* json) { json->Key("seed").Number(3); }).ok());
    for (uint64_t step = 1; step <= 5; ++step) ASSERT_TRUE(log->Write(Step(step)).ok());
  }
  std::ofstream(path_, std::ios::app) << R"({"kind": "step", "st)";  // killed while writing
  {
    auto log = JsonlLog::Continue(path_, {3});
    ASSERT_TRUE(log.ok()) << log.status().ToString();
    ASSERT_TRUE(log->WriteStart(3, [](JsonWriter*) {}).ok());
    for (uint64_t step = 4; step <= 6; ++step) ASSERT_TRUE(log->Write(Step(step)).ok());
  }
  EXPECT_EQ(NumberOf(Lines()[0], "seed"), 3);
  std::string kinds;
  std::vector<double> steps;
  for (const Struct& line : Lines()) {
    kinds += line.fields().at("kind").string_value() == "start" ? 'S' : '.';
    steps.push_back(NumberOf(line, "step"));
  }
  EXPECT_EQ(kinds, "S...S...");
  EXPECT_EQ(steps, (std::vector<double>{0, 1, 2, 3, 3, 4, 5, 6}));
}

// As a run leaves it that was stopped before an evaluation, and killed behind it when it went on.
TEST_F(JsonlLogTest, EvaluationThatIsStillToBeDoneIsTakenOut) {
  for (const bool is_done : {false, true}) {
    {
      auto log = JsonlLog::Create(path_);
      EvaluationEvent evaluation;
      for (uint64_t step = 1; step <= 4; ++step) {
        ASSERT_TRUE(log->Write(Step(step)).ok());
        evaluation.step = step;
        if (step % 2 != 0) continue;
        ASSERT_TRUE(log->Write(evaluation, {}).ok());
      }
    }
    ASSERT_TRUE(JsonlLog::Continue(path_, {4, is_done}).ok());
    std::string kinds;
    for (const Struct& line : Lines()) {
      kinds += line.fields().at("kind").string_value() == "evaluation" ? 'E' : '.';
    }
    EXPECT_EQ(kinds, is_done ? "..E..E" : "..E..");
  }
}

TEST_F(JsonlLogTest, ContinuingAMissingLogStartsOne) {
  auto log = JsonlLog::Continue(path_, {10});
  ASSERT_TRUE(log.ok());
  ASSERT_TRUE(log->Write(Step(11)).ok());
  EXPECT_EQ(Lines().size(), 1u);
}

TEST_F(JsonlLogTest, UnwritablePlaceIsAnIoErrorWithThePath) {
  const Status status = JsonlLog::Create("/nonexistent/log.jsonl").status();
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_NE(status.message().find("/nonexistent/log.jsonl"), std::string::npos);
}

TEST_F(JsonlLogTest, FullDiskIsAnIoError) {
  auto log = JsonlLog::Create("/dev/full");
  ASSERT_TRUE(log.ok()) << log.status().ToString();
  EXPECT_EQ(log->Write(Step(1)).code(), StatusCode::kIo);
}

}  // namespace
}  // namespace shardmill
