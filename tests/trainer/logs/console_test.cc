#include "trainer/logs/console.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace shardmill {
namespace {

// Collects what the console prints.
class ConsoleTest : public testing::Test {
 protected:
  ConsoleTest() { options_.out = open_memstream(&text_, &bytes_); }
  ~ConsoleTest() override {
    std::fclose(options_.out);
    std::free(text_);
  }

  std::string Printed() {
    std::fflush(options_.out);
    return std::string(text_, bytes_);
  }

  static StepEvent Step(uint64_t step) {
    StepEvent event;
    event.step = step;
    event.epoch = 2;
    event.loss = 0.5;
    event.images = 8;
    event.wait_ms = 2;
    event.compute_ms = 78;
    return event;
  }

  static EpochEvent Epoch() {
    EpochEvent event;
    event.epoch = 2;
    event.step = 50;
    event.loss = 1.25;
    event.learning_rate = 0.005;
    event.images = 400;
    event.wait_ms = 40;
    event.compute_ms = 3960;
    return event;
  }

  ConsoleOptions options_;
  char* text_ = nullptr;
  size_t bytes_ = 0;
};

TEST_F(ConsoleTest, EpochRowShowsRateWaitingAndScore) {
  options_.epochs = 10;
  Console console(options_);
  EvaluationEvent evaluation;
  evaluation.loss = 0.75;
  evaluation.best = true;
  EpochEvent event = Epoch();
  event.evaluation = &evaluation;
  console.Epoch(event, 0.4321, 1);
  evaluation.best = false;
  console.Epoch(event, std::nullopt, 2);
  EXPECT_EQ(Printed(),
            "    epoch     step      loss       rate  images/s  waiting  val loss      mIoU\n"
            "     2/10       50    1.2500      0.005     100.0    1.0 %    0.7500    0.4321 *\n"
            "     2/10       50    1.2500      0.005     100.0    1.0 %    0.7500         –\n");
}

TEST_F(ConsoleTest, RowsWithoutEvaluationHaveNoScoreColumns) {
  options_.epochs = 10;
  options_.evaluates = false;
  Console console(options_);
  console.Epoch(Epoch(), std::nullopt, 1);
  EXPECT_EQ(Printed(),
            "    epoch     step      loss       rate  images/s  waiting\n"
            "     2/10       50    1.2500      0.005     100.0    1.0 %\n");
}

TEST_F(ConsoleTest, PlainOutputHasALineEveryTenSeconds) {
  options_.epochs = 10;
  options_.total_steps = 1'000;
  Console console(options_);
  for (int second = 0; second <= 25; ++second) console.Step(Step(second + 1), second);
  EXPECT_EQ(Printed(),
            "     2/10  step 11 of 1000, loss 0.5000, 100.0 images/s, waiting 2.5 %, "
            "1 min 19 s left\n"
            "     2/10  step 21 of 1000, loss 0.5000, 100.0 images/s, waiting 2.5 %, "
            "1 min 18 s left\n");
}

TEST_F(ConsoleTest, TerminalLineIsRewrittenAtMostSixTimesASecondAndErased) {
  options_.terminal = true;
  {
    Console console(options_);
    for (int i = 0; i < 100; ++i) console.Step(Step(i + 1), 0.01 * i);
  }
  const std::string printed = Printed();
  size_t lines = 0;
  for (const char c : printed) lines += c == '\r';
  EXPECT_GE(lines, 5u);
  EXPECT_LE(lines, 8u);  // six in the second, one at its start, one that erases
  EXPECT_EQ(printed.find('\n'), std::string::npos);
  EXPECT_EQ(printed.substr(printed.size() - 4), "\r\x1b[K");
}

TEST_F(ConsoleTest, QuietConsolePrintsMessagesOnlyAndEscapesThem) {
  options_.quiet = true;
  options_.terminal = true;
  Console console(options_);
  console.Step(Step(1), 0);
  console.Busy("evaluating", 50);
  console.Epoch(Epoch(), std::nullopt, 100);
  console.Message("odd \x1b[31m name");
  EXPECT_EQ(Printed(), "odd \\x1b[31m name\n");
}

TEST_F(ConsoleTest, WorkWithoutStepsIsShownLikeSteps) {
  Console console(options_);
  for (int second = 0; second <= 25; ++second) {
    console.Busy(ProgressText("evaluating", 2 * second, 100, second), second);
  }
  EXPECT_EQ(Printed(),
            "  evaluating: 20 of 100 records, 20 %, 2.0 records/s, 40 s left\n"
            "  evaluating: 40 of 100 records, 40 %, 2.0 records/s, 30 s left\n");
}

TEST(ProgressText, LeavesOutWhatIsNotKnownYet) {
  EXPECT_EQ(ProgressText("predicting", 0, 7, 0), "predicting: 0 of 7 records, 0 %");
}

TEST(ClassTable, NamesAreEscapedAndAbsentClassesHaveADash) {
  ConfusionMatrix matrix(3, std::nullopt);
  matrix.AddCount(0, 0, 3);
  matrix.AddCount(0, 1, 1);
  matrix.AddCount(1, 1, 4);
  EXPECT_EQ(ClassTable(ComputeScores(matrix), {"sky", "c\ar", "dog"}, LabelledUnit::kPixel, false),
            "  class      IoU  accuracy   pixels\n"
            "  sky     0.7500    0.7500  50.00 %\n"
            "  c\\x07r  0.8000    1.0000  50.00 %\n"
            "  dog          –         –   0.00 %\n"
            "  mean    0.7750    0.8750\n");
}

TEST(ClassTable, LabelsOfImagesHaveNoIou) {
  ConfusionMatrix matrix(2, std::nullopt);
  matrix.AddCount(0, 0, 3);
  matrix.AddCount(0, 1, 1);
  matrix.AddCount(1, 1, 4);
  EXPECT_EQ(ClassTable(ComputeScores(matrix), {"cat", "dog"}, LabelledUnit::kImage, false),
            "  class  accuracy   images\n"
            "  cat      0.7500  50.00 %\n"
            "  dog      1.0000  50.00 %\n"
            "  mean     0.8750\n");
}

}  // namespace
}  // namespace shardmill
