// The real program on tiny data sets: what it trains, prints, stores and refuses.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "reader/base/file.h"
#include "tests/trainer/shape_dataset.h"
#include "tests/trainer/small_run.h"
#include "tests/trainer/train_program.h"

namespace shardmill {
namespace {

// "HEIGHTxWIDTH" of a PNG file.
std::string PngSize(const std::string& path) {
  const auto bytes = ReadFile(path, 1 << 20);
  if (!bytes.ok() || bytes->size() < 24) return "no picture";
  const auto number = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = at; i < at + 4; ++i) value = value << 8 | static_cast<uint8_t>((*bytes)[i]);
    return std::to_string(value);
  };
  return number(20) + "x" + number(16);
}

TEST(TrainProgram, LearnsAndReports) {
  const std::string output = FreshPath("learns");
  const ProgramResult result = RunTrainer(Small(Shapes(), output) + Words{"--epochs", "25"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GT(std::atof(ValueAfter(result.out, "best mIoU").c_str()), 0.95) << result.out;
  EXPECT_EQ(ValueAfter(result.out, "weights hash").size(), 32u);
  EXPECT_NE(result.err.find("Model        model=unet width=4 depth=2"), std::string::npos);
  EXPECT_NE(result.err.find("images/s"), std::string::npos);
  std::map<std::string, int> kinds;
  for (const LogLine& line : ReadLog(output + "/log.jsonl")) {
    ++kinds[line.kind];
    if (line.kind == "step") {
      EXPECT_EQ(line.step, static_cast<uint64_t>(kinds["step"]));
      EXPECT_TRUE(line.has_times);
    }
  }
  EXPECT_EQ(kinds, (std::map<std::string, int>{{"start", 1}, {"step", 100}, {"evaluation", 25}}));
  EXPECT_TRUE(std::filesystem::exists(output + "/last.ckpt"));
  EXPECT_TRUE(std::filesystem::exists(output + "/best.ckpt"));
  EXPECT_TRUE(std::filesystem::exists(output + "/config.json"));
  int events = 0;
  for (const auto& entry : std::filesystem::directory_iterator(output)) {
    events += entry.path().filename().string().rfind("events.out.tfevents.", 0) == 0;
  }
  EXPECT_EQ(events, 1);
}

TEST(TrainProgram, LearnsInBf16WhereTheProcessorHasIt) {
  const std::string output = FreshPath("bf16");
  const Words words =
      Small(Shapes(), output) + Words{"--device", "cpu", "--precision", "bf16", "--epochs", "25"};
  setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
  ExpectFailure(RunTrainer(words), 5, "--precision bf16: this processor has no instructions");
  unsetenv("ONEDNN_MAX_CPU_ISA");
  const ProgramResult result = RunTrainer(words);
  if (result.exit_code == 5) GTEST_SKIP() << result.err;
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GT(std::atof(ValueAfter(result.out, "best mIoU").c_str()), 0.9) << result.out;
}

TEST(TrainProgram, ClassifierLearns) {
  ShapeDatasetOptions options;
  options.kind = TaskKind::kClassification;
  const std::string dataset = WriteShapeDataset("class_ids", options);
  const std::string output = FreshPath("classifier");
  const Words words = Small(dataset, output) + Words{"--epochs", "20"};
  ExpectFailure(RunTrainer(words), 2, "use --model classifier");
  const ProgramResult result = RunTrainer(words + Words{"--model", "classifier"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GT(std::atof(ValueAfter(result.out, "best accuracy").c_str()), 0.9) << result.out;
  const ProgramResult scores =
      RunTrainer({"evaluate", dataset, "--checkpoint", output + "/best.ckpt", "--threads", "1"});
  ASSERT_EQ(scores.exit_code, 0) << scores.err;
  EXPECT_NE(scores.out.find("images"), std::string::npos) << scores.out;
  for (const char* word : {"IoU", "pixel"}) {
    EXPECT_EQ((result.out + scores.out).find(word), std::string::npos) << result.out << scores.out;
  }
}

TEST(TrainProgram, EvaluatesByWindowsAndPredicts) {
  const std::string output = FreshPath("predicts");
  const ProgramResult trained = RunTrainer(Small(Shapes(), output) + Words{"--ema", "0.5"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Words scored = {Shapes(), "--checkpoint", output + "/best.ckpt", "--threads", "1"};
  const std::string picture = output + "/confusion.png";
  const ProgramResult whole =
      RunTrainer(Words{"evaluate"} + scored + Words{"--json", "--confusion", picture});
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_NE(whole.out.find("\"confusion\""), std::string::npos) << whole.out;
  EXPECT_TRUE(std::filesystem::exists(picture));
  // The average of the weights was the best: evaluation sees it as training did.
  const double best = std::atof(ValueAfter(trained.out, "best mIoU").c_str());
  EXPECT_NEAR(std::atof(ValueAfter(whole.out, "\"miou\":").c_str()), best, 1e-4);
  const ProgramResult windows =
      RunTrainer(Words{"evaluate"} + scored + Words{"--window", "16x16", "--json"});
  EXPECT_EQ(ValueAfter(windows.out, "\"miou\":"), ValueAfter(whole.out, "\"miou\":"));
  ExpectFailure(
      RunTrainer(Words{"evaluate"} + scored + Words{"--window", "8x8", "--stride", "9x8"}), 2,
      "--stride");
  const ProgramResult predicted =
      RunTrainer(Words{"predict"} + scored + Words{"--output", output + "/maps", "--limit", "3"});
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_EQ(predicted.out, "3 predictions in " + output + "/maps\n");
  int maps = 0, overlays = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(output + "/maps")) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file()) continue;
    (name.find(".overlay.png") != std::string::npos ? overlays : maps) += 1;
  }
  EXPECT_EQ(maps, 3);
  EXPECT_EQ(overlays, 3);
  const Words again =
      Words{"predict"} + scored + Words{"--output", output + "/maps", "--limit", "3"};
  ExpectFailure(RunTrainer(again), 2, "--overwrite");
  EXPECT_EQ(RunTrainer(again + Words{"--overwrite"}).exit_code, 0);
  ExpectFailure(RunTrainer(Words{"predict"} + scored + Words{"--output", Shapes()}), 2,
                "the folder of the data set");
}

TEST(TrainProgram, ModelOfAFileTrainsResumesAndIsEvaluatedWithoutTheFile) {
  const std::string output = FreshPath("model_file");
  const std::string file = FreshPath("model") + ".txtpb";
  const ProgramResult printed = RunTrainer({"model", "unet", "--width", "2", "--depth", "1"});
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  std::ofstream(file) << printed.out;
  const Words words = {Shapes(), "--output", output,      "--model", file,       "--batch", "6",
                       "--lr",   "0.02",     "--threads", "1",       "--epochs", "2"};
  ASSERT_EQ(RunTrainer(words + Words{"--limit-steps", "5"}).exit_code, 0);
  std::filesystem::remove(file);
  const ProgramResult resumed = RunTrainer({Shapes(), "--output", output, "--resume"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const ProgramResult scores =
      RunTrainer({"evaluate", Shapes(), "--checkpoint", output + "/last.ckpt", "--threads", "1"});
  EXPECT_EQ(scores.exit_code, 0) << scores.err;
  ExpectFailure(RunTrainer(words + Words{"--overwrite"}), 3, file);
}

TEST(TrainProgram, SequencesOfUnequalLengthAreLearned) {
  ShapeDatasetOptions options;
  options.kind = TaskKind::kClassification;
  options.sequences = true;
  const std::string dataset = WriteShapeDataset("sequences", options);
  const std::string output = FreshPath("tdnn");
  const Words words = {dataset, "--output", output,      "--width", "16",       "--batch", "6",
                       "--lr",  "0.01",     "--threads", "1",       "--epochs", "12"};
  ExpectFailure(RunTrainer(words + Words{"--model", "resnet18"}), 2, "use --model tdnn");
  const ProgramResult result = RunTrainer(words + Words{"--model", "tdnn"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("sequences of 3 features"), std::string::npos) << result.err;
  EXPECT_GT(std::atof(ValueAfter(result.out, "best accuracy").c_str()), 0.9) << result.out;
  const ProgramResult stopped =
      RunTrainer(Words{dataset, "--model", "tdnn"} + Words(words.begin() + 1, words.end()) +
                 Words{"--overwrite", "--limit-steps", "20"});
  ASSERT_EQ(stopped.exit_code, 0) << stopped.err;
  const ProgramResult resumed = RunTrainer({dataset, "--output", output, "--resume"});
  EXPECT_EQ(ValueAfter(resumed.out, "weights hash"), ValueAfter(result.out, "weights hash"));
  // Evaluation pads other records to other lengths: the scores are the same.
  const Words evaluate = {"evaluate",  dataset, "--checkpoint", output + "/last.ckpt",
                          "--threads", "1",     "--json"};
  const ProgramResult single = RunTrainer(evaluate + Words{"--batch", "1"});
  const ProgramResult padded = RunTrainer(evaluate + Words{"--batch", "7"});
  ASSERT_EQ(single.exit_code, 0) << single.err;
  EXPECT_NEAR(std::atof(ValueAfter(single.out, "\"loss\":").c_str()),
              std::atof(ValueAfter(padded.out, "\"loss\":").c_str()), 1e-4);
}

TEST(TrainProgram, ImagesOfSeveralSizesTrainInCropsAndAreScoredWhole) {
  ShapeDatasetOptions options;
  options.several_sizes = true;
  const std::string dataset = WriteShapeDataset("several_sizes_run", options);
  const std::string output = FreshPath("several_sizes");
  const Words words = Small(dataset, output) + Words{"--epochs", "20"};
  ExpectFailure(RunTrainer(words), 2, "--train-crop HEIGHTxWIDTH");
  const ProgramResult result = RunTrainer(words + Words{"--train-crop", "16x12"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GT(std::atof(ValueAfter(result.out, "best mIoU").c_str()), 0.9) << result.out;
  // Nothing depends on which images share a batch.
  const Words scored = {dataset, "--checkpoint", output + "/last.ckpt", "--threads", "1"};
  const auto score = [&](const Words& more) {
    const ProgramResult scores = RunTrainer(Words{"evaluate", "--json"} + scored + more);
    EXPECT_EQ(scores.exit_code, 0) << scores.err;
    return scores.out.substr(scores.out.find("\"ignored_pixels\""));
  };
  const std::string single = score({"--batch", "1"});
  EXPECT_EQ(score({"--batch", "5"}), single);
  EXPECT_EQ(score({"--window", "24x24"}), single);
  const ProgramResult predicted =
      RunTrainer(Words{"predict", "--output", output + "/maps"} + scored);
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_EQ(PngSize(output + "/maps/val/3.png"), "22x19");  // width 16 + 21 % 9 = 19, high 22
}

TEST(TrainProgram, SameSeedGivesTheSameWeightsAndAnotherSeedOthers) {
  const auto hash = [](const std::string& output, const std::string& seed) {
    const ProgramResult result =
        RunTrainer(Small(Shapes(), FreshPath(output)) + Words{"--seed", seed});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return ValueAfter(result.out, "weights hash");
  };
  const std::string first = hash("seed_1a", "1");
  EXPECT_EQ(hash("seed_1b", "1"), first);
  EXPECT_NE(hash("seed_2", "2"), first);
}

TEST(TrainProgram, JsonIsTheOnlyOutputAndQuietSilencesTheTable) {
  const ProgramResult result = RunTrainer(Small(Shapes(), FreshPath("json")) +
                                          Words{"--json", "--quiet", "--device", "cpu"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out.front(), '{');
  for (const char* key : {"best_score", "weights_hash", "waiting_share", "class_iou"}) {
    EXPECT_NE(result.out.find("\"" + std::string(key) + "\""), std::string::npos) << result.out;
  }
}

TEST(TrainProgram, CheckpointBeyondTheFileSizeLimitIsAnErrorThatLeavesNothingPartial) {
  const std::string output = FreshPath("file_size");
  const std::string dataset = Shapes();  // written before the limit
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit limit = {4096,
                        before.rlim_max};  // the log of a step is shorter, a checkpoint longer
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const ProgramResult result =
      RunTrainer(Small(dataset, output) + Words{"--limit-steps", "1", "--quiet"});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  ExpectFailure(result, 3, "last.ckpt");
  EXPECT_NE(result.err.find("File too large"), std::string::npos) << result.err;
  for (const auto& entry : std::filesystem::directory_iterator(output)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(name == "config.json" || name == "log.jsonl" ||
                name.rfind("events.out.tfevents.", 0) == 0)
        << name;
  }
}

TEST(TrainProgram, WholeConfigurationComesBackFromItsFile) {
  const std::string first = FreshPath("config_first");
  ASSERT_EQ(RunTrainer(Small(Shapes(), first)).exit_code, 0);
  const std::string second = FreshPath("config_second");
  const ProgramResult result = RunTrainer({"--config", first + "/config.json", "--output", second});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(ReadLog(second + "/log.jsonl").size(), ReadLog(first + "/log.jsonl").size());
  EXPECT_EQ(ReadLog(second + "/log.jsonl").back().loss, ReadLog(first + "/log.jsonl").back().loss);
}

TEST(TrainProgram, EvaluateGivesTheScoreOfTheBestCheckpoint) {
  const std::string output = FreshPath("evaluate");
  ASSERT_EQ(RunTrainer(Small(Shapes(), output)).exit_code, 0);
  double best = -1;
  for (const LogLine& line : ReadLog(output + "/log.jsonl")) best = std::fmax(best, line.miou);
  const ProgramResult result =
      RunTrainer({"evaluate", Shapes(), "--checkpoint", output + "/best.ckpt", "--threads", "1"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NEAR(std::atof(ValueAfter(result.out, "mIoU").c_str()), best, 6e-5) << result.out;
  EXPECT_NE(result.out.find("green"), std::string::npos) << result.out;
  // The path of GPUs, where the convolutions of evaluation are others too.
  const auto loss = [&](const std::string& device) {
    const ProgramResult scores =
        RunTrainer({"evaluate", Shapes(), "--checkpoint", output + "/best.ckpt", "--threads", "1",
                    "--json", "--device", device});
    EXPECT_EQ(scores.exit_code, 0) << scores.err;
    return std::atof(ValueAfter(scores.out, "\"loss\":").c_str());
  };
  const double expected = loss("cpu");
  EXPECT_GT(expected, 0);
  EXPECT_NEAR(loss("cuda-host"), expected, 1e-4);
}

// By the path of GPUs, on the host.
TEST(TrainProgram, WhatASlowerStepOfAGpuComesFromIsSaidOnce) {
  const std::string output = FreshPath("slower");
  const Words words =
      Small(Shapes(), output) + Words{"--device", "cuda-host", "--eval-every", "0", "--quiet"};
  const std::string loader = "note: images are augmented by the threads of the loader";
  const std::string eager = "note: the step runs without a CUDA graph: hard pixels";
  const auto times = [](const std::string& text, const std::string& part) {
    int count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
      ++count;
    }
    return count;
  };
  const ProgramResult slow =
      RunTrainer(words + Words{"--scale-most", "1.5", "--ohem", "0.7", "--overwrite"});
  ASSERT_EQ(slow.exit_code, 0) << slow.err;
  EXPECT_EQ(times(slow.err, loader), 1) << slow.err;
  EXPECT_EQ(times(slow.err, eager), 1) << slow.err;
  const ProgramResult fast =
      RunTrainer(words + Words{"--flip", "0.5", "--precision", "bf16", "--overwrite"});
  ASSERT_EQ(fast.exit_code, 0) << fast.err;
  EXPECT_EQ(fast.err.find("note:"), std::string::npos) << fast.err;
  // Scores are those of f32.
  const ProgramResult scores =
      RunTrainer({"evaluate", Shapes(), "--checkpoint", output + "/last.ckpt", "--threads", "1"});
  EXPECT_NE(scores.err.find("note: trained in bf16; this computes in f32"), std::string::npos)
      << scores.err;
}

TEST(TrainProgram, NotFiniteLossStopsWithStepAndRecords) {
  ShapeDatasetOptions options;
  options.float_images = true;
  options.nan_record = 13;
  const std::string dataset = WriteShapeDataset("nan", options);
  const std::string output = FreshPath("nan_run");
  const ProgramResult result = RunTrainer(Small(dataset, output));
  ExpectFailure(result, 2, "is not finite at step");
  EXPECT_EQ(result.err.find("the last checkpoint is kept"), std::string::npos) << result.err;
  const size_t list = result.err.find("in the batch: ");
  ASSERT_NE(list, std::string::npos) << result.err;
  const std::string records = ", " + result.err.substr(list + 14);
  EXPECT_NE(records.find(", 13"), std::string::npos) << result.err;
  const std::string dump = ValueAfter(result.err, "The batch is kept in");
  const std::string path = dump.substr(0, dump.find(". "));
  // Six records of 16 × 16 pixels: f32 images and u8 labels, and the header.
  EXPECT_GT(std::filesystem::file_size(path), 6u * 16 * 16 * 13) << path;
}

// Hardly learning, the losses swing around their mean, and with so low a limit about every second
// one is an outlier, once the first thirty have made that mean.
TEST(TrainProgram, OutliersAreReportedKeptOrStopTheRun) {
  const std::string output = FreshPath("outliers");
  const Words words =
      Small(Shapes(), output) + Words{"--epochs", "12", "--lr", "1e-7", "--outlier-z", "0.01"};
  ProgramResult result = RunTrainer(words + Words{"--outlier-action", "dump"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("warning: the loss of step"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("(train/"), std::string::npos) << result.err;  // keys
  size_t lines = 0, dumps = 0;
  for (const LogLine& line : ReadLog(output + "/log.jsonl")) {
    if (line.kind != "outlier") continue;
    ++lines;
    EXPECT_GT(line.step, 30u);
    dumps += std::filesystem::exists(output + "/bad-batch-step-" + std::to_string(line.step) +
                                     ".safetensors");
  }
  EXPECT_GT(lines, 0u);
  EXPECT_EQ(dumps, std::min<size_t>(lines, 10));
  ExpectFailure(RunTrainer(words + Words{"--overwrite", "--outlier-action", "stop"}), 2,
                "The weights were not changed by this step");
  size_t left = 0;  // that of the step which stopped the second run
  for (const auto& entry : std::filesystem::directory_iterator(output)) {
    left += entry.path().filename().string().rfind("bad-batch-step-", 0) == 0;
  }
  EXPECT_EQ(left, 1u);
}

TEST(TrainProgram, SharesAreLearnedWithoutClassIds) {
  ShapeDatasetOptions options;
  options.only_shares = true;
  const std::string dataset = WriteShapeDataset("shares_only", options);
  const std::string output = FreshPath("shares");
  const Words words =
      Small(dataset, output) + Words{"--epochs", "12", "--deterministic", "--micro-shards", "2"};
  ExpectFailure(RunTrainer(words), 2, "--soft-labels");
  const ProgramResult result = RunTrainer(words + Words{"--soft-labels", "shares"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GT(std::atof(ValueAfter(result.out, "best mIoU").c_str()), 0.7) << result.out;
  const ProgramResult scores =
      RunTrainer({"evaluate", dataset, "--checkpoint", output + "/best.ckpt", "--threads", "1"});
  ASSERT_EQ(scores.exit_code, 0) << scores.err;
  EXPECT_NE(scores.out.find("mIoU"), std::string::npos) << scores.out;
}

TEST(TrainProgram, EveryWayToReadGivesTheSameWeights) {
  std::vector<std::string> hashes;
  for (const std::string io : {"mmap", "pread", "direct"}) {
    const ProgramResult result =
        RunTrainer(Small(Shapes(), FreshPath("io_" + io)) + Words{"--io", io, "--epochs", "1"});
    if (result.exit_code == 3 && io == "direct") GTEST_SKIP() << result.err;
    ASSERT_EQ(result.exit_code, 0) << result.err;
    hashes.push_back(ValueAfter(result.out, "weights hash"));
  }
  EXPECT_EQ(hashes[0].size(), 32u);
  EXPECT_EQ(hashes, std::vector<std::string>(3, hashes[0]));
}

TEST(TrainProgram, KeepsTheCheckpointsOfTheLastEpochsAndExports) {
  const std::string output = FreshPath("keeps");
  ASSERT_EQ(RunTrainer(Small(Shapes(), output) + Words{"--keep-epochs", "2"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(output + "/epoch-00001.ckpt"));
  EXPECT_TRUE(std::filesystem::exists(output + "/epoch-00003.ckpt"));
  const ProgramResult exported =
      RunTrainer({"export", output + "/epoch-00002.ckpt", "--output", output + "/w.safetensors"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_GT(std::filesystem::file_size(output + "/w.safetensors"), 1000u);
  ASSERT_EQ(RunTrainer(Small(Shapes(), output) + Words{"--overwrite", "--epochs", "1"}).exit_code,
            0);
  EXPECT_FALSE(std::filesystem::exists(output + "/epoch-00002.ckpt"));
}

TEST(TrainProgram, UsageErrorsSayWhatToDo) {
  const std::string output = FreshPath("usage");
  ExpectFailure(RunTrainer({}), 2, "no data set given");
  ExpectFailure(RunTrainer({"--output", output}), 2, "no data set given");
  ExpectFailure(RunTrainer(Small(Shapes(), output) + Words{"--widht", "8"}), 2,
                "did you mean '--width'?");
  ExpectFailure(RunTrainer(Small(Shapes(), output) + Words{"--schedule", "pole"}), 2, "'poly'");
  ExpectFailure(RunTrainer(Small(Shapes(), output) + Words{"--batch", "25"}), 2,
                "fewer than one batch");
  ExpectFailure(RunTrainer(Small(Shapes(), output) + Words{"--val-split", "test"}), 2,
                "--val-split");
  ExpectFailure(RunTrainer(Small(Shapes(), output) + Words{"--device", "cuda"}), 5,
                "--device cuda: ");
  ExpectFailure(RunTrainer(Small("/nonexistent", output)), 3, "/nonexistent");
  ExpectFailure(RunTrainer({"model", "Unet"}), 2, "did you mean 'unet'?");
  const std::string file = FreshPath("sized") + ".txtpb";
  std::ofstream(file) << RunTrainer({"model", "unet", "--width", "2", "--depth", "1"}).out;
  ExpectFailure(RunTrainer({"model", file, "--width", "4"}), 2, "do not apply to a model file");
  EXPECT_FALSE(std::filesystem::exists(output + "/last.ckpt"));
}

TEST(TrainProgram, HelpListsEveryGroupAndTheOtherCommand) {
  const ProgramResult result = RunTrainer({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  for (const char* text : {"DATASET", "--weight-decay", "--resume", "evaluate"}) {
    EXPECT_NE(result.out.find(text), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace shardmill
