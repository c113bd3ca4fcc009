// What the commands of the real program replace, remove and leave alone.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "reader/base/file.h"
#include "reader/base/folder_lock.h"
#include "tests/trainer/small_run.h"

namespace shardmill {
namespace {

TEST(TrainOutput, CommandsReplaceOnlyFilesOfTheirOwnKind) {
  const std::string output = FreshPath("own_kind");
  ASSERT_EQ(RunTrainer(Small(Shapes(), output) + Words{"--epochs", "1"}).exit_code, 0);
  const std::string best = output + "/best.ckpt", weights = output + "/w.safetensors";
  const auto checkpoint = ReadFile(best, 1 << 26);
  ASSERT_TRUE(checkpoint.ok());
  ExpectFailure(RunTrainer({"export", best, "--output", best}), 2, "no safetensors file");
  const std::string json = output + "/notes.json";
  std::ofstream(json) << "{\"name\":{\"of\": 1}}";
  ExpectFailure(RunTrainer({"export", best, "--output", json}), 2, "no safetensors file");
  EXPECT_TRUE(*ReadFile(best, 1 << 26) == *checkpoint);
  // The folder of a run stands for its best checkpoint.
  EXPECT_EQ(RunTrainer({"export", output, "--output", weights}).exit_code, 0);
  EXPECT_EQ(RunTrainer({"export", output, "--output", weights}).exit_code, 0);
  const Words evaluate = {"evaluate", Shapes(), "--checkpoint", output, "--threads", "1"};
  const ProgramResult missing = RunTrainer(evaluate + Words{"--confusion", "/nowhere/c.png"});
  ExpectFailure(missing, 3, "/nowhere/c.png");
  EXPECT_EQ(missing.err.find("evaluating"), std::string::npos) << missing.err;
  ExpectFailure(RunTrainer(evaluate + Words{"--confusion", best}), 2, "no picture");
  const std::string config = output + "/config.json", before = *ReadFile(config, 1 << 20);
  ExpectFailure(RunTrainer(Small(Shapes(), FreshPath("traced")) + Words{"--trace", config}), 2,
                "no trace");
  for (const char* name : {"/best.ckpt", "/last.ckpt"}) std::filesystem::remove(output + name);
  ExpectFailure(RunTrainer({"--config", config}), 2, "which it reads");
  EXPECT_EQ(*ReadFile(config, 1 << 20), before);
}

TEST(TrainOutput, FilesOfAnotherOriginAreNotReplacedUnlessAsked) {
  for (const std::string name : {"config.json", "log.jsonl"}) {
    const std::string output = FreshPath("foreign"), path = output + "/" + name;
    std::filesystem::remove_all(output);
    std::filesystem::create_directories(output);
    const std::string content = "{\"user\": \"me\"}\n";
    std::ofstream(path) << content;
    const Words words = Small(Shapes(), output) + Words{"--limit-steps", "1"};
    ExpectFailure(RunTrainer(words), 2, path + " is there already, and of no run");
    EXPECT_EQ(*ReadFile(path, 1 << 20), content);
    EXPECT_EQ(RunTrainer(words + Words{"--overwrite"}).exit_code, 0);
    // What is left of a run without checkpoints is no reason to refuse one.
    std::filesystem::remove(output + "/last.ckpt");
    EXPECT_EQ(RunTrainer(words).exit_code, 0);
  }
}

TEST(TrainOutput, PredictionsAreNotWrittenBesideThoseOfAnotherProgram) {
  const std::string output = FreshPath("shared"), maps = FreshPath("shared_maps");
  ASSERT_EQ(RunTrainer(Small(Shapes(), output) + Words{"--epochs", "1"}).exit_code, 0);
  std::filesystem::create_directories(maps);
  const Words words = {"predict", Shapes(), "--checkpoint", output, "--output", maps,
                       "--limit", "1",      "--threads",    "1"};
  {
    const auto lock = FolderLock::TryAcquire(maps);
    ASSERT_TRUE(lock.ok() && lock->has_value());
    ExpectFailure(RunTrainer(words), 2, "another program is writing to the folder " + maps);
  }
  EXPECT_EQ(RunTrainer(words).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(maps + "/.shardmill-lock"));
}

// What is left of them would look like parts of the new run.
TEST(TrainOutput, ReplacedRunLeavesNoLogAndTakenBackEpochsNoCheckpoint) {
  const std::string output = FreshPath("replaced");
  const Words words = Small(Shapes(), output) + Words{"--eval-every", "0"};
  const auto has = [&](const std::string& start) {
    for (const auto& entry : std::filesystem::directory_iterator(output)) {
      if (entry.path().filename().string().rfind(start, 0) == 0) return true;
    }
    return false;
  };
  ASSERT_EQ(RunTrainer(words + Words{"--keep-epochs", "3"}).exit_code, 0);
  EXPECT_TRUE(has("events.out.tfevents.") && has("epoch-00001"));
  const ProgramResult resumed =
      RunTrainer({Shapes(), "--resume", output + "/epoch-00002.ckpt", "--output", output,
                  "--keep-epochs", "1", "--limit-steps", "9"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(resumed.err.find("goes on in the folder"), std::string::npos) << resumed.err;
  EXPECT_TRUE(has("epoch-00002"));
  EXPECT_FALSE(has("epoch-00001"));
  EXPECT_FALSE(has("epoch-00003"));
  const ProgramResult elsewhere =
      RunTrainer({Shapes(), "--resume", output + "/last.ckpt", "--output", FreshPath("elsewhere"),
                  "--limit-steps", "10"});
  ASSERT_EQ(elsewhere.exit_code, 0) << elsewhere.err;
  EXPECT_NE(elsewhere.err.find("goes on in the folder"), std::string::npos) << elsewhere.err;
  std::filesystem::remove(output + "/last.ckpt");
  ExpectFailure(RunTrainer(words), 2, "epoch-00002.ckpt");
  ASSERT_EQ(RunTrainer(words + Words{"--overwrite", "--no-tensorboard"}).exit_code, 0);
  EXPECT_FALSE(has("events.out.tfevents.") || has("epoch-"));
}

TEST(TrainOutput, FinishedRunIsNotOverwrittenUnlessAsked) {
  const std::string output = FreshPath("in_use");
  ASSERT_EQ(RunTrainer(Small(Shapes(), output)).exit_code, 0);
  ExpectFailure(RunTrainer(Small(Shapes(), output)), 2, "--overwrite");
  const ProgramResult result = RunTrainer(Small(Shapes(), output) + Words{"--overwrite"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(ReadLog(output + "/log.jsonl").front().step, 0u);
}

// Name and content of each file.
std::map<std::string, std::string> FilesOf(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto bytes = ReadFile(entry.path(), 1 << 26);
    files[entry.path().filename()] = bytes.ok() ? *bytes : bytes.status().ToString();
  }
  return files;
}

TEST(TrainOutput, RefusedStartLeavesTheEarlierRunAsItIs) {
  const std::string output = FreshPath("refused");
  const Words words = Small(Shapes(), output) + Words{"--epochs", "1", "--keep-epochs", "1"};
  ASSERT_EQ(RunTrainer(words).exit_code, 0);
  const std::map<std::string, std::string> before = FilesOf(output);
  for (const char* name : {"last.ckpt", "best.ckpt", "epoch-00001.ckpt", "config.json"}) {
    EXPECT_EQ(before.count(name), 1u) << name;
  }
  const auto refuse = [&](const Words& more, int exit_code, const std::string& message) {
    ExpectFailure(RunTrainer(words + more), exit_code, message);
    EXPECT_TRUE(FilesOf(output) == before) << message;
  };
  const Words resumed = {"--resume", "--epochs", "2", "--lr", "0.5"};
  refuse({"--overwrite", "--trace", "/nowhere/t.json"}, 3, "/nowhere/t.json");
  refuse(resumed + Words{"--trace", "/nowhere/t.json"}, 3, "/nowhere/t.json");
  refuse({"--overwrite", "--trace", output}, 2, "is a folder: name a file");
  refuse(resumed + Words{"--trace", output + "/../refused/best.ckpt"}, 2, "of the run itself");
  refuse(resumed + Words{"--overwrite"}, 2, "--overwrite would remove the run");
  std::filesystem::remove(output + "/log.jsonl");
  std::filesystem::create_directory(output + "/log.jsonl");
  ExpectFailure(RunTrainer(words + Words{"--overwrite"}), 2, "log.jsonl is a folder");
  EXPECT_EQ(FilesOf(output)["last.ckpt"], before.at("last.ckpt"));
  ExpectFailure(RunTrainer(Small(Shapes(), Shapes())), 2, "the folder of the data set");
}

// The run removes what a killed one had begun to write: here the folder that the trace is for.
TEST(TrainOutput, TraceThatCannotBeWrittenLeavesTheResults) {
  const std::string output = FreshPath("trace_lost");
  const std::string folder = output + "/last.ckpt.tmp-1";
  std::filesystem::create_directories(folder);
  const ProgramResult result =
      RunTrainer(Small(Shapes(), output) + Words{"--epochs", "1", "--trace", folder + "/t.json"});
  ExpectFailure(result, 3, "only the trace could not be written");
  EXPECT_EQ(result.err.find("--resume"), std::string::npos) << result.err;
  EXPECT_EQ(ValueAfter(result.out, "weights hash").size(), 32u) << result.out;
  EXPECT_TRUE(std::filesystem::exists(output + "/last.ckpt"));
}

}  // namespace
}  // namespace shardmill
