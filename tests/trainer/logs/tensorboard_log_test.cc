#include "trainer/logs/tensorboard_log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "proto/tensorboard_event.pb.h"
#include "reader/base/file.h"
#include "reader/tf_record.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

class TensorboardLogTest : public testing::Test {
 protected:
  TensorboardLogTest() {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = testing::TempDir() + "/tensorboard_" + test;
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }

  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_)) files.push_back(entry.path());
    return files;
  }

  // Of the one file of the folder; every record of it must be sound.
  std::vector<proto::TensorboardEvent> Events() const {
    EXPECT_EQ(Files().size(), 1u);
    const std::string path = Files().front();
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
    std::vector<proto::TensorboardEvent> events;
    for (;;) {
      const auto record = ReadTfRecord(file.get(), path, 1 << 20);
      EXPECT_TRUE(record.ok()) << record.status().ToString();
      if (!record.ok() || !record->has_value()) return events;
      EXPECT_TRUE(events.emplace_back().ParseFromString(**record));
    }
  }

  std::vector<int64_t> Steps() const {
    std::vector<int64_t> steps;
    for (const auto& event : Events()) steps.push_back(event.step());
    return steps;
  }

  static StepEvent Step(uint64_t step) {
    StepEvent event;
    event.step = step;
    event.loss = 0.5;
    event.learning_rate = 0.25;
    event.images = 8;
    event.wait_ms = 1;
    event.compute_ms = 3;
    return event;
  }

  std::string folder_;
};

std::map<std::string, double> Scalars(const proto::TensorboardEvent& event) {
  std::map<std::string, double> scalars;
  for (const auto& value : event.summary().value()) {
    if (value.has_histo() || value.has_image()) continue;
    scalars[value.tag()] = value.simple_value();
  }
  return scalars;
}

TEST_F(TensorboardLogTest, FirstTheVersionThenTheScalarsOfEachStep) {
  auto log = TensorboardLog::Create(folder_);
  ASSERT_TRUE(log.ok()) << log.status().ToString();
  ASSERT_TRUE(log->Write(Step(7)).ok());
  EXPECT_EQ(FileName(Files().front()).rfind("events.out.tfevents.", 0), 0u);
  const auto events = Events();  // the log is still open: everything is flushed
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_GT(events[0].wall_time(), 1e9);
  EXPECT_EQ(events[1].step(), 7);
  EXPECT_EQ(Scalars(events[1]), (std::map<std::string, double>{{"train/loss", 0.5},
                                                               {"train/learning_rate", 0.25},
                                                               {"train/gradient_norm", 0},
                                                               {"time/images_per_second", 2000},
                                                               {"time/waiting_share", 0.25},
                                                               {"time/copy_share", 0},
                                                               {"time/communication_share", 0}}));
}

TEST_F(TensorboardLogTest, EvaluationsHaveScoresClassesAndTheirHistogram) {
  auto log = TensorboardLog::Create(folder_);
  ASSERT_TRUE(log.ok());
  EvaluationEvent evaluation;
  evaluation.split = "val";
  evaluation.step = 9;
  evaluation.loss = 1.5;
  evaluation.scores.mean_iou = 0.5;
  evaluation.scores.class_iou = {0.25, std::nullopt, 0.75, 0.0};
  ASSERT_TRUE(log->Write(evaluation, {"sky", "pole", "road", "car"}).ok());
  const auto events = Events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(Scalars(events[1]), (std::map<std::string, double>{{"val/loss", 1.5},
                                                               {"val/miou", 0.5},
                                                               {"iou/sky", 0.25},
                                                               {"iou/road", 0.75},
                                                               {"iou/car", 0}}));
  const auto& value = events[1].summary().value(events[1].summary().value_size() - 1);
  EXPECT_EQ(value.tag(), "val/class_iou");
  EXPECT_EQ(value.histo().num(), 3);
  EXPECT_EQ(value.histo().min(), 0);
  EXPECT_EQ(value.histo().max(), 0.75);
  EXPECT_EQ(value.histo().sum(), 1);
  EXPECT_EQ(value.histo().sum_squares(), 0.625);
  std::map<double, double> filled;
  for (int i = 0; i < value.histo().bucket_size(); ++i) {
    if (value.histo().bucket(i) > 0) {
      filled[value.histo().bucket_limit(i)] = value.histo().bucket(i);
    }
  }
  EXPECT_EQ(filled, (std::map<double, double>{{0.05, 1}, {0.25, 1}, {0.75, 1}}));
}

TEST_F(TensorboardLogTest, PicturesKeepTheirBytesAndSize) {
  auto log = TensorboardLog::Create(folder_);
  ASSERT_TRUE(log.ok());
  PictureEvent pictures;
  pictures.split = "val";
  pictures.step = 3;
  pictures.pictures = {{"record 5", 20, 30, std::string("\x89PNG\0bytes", 10)}};
  ASSERT_TRUE(log->Write(pictures).ok());
  const auto events = Events();
  ASSERT_EQ(events.size(), 2u);
  ASSERT_EQ(events[1].summary().value_size(), 1);
  const auto& value = events[1].summary().value(0);
  EXPECT_EQ(value.tag(), "val/record 5");
  EXPECT_EQ(value.image().height(), 20);
  EXPECT_EQ(value.image().width(), 30);
  EXPECT_EQ(value.image().encoded_image_string(), pictures.pictures[0].png);
}

TEST_F(TensorboardLogTest, ResumedRunDropsLaterStepsAndGoesOnInTheSameFile) {
  {
    auto log = TensorboardLog::Create(folder_);
    ASSERT_TRUE(log.ok());
    for (uint64_t step = 1; step <= 5; ++step) ASSERT_TRUE(log->Write(Step(step)).ok());
  }
  auto log = TensorboardLog::Continue(folder_, {3});
  ASSERT_TRUE(log.ok()) << log.status().ToString();
  ASSERT_TRUE(log->Write(Step(4)).ok());
  EXPECT_EQ(Steps(), (std::vector<int64_t>{0, 1, 2, 3, 4}));
}

TEST_F(TensorboardLogTest, ScoresOfASplitStandApartFromTheNumbersOfSteps) {
  auto log = TensorboardLog::Create(folder_);
  ASSERT_TRUE(log.ok());
  EvaluationEvent evaluation;
  evaluation.split = "train";
  evaluation.loss = 2;
  ASSERT_TRUE(log->Write(evaluation, {}).ok());
  EXPECT_EQ(Scalars(Events().back()),
            (std::map<std::string, double>{{"evaluation_train/loss", 2}}));
}

// As a run leaves it that was stopped before an evaluation, and killed behind it when it went on.
TEST_F(TensorboardLogTest, EvaluationThatIsStillToBeDoneIsTakenOut) {
  for (const std::string split : {"val", "train"}) {
    for (const bool is_done : {false, true}) {
      {
        auto log = TensorboardLog::Create(folder_);
        ASSERT_TRUE(log.ok());
        PictureEvent pictures;
        pictures.split = split;
        pictures.step = 2;
        pictures.pictures = {{"record 5", 20, 30, "PNG"}};
        EvaluationEvent evaluation;
        evaluation.split = split;
        evaluation.step = 2;
        ASSERT_TRUE(log->Write(Step(1)).ok() && log->Write(Step(2)).ok());
        ASSERT_TRUE(log->Write(pictures).ok() && log->Write(evaluation, {}).ok());
      }
      ASSERT_TRUE(TensorboardLog::Continue(folder_, {2, is_done}).ok());
      const std::vector<int64_t> all = {0, 1, 2, 2, 2}, before = {0, 1, 2};
      EXPECT_EQ(Steps(), is_done ? all : before) << split;
    }
  }
}

// As a kill in the middle of a write leaves it, at every place.
TEST_F(TensorboardLogTest, AFileCutAnywhereGoesOnBehindItsLastWholeEvent) {
  {
    auto log = TensorboardLog::Create(folder_);
    ASSERT_TRUE(log.ok());
    for (uint64_t step = 1; step <= 2; ++step) ASSERT_TRUE(log->Write(Step(step)).ok());
  }
  const std::string path = Files().front();
  const auto whole = ReadFile(path, 1 << 20);
  ASSERT_TRUE(whole.ok());
  const auto sizes = [&] {
    std::vector<size_t> ends;
    for (const auto& event : Events()) {
      ends.push_back((ends.empty() ? 0 : ends.back()) + event.ByteSizeLong() + 16);
    }
    return ends;
  }();
  for (size_t cut = 0; cut < whole->size(); cut += 3) {
    std::ofstream(path, std::ios::binary) << whole->substr(0, cut);
    auto log = TensorboardLog::Continue(folder_, {10});
    ASSERT_TRUE(log.ok()) << log.status().ToString();
    ASSERT_TRUE(log->Write(Step(11)).ok());
    std::vector<int64_t> expected = {0};
    if (cut >= sizes[1]) expected.push_back(1);
    expected.push_back(11);
    ASSERT_EQ(Steps(), expected) << cut;
  }
}

TEST_F(TensorboardLogTest, NewRunReplacesItsOwnFilesAndNoOthers) {
  for (const char* name :
       {"events.out.tfevents.1.host.2.shardmill", "events.out.tfevents.1.host", "log.jsonl"}) {
    std::ofstream(folder_ + "/" + name) << "old";
  }
  ASSERT_TRUE(TensorboardLog::Create(folder_).ok());
  EXPECT_EQ(Files().size(), 3u);
  EXPECT_FALSE(fs::exists(folder_ + "/events.out.tfevents.1.host.2.shardmill"));
  EXPECT_TRUE(fs::exists(folder_ + "/events.out.tfevents.1.host"));
}

}  // namespace
}  // namespace shardmill
