// Interrupted and resumed runs of the real program equal the straight run, bit for bit.
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "proto/checkpoint.pb.h"
#include "tests/trainer/shape_dataset.h"
#include "tests/trainer/train_program.h"
#include "trainer/checkpoint/checkpoint.h"

namespace shardmill {
namespace {

using Words = std::vector<std::string>;

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class ResumeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { dataset_ = WriteShapeDataset("resume_shapes", {}); }

  // 4 steps per epoch, 16 in all.
  static Words Run(const std::string& output) {
    return {dataset_, "--output", output, "--width",   "4", "--depth",  "2", "--batch",
            "6",      "--lr",     "0.02", "--threads", "1", "--epochs", "4"};
  }

  static void ExpectSuccess(const ProgramResult& result) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }

  static std::string dataset_;
};
std::string ResumeTest::dataset_;

// Everything that decides how a run goes on.
void ExpectSameState(const std::string& first_path, const std::string& second_path) {
  const auto first = LoadedCheckpoint::Read(first_path);
  const auto second = LoadedCheckpoint::Read(second_path);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  EXPECT_EQ(first->description().progress().SerializeAsString(),
            second->description().progress().SerializeAsString());
  ASSERT_EQ(first->description().tensors_size(), 4);
  for (int i = 0; i < 4; ++i) {
    const proto::CheckpointTensor& tensor = first->description().tensors(i);
    EXPECT_EQ(tensor.checksum(), second->description().tensors(i).checksum()) << tensor.name();
    EXPECT_GT(tensor.elements(), 0u);
  }
}

// Weights, moments and averages.
void ExpectSameTensors(const std::string& first_path, const std::string& second_path) {
  const auto first = LoadedCheckpoint::Read(first_path);
  const auto second = LoadedCheckpoint::Read(second_path);
  ASSERT_TRUE(first.ok()) << first.status().ToString();
  ASSERT_TRUE(second.ok()) << second.status().ToString();
  ASSERT_EQ(first->description().tensors_size(), second->description().tensors_size());
  for (int i = 0; i < first->description().tensors_size(); ++i) {
    const proto::CheckpointTensor& tensor = first->description().tensors(i);
    EXPECT_EQ(tensor.checksum(), second->description().tensors(i).checksum()) << tensor.name();
  }
}

std::map<uint64_t, double> LossPerStep(const std::string& output) {
  std::map<uint64_t, double> losses;
  for (const LogLine& line : ReadLog(output + "/log.jsonl")) {
    if (line.kind == "step") {
      EXPECT_TRUE(losses.emplace(line.step, line.loss).second) << "step " << line.step << " twice";
    }
  }
  return losses;
}

TEST_F(ResumeTest, EveryStoppingPlaceGivesTheStraightRun) {
  const std::string straight = FreshPath("straight");
  ExpectSuccess(RunTrainer(Run(straight) + Words{"--limit-steps", "11"}));
  for (const std::string stop : {"1", "3", "4", "6", "8"}) {
    const std::string output = FreshPath("stopped_" + stop);
    ExpectSuccess(RunTrainer(Run(output) + Words{"--limit-steps", stop}));
    ExpectSuccess(RunTrainer({dataset_, "--output", output, "--resume", "--limit-steps", "11"}));
    ExpectSameState(straight + "/last.ckpt", output + "/last.ckpt");
    EXPECT_EQ(LossPerStep(output), LossPerStep(straight)) << "stopped after " << stop;
  }
}

TEST_F(ResumeTest, OptimizersAndSchedulesResume) {
  for (const Words& words :
       {Words{"--optimizer", "sgd", "--lr", "0.05"},
        Words{"--optimizer", "adam", "--schedule", "cosine", "--warmup-steps", "3"},
        Words{"--optimizer", "rmsprop", "--lr", "0.002", "--ema", "0.9", "--accumulate", "2",
              "--model", "enet", "--width", "8", "--depth", "0"},
        Words{"--deterministic", "--micro-shards", "2", "--accumulate", "3", "--ema", "0.8",
              "--clip-norm", "0.5", "--dice", "1", "--label-smoothing", "0.1", "--ohem", "0.6"}}) {
    const std::string straight = FreshPath("straight_of");
    const std::string output = FreshPath("stopped_of");
    const ProgramResult expected = RunTrainer(Run(straight) + words);
    ExpectSuccess(expected);
    ExpectSuccess(RunTrainer(Run(output) + words + Words{"--limit-steps", "7"}));
    // The limit on steps is not inherited.
    const ProgramResult resumed = RunTrainer({dataset_, "--output", output, "--resume"});
    ExpectSuccess(resumed);
    EXPECT_EQ(resumed.err.find("limit_steps:"), std::string::npos) << resumed.err;
    EXPECT_EQ(ValueAfter(resumed.out, "weights hash"), ValueAfter(expected.out, "weights hash"));
    EXPECT_EQ(LossPerStep(output), LossPerStep(straight));
    ExpectSameTensors(straight + "/best.ckpt", output + "/best.ckpt");
  }
}

// Steps of a device are reported one late, its moments and average live there, and its input kernel
// moves the rows: a run on it goes on as it was, and as one of the processor.
TEST_F(ResumeTest, SimulatedDeviceResumesAndTrainsAsTheProcessor) {
  const Words words = {"--ema",    "0.9", "--clip-norm",  "0.5",   "--flip",       "0.5",
                       "--seed",   "3",   "--train-crop", "12x20", "--brightness", "0.2",
                       "--epochs", "3"};
  const Words device = words + Words{"--device", "cuda-host"};
  const std::string processor = FreshPath("processor");
  ExpectSuccess(RunTrainer(Run(processor) + words));
  const std::string straight = FreshPath("straight_device");
  const ProgramResult expected = RunTrainer(Run(straight) + device);
  ExpectSuccess(expected);
  const std::string output = FreshPath("stopped_device");
  ExpectSuccess(RunTrainer(Run(output) + device + Words{"--limit-steps", "6"}));
  const ProgramResult resumed = RunTrainer({dataset_, "--output", output, "--resume"});
  ExpectSuccess(resumed);
  EXPECT_EQ(ValueAfter(resumed.out, "weights hash"), ValueAfter(expected.out, "weights hash"));
  ExpectSameTensors(straight + "/best.ckpt", output + "/best.ckpt");
  const std::map<uint64_t, double> losses = LossPerStep(straight);
  EXPECT_EQ(LossPerStep(output), losses);
  const std::map<uint64_t, double> of_processor = LossPerStep(processor);
  ASSERT_EQ(losses.size(), 12u);
  for (const auto& [step, loss] : of_processor) EXPECT_NEAR(losses.at(step), loss, 0.02) << step;
  const ProgramResult narrow =
      RunTrainer(Run(FreshPath("narrow_device")) + device + Words{"--precision", "bf16"});
  ExpectSuccess(narrow);
}

// The log is a pipe here: the test sees each step as it ends, and the program waits for the test.
class InterruptTest : public ResumeTest {
 protected:
  // Sends `signal` once `steps` steps are logged; returns how the program ended.
  static ProgramResult Interrupt(const std::string& output, int signal, int steps) {
    LogPipe log(output);
    RunningProgram program(Run(output) + Words{"--epochs", "5000"});
    std::ifstream& lines = log.Lines();
    std::string line;
    for (int seen = 0; seen < steps && std::getline(lines, line);) {
      seen += line.find("\"kind\": \"step\"") != std::string::npos;
    }
    EXPECT_TRUE(program.pid() > 0 && kill(program.pid(), signal) == 0);
    while (std::getline(lines, line)) {
    }
    return program.Wait();
  }
};

TEST_F(InterruptTest, SignalWritesACheckpointThatResumesBitForBit) {
  struct Case {
    int signal;
    int exit_code;
    int steps;
  };
  for (const Case& c : {Case{SIGINT, 130, 6}, Case{SIGTERM, 143, 9}}) {
    const std::string output = FreshPath("interrupted");
    const ProgramResult interrupted = Interrupt(output, c.signal, c.steps);
    EXPECT_EQ(interrupted.exit_code, c.exit_code) << interrupted.err;
    EXPECT_NE(interrupted.err.find("--resume"), std::string::npos) << interrupted.err;
    const auto checkpoint = LoadedCheckpoint::Read(output + "/last.ckpt");
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().ToString();
    const uint64_t steps = checkpoint->description().progress().steps();
    EXPECT_GE(steps, static_cast<uint64_t>(c.steps));
    const std::string limit = std::to_string(steps + 7);
    ExpectSuccess(RunTrainer({dataset_, "--output", output, "--resume", "--limit-steps", limit}));
    const std::string straight = FreshPath("not_interrupted");
    ExpectSuccess(RunTrainer(Run(straight) + Words{"--epochs", "5000", "--limit-steps", limit}));
    ExpectSameState(straight + "/last.ckpt", output + "/last.ckpt");
  }
}

TEST_F(InterruptTest, SecondRunIntoTheSameFolderIsRefusedAndTheFirstGoesOn) {
  const std::string output = FreshPath("twice");
  std::optional<LogPipe> log(output);
  RunningProgram first(Run(output) + Words{"--epochs", "5000"});
  std::ifstream& lines = log->Lines();
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));  // it has begun
  const ProgramResult second = RunTrainer(Run(output) + Words{"--overwrite"});
  EXPECT_EQ(second.exit_code, 2) << second.err;
  EXPECT_NE(second.err.find("another program is writing to the folder " + output),
            std::string::npos)
      << second.err;
  EXPECT_EQ(kill(first.pid(), SIGINT), 0);
  while (std::getline(lines, line)) {
  }
  EXPECT_EQ(first.Wait().exit_code, 130);
  log.reset();
  ExpectSuccess(RunTrainer(
      {dataset_, "--output", output, "--resume", "--epochs", "5001", "--limit-steps", "1"}));
}

std::vector<float> Weights(const std::string& path) {
  const auto checkpoint = LoadedCheckpoint::Read(path);
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().ToString();
  for (const proto::CheckpointTensor& tensor : checkpoint->description().tensors()) {
    if (tensor.name() != "parameters") continue;
    std::vector<float> values(tensor.elements());
    const auto count = static_cast<int64_t>(values.size());
    EXPECT_TRUE(checkpoint->CopyTensor("parameters", values.data(), count).ok());
    return values;
  }
  return {};
}

// With a rate of almost 0 the weights stay as they start; plain descent moves them by rate ×
// gradient.
TEST_F(ResumeTest, GradientsAreShortenedToClipNorm) {
  const auto train = [](const std::string& name, const Words& more) {
    const std::string output = FreshPath(name);
    const Words plain = {"--optimizer",    "sgd", "--momentum",    "0", "--schedule", "constant",
                         "--weight-decay", "0",   "--limit-steps", "1"};
    ExpectSuccess(RunTrainer(Run(output) + plain + more));
    return Weights(output + "/last.ckpt");
  };
  const std::vector<float> start = train("clip_start", {"--lr", "1e-30"});
  const auto moved = [&](const std::vector<float>& weights) {
    double sum = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      sum += (weights[i] - start[i]) * static_cast<double>(weights[i] - start[i]);
    }
    return std::sqrt(sum);
  };
  ASSERT_FALSE(start.empty());
  const double free = moved(train("clip_free", {"--lr", "1"}));
  EXPECT_GT(free, 0.1);
  EXPECT_NEAR(moved(train("clip_short", {"--lr", "1", "--clip-norm", "0.05"})), 0.05, 1e-5);
  EXPECT_DOUBLE_EQ(moved(train("clip_long", {"--lr", "1", "--clip-norm", "1e6"})), free);
}

class ResumeRefusalTest : public ResumeTest {
 protected:
  void SetUp() override {
    output_ = FreshPath("refusal");
    ExpectSuccess(RunTrainer(Run(output_) + Words{"--limit-steps", "5"}));
  }

  ProgramResult Resume(const Words& words) {
    return RunTrainer(Words{dataset_, "--output", output_, "--resume"} + words);
  }
  void ExpectRefused(const ProgramResult& result, int exit_code, const std::string& message) {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
  }

  std::string output_;
};

TEST_F(ResumeRefusalTest, OtherModelOrDataSetIsRefusedAndNamed) {
  ExpectRefused(Resume({"--width", "8"}), 2, "width 8");
  ExpectRefused(Resume({"--model", "enet"}), 2, "this run asks for enet");
  ShapeDatasetOptions options;
  options.seed = 2;
  const std::string other = WriteShapeDataset("resume_other", options);
  ExpectRefused(RunTrainer({other, "--output", output_, "--resume"}), 2, "data set");
}

TEST_F(ResumeRefusalTest, DamagedCheckpointIsDataLossAndMissingOneNotFound) {
  const std::string path = output_ + "/last.ckpt";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  ExpectRefused(Resume({}), 4, path);
  std::filesystem::remove(path);
  ExpectRefused(Resume({}), 3, path);
}

TEST_F(ResumeRefusalTest, CompleteRunAsksForMoreEpochs) {
  ExpectSuccess(Resume({"--limit-steps", "0"}));
  ExpectRefused(Resume({}), 2, "--epochs");
  const ProgramResult longer = Resume({"--epochs", "5"});
  EXPECT_EQ(longer.exit_code, 0) << longer.err;
  EXPECT_NE(longer.err.find("epochs: 4 → 5"), std::string::npos) << longer.err;
}

TEST_F(ResumeRefusalTest, AnotherOrderInsideAnEpochIsRefusedAndBehindItAllowed) {
  ExpectRefused(Resume({"--batch", "3"}), 2, "resume with --batch 6");
  ExpectRefused(Resume({"--seed", "4"}), 2, "resume with --seed 0");
  ExpectRefused(Resume({"--train-split", "val", "--batch", "6"}), 2,
                "resume with --train-split tr");
  ExpectSuccess(Resume({"--limit-steps", "8"}));
  ExpectSuccess(Resume({"--batch", "3", "--seed", "4", "--limit-steps", "9"}));
}

// What the last line names is there, and is the network that scored so.
TEST_F(ResumeTest, BestCheckpointStaysThatOfTheRunWhereverItGoesOn) {
  const auto best_epoch = [](const std::string& path) -> int64_t {
    const auto checkpoint = LoadedCheckpoint::Read(path);
    if (!checkpoint.ok()) return -1;
    const proto::Progress& progress = checkpoint->description().progress();
    EXPECT_EQ(progress.epoch(), progress.best_epoch() + 1);
    return static_cast<int64_t>(progress.best_epoch()) + 1;
  };
  const std::string first = FreshPath("best_first"), second = FreshPath("best_second");
  ExpectSuccess(RunTrainer(Run(first) + Words{"--epochs", "12", "--keep-epochs", "12"}));
  const int64_t best = best_epoch(first + "/best.ckpt");
  ASSERT_GT(best, 1);
  // Into another folder: the best of before goes with it.
  const ProgramResult elsewhere =
      RunTrainer({dataset_, "--resume", first + "/last.ckpt", "--output", second, "--epochs", "13",
                  "--limit-steps", "49"});
  ExpectSuccess(elsewhere);
  EXPECT_NE(elsewhere.out.find("in epoch " + std::to_string(best) + ", kept in " + second),
            std::string::npos)
      << elsewhere.out;
  EXPECT_EQ(best_epoch(second + "/best.ckpt"), best);
  // From an earlier checkpoint: the best of the epochs that are taken back does not stay.
  ExpectSuccess(RunTrainer({dataset_, "--resume", first + "/epoch-00001.ckpt", "--output", first,
                            "--limit-steps", "5"}));
  EXPECT_EQ(best_epoch(first + "/best.ckpt"), 1);
  // Where it is lost, the best is chosen anew.
  std::filesystem::remove(first + "/best.ckpt");
  const ProgramResult anew =
      RunTrainer({dataset_, "--resume", "--output", first, "--limit-steps", "12"});
  ExpectSuccess(anew);
  EXPECT_NE(anew.err.find("of epoch 1, is not there any more"), std::string::npos) << anew.err;
  EXPECT_GT(best_epoch(first + "/best.ckpt"), 1);
}

TEST_F(ResumeTest, BestScoreOfAnotherSplitIsNotCompared) {
  const std::string output = FreshPath("other_val");
  ExpectSuccess(RunTrainer(Run(output) + Words{"--limit-steps", "4"}));
  const Words other = {"--val-split", "train", "--limit-steps", "8"};
  const ProgramResult in_place =
      RunTrainer(Words{dataset_, "--output", output, "--resume"} + other);
  EXPECT_EQ(in_place.exit_code, 2);
  EXPECT_NE(in_place.err.find("go on with --val-split val"), std::string::npos) << in_place.err;
  const std::string elsewhere = FreshPath("other_val_elsewhere");
  const ProgramResult resumed =
      RunTrainer(Words{dataset_, "--output", elsewhere, "--resume", output} + other);
  ExpectSuccess(resumed);
  EXPECT_NE(resumed.err.find("the best score so far is of split 'val', not of 'train'"),
            std::string::npos)
      << resumed.err;
  EXPECT_NE(resumed.out.find(" in epoch 2, kept in "), std::string::npos) << resumed.out;
}

std::string KindsAndSteps(const std::string& output) {
  std::string text;
  for (const LogLine& line : ReadLog(output + "/log.jsonl")) {
    text += line.kind + " " + std::to_string(line.step) + ", ";
  }
  return text;
}

TEST_F(ResumeTest, RunInAnotherFolderDoesNotGoOnInTheLogThere) {
  const std::string first = FreshPath("log_first"), second = FreshPath("log_second");
  ExpectSuccess(RunTrainer(Run(first) + Words{"--limit-steps", "2"}));
  ExpectSuccess(RunTrainer(Run(second) + Words{"--limit-steps", "3", "--seed", "7"}));
  ExpectSuccess(RunTrainer({dataset_, "--resume", first + "/last.ckpt", "--output", second,
                            "--overwrite", "--limit-steps", "3"}));
  EXPECT_EQ(KindsAndSteps(second), "start 2, step 3, ");
  EXPECT_EQ(KindsAndSteps(first), "start 0, step 1, step 2, ");
}

// A checkpoint between the last step of an epoch and its evaluation, beside the log of a process
// that was killed when it had done the evaluation.
TEST_F(ResumeTest, EvaluationThatIsDoneAgainStandsInTheLogOnce) {
  const std::string output = FreshPath("evaluated_again"), last = output + "/last.ckpt";
  ExpectSuccess(RunTrainer(Run(output) + Words{"--limit-steps", "4"}));
  const auto checkpoint = LoadedCheckpoint::Read(last);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().ToString();
  proto::Checkpoint description = checkpoint->description();
  std::vector<std::vector<float>> buffers;
  std::vector<TensorView> tensors;
  for (const proto::CheckpointTensor& tensor : description.tensors()) {
    std::vector<float>& buffer = buffers.emplace_back(tensor.elements());
    const auto count = static_cast<int64_t>(buffer.size());
    ASSERT_TRUE(checkpoint->CopyTensor(tensor.name(), buffer.data(), count).ok());
    tensors.push_back({tensor.name(), buffer.data(), count});
  }
  ASSERT_EQ(description.progress().epoch(), 1u);
  description.mutable_progress()->set_epoch(0);
  description.mutable_progress()->set_step_in_epoch(4);
  description.clear_tensors();
  ASSERT_TRUE(WriteCheckpoint(last, description, tensors).ok());
  ExpectSuccess(RunTrainer({dataset_, "--output", output, "--resume", "--limit-steps", "5"}));
  EXPECT_EQ(KindsAndSteps(output),
            "start 0, step 1, step 2, step 3, step 4, start 4, evaluation 4, step 5, ");
}

TEST_F(ResumeRefusalTest, CheckpointOfAnotherFolderDoesNotReplaceTheRunThere) {
  const std::string other = FreshPath("refusal_other");
  ExpectSuccess(RunTrainer(Run(other) + Words{"--limit-steps", "2"}));
  const Words words = {dataset_, "--resume", output_ + "/last.ckpt", "--output", other};
  ExpectRefused(RunTrainer(words), 2, "already holds a run");
}

}  // namespace
}  // namespace shardmill
