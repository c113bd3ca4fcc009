// The real shardmill-train in jobs of several ranks.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "reader/base/file.h"
#include "tests/reader/parsed_trace.h"
#include "tests/trainer/comm/mpi_job.h"
#include "tests/trainer/shape_dataset.h"
#include "tests/trainer/train_program.h"

namespace shardmill {
namespace {

using Words = std::vector<std::string>;

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class TrainRanks : public testing::Test {
 protected:
  static void SetUpTestSuite() { dataset_ = WriteShapeDataset("rank_shapes", {}); }
  void SetUp() override { SKIP_WITHOUT_MPI(); }

  // 24 records, so batches of 10 leave some out and are cut unevenly.
  static Words Run(const std::string& output) {
    return {dataset_, "--output", output, "--width",   "4", "--depth",  "2", "--batch",
            "10",     "--lr",     "0.02", "--threads", "1", "--epochs", "3"};
  }

  static MpiJobResult Train(int ranks, const Words& words) {
    return RunMpiJob(ranks, RankProgram("trainer/shardmill-train"), words);
  }

  static std::string TrainedHash(int ranks, const Words& words) {
    const MpiJobResult job = Train(ranks, words);
    EXPECT_EQ(job.exit_code, 0) << job.output;
    const std::string hash = ValueAfter(job.output, "weights hash");
    EXPECT_EQ(hash.size(), 32u) << job.output;
    return hash;
  }

  // The losses of all steps and the scores of all evaluations.
  static std::vector<double> Logged(const std::string& output) {
    std::vector<double> numbers;
    for (const LogLine& line : ReadLog(output + "/log.jsonl")) {
      if (line.kind == "start") continue;
      numbers.push_back(line.loss);
      if (line.kind == "evaluation") numbers.push_back(line.miou);
    }
    return numbers;
  }

  static std::string dataset_;
};
std::string TrainRanks::dataset_;

// Augmented, so that this too must not depend on the ranks.
const Words kDeterministic = {"--deterministic",
                              "--micro-shards",
                              "4",
                              "--flip",
                              "0.5",
                              "--train-crop",
                              "12x12",
                              "--scale-least",
                              "0.75",
                              "--scale-most",
                              "1.5",
                              "--contrast",
                              "0.2",
                              "--hue",
                              "10",
                              "--loader-threads",
                              "2"};

TEST_F(TrainRanks, TraceHasTheStepsOfEveryRankOnOneClock) {
  const std::string output = FreshPath("ranks_traced"), path = output + ".json";
  const MpiJobResult job = Train(2, Run(output) + Words{"--trace", path});
  ASSERT_EQ(job.exit_code, 0) << job.output;
  const auto text = ReadFile(path, 1 << 26);
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  const ParsedTrace trace = ParseTrace(*text);
  EXPECT_EQ(trace.processes, (std::map<double, std::string>{{0, "rank 0"}, {1, "rank 1"}}));
  EXPECT_EQ(trace.spans_lost, 0);
  std::vector<double> computed[2];
  for (int rank = 0; rank < 2; ++rank) {
    std::map<std::string, int> counts;
    double end_us = 0;
    for (const ParsedSpan& span : trace.SpansOf(rank, "steps")) {
      ++counts[span.name];
      EXPECT_GE(span.begin_us, end_us - 1e-3) << span.name;  // one after the other
      end_us = span.end_us;
      if (span.name == "computing") computed[rank].push_back(span.begin_us);
    }
    EXPECT_EQ(counts, (std::map<std::string, int>{{"waiting for data", 6},
                                                  {"copying", 6},
                                                  {"computing", 6},
                                                  {"evaluating", 3},
                                                  {"starting a checkpoint", 3}}));
    EXPECT_GT(trace.SpansOf(rank, "waiting for other ranks").size(), 6u);
    EXPECT_GT(trace.SpansOf(rank, "loader worker 0").size(), 6u);
  }
  // A step ends on both ranks together, so the next one cannot begin before the other's last.
  ASSERT_EQ(computed[0].size(), computed[1].size());
  for (size_t i = 0; i + 1 < computed[0].size(); ++i) {
    EXPECT_LT(computed[0][i], computed[1][i + 1]);
    EXPECT_LT(computed[1][i], computed[0][i + 1]);
  }
}

TEST_F(TrainRanks, TimesOfAStepAreItsOwnAndAddUp) {
  const std::string output = FreshPath("timed");
  TrainedHash(2, Run(output));
  int steps = 0;
  for (const LogLine& line : ReadLog(output + "/log.jsonl")) {
    if (line.kind != "step") continue;
    ++steps;
    // Also behind an evaluation and a checkpoint, in which ranks wait for each other too.
    EXPECT_GE(line.wait_ms, 0);
    EXPECT_GT(line.copy_ms, 0);
    EXPECT_GT(line.communication_ms, 0);
    EXPECT_GE(line.compute_ms, 0);
    EXPECT_NEAR(line.wait_ms + line.copy_ms + line.communication_ms + line.compute_ms,
                line.total_ms, 1e-6 * line.total_ms);
  }
  EXPECT_EQ(steps, 6);
}

TEST_F(TrainRanks, DeterministicRunsHaveTheSameBitsOnAnyNumberOfRanks) {
  const std::string one = FreshPath("ranks_1");
  const std::string hash = TrainedHash(1, Run(one) + kDeterministic);
  EXPECT_EQ(Logged(one).size(), 2 * 3 + 2 * 3u);
  for (int ranks : {2, 4}) {
    const std::string output = FreshPath("ranks_" + std::to_string(ranks));
    EXPECT_EQ(TrainedHash(ranks, Run(output) + kDeterministic), hash) << ranks << " ranks";
    EXPECT_EQ(Logged(output), Logged(one)) << ranks << " ranks";
  }
  // The comparison can fail.
  const std::string other = FreshPath("ranks_other");
  EXPECT_NE(TrainedHash(1, Run(other) + kDeterministic + Words{"--micro-shards", "2"}), hash);
}

TEST_F(TrainRanks, DeterministicRunGoesOnWithAnotherNumberOfRanks) {
  const std::string straight = FreshPath("straight_ranks");
  const std::string hash = TrainedHash(1, Run(straight) + kDeterministic);
  const std::string output = FreshPath("changing_ranks");
  TrainedHash(4, Run(output) + kDeterministic + Words{"--limit-steps", "2"});
  TrainedHash(2, {dataset_, "--output", output, "--resume", "--limit-steps", "3"});
  const MpiJobResult last =
      Train(1, {dataset_, "--output", output, "--resume", "--limit-steps", "0"});
  EXPECT_EQ(last.exit_code, 0) << last.output;
  EXPECT_EQ(ValueAfter(last.output, "weights hash"), hash) << last.output;
  EXPECT_EQ(last.output.find("not bit for bit"), std::string::npos) << last.output;
  EXPECT_EQ(Logged(output), Logged(straight));
}

TEST_F(TrainRanks, RanksLearnLikeOneAndRepeatTheirBits) {
  const std::string one = FreshPath("plain_1");
  TrainedHash(1, Run(one));
  const std::string two = FreshPath("plain_2");
  const std::string hash = TrainedHash(2, Run(two) + Words{"--compare-every", "1"});
  EXPECT_EQ(TrainedHash(2, Run(FreshPath("plain_2_again"))), hash);
  // The first loss is of equal weights; later ones drift apart by rounding only.
  const std::vector<double> expected = Logged(one);
  const std::vector<double> actual = Logged(two);
  ASSERT_EQ(actual.size(), expected.size());
  EXPECT_NEAR(actual[0], expected[0], 1e-5);
  EXPECT_NEAR(actual[1], expected[1], 1e-3);
}

TEST_F(TrainRanks, OneSetOfMessagesAndFilesComesFromAllRanks) {
  const std::string output = FreshPath("messages");
  const MpiJobResult job = Train(4, Run(output));
  EXPECT_EQ(job.exit_code, 0) << job.output;
  size_t count = 0;
  for (size_t at = 0; (at = job.output.find("weights hash", at)) != std::string::npos; ++at)
    ++count;
  EXPECT_EQ(count, 1u) << job.output;
  EXPECT_NE(job.output.find("4 ranks of 1 compute"), std::string::npos) << job.output;
  EXPECT_EQ(Logged(output).size(), 2 * 3 + 2 * 3u);
}

// Every number that the JSON has, to the last bit.
TEST_F(TrainRanks, EvaluationIsTheSameOnAnyNumberOfRanksAndInAnyBatches) {
  const std::string output = FreshPath("evaluated");
  TrainedHash(1, Run(output));
  const auto scores = [&](int ranks, const std::string& batch) {
    const MpiJobResult job =
        Train(ranks, {"evaluate", dataset_, "--checkpoint", output + "/last.ckpt", "--threads", "1",
                      "--json", "--batch", batch});
    EXPECT_EQ(job.exit_code, 0) << job.output;
    const size_t begin = job.output.find("\"loss\"");
    EXPECT_NE(begin, std::string::npos) << job.output;
    return begin == std::string::npos ? ""
                                      : job.output.substr(begin, job.output.rfind('}') - begin);
  };
  const std::string single = scores(1, "1");
  EXPECT_EQ(scores(1, "3"), single);
  EXPECT_EQ(scores(1, "7"), single);
  EXPECT_EQ(scores(2, "7"), single);
  EXPECT_EQ(scores(4, "7"), single);
}

TEST_F(TrainRanks, MistakeIsToldOnce) {
  const std::vector<Words> mistakes = {
      {"--no-such-option"},
      {"/nowhere/at-all"},
      {dataset_, "--config", "/nowhere/config.json"},
      {"export", "/nowhere/last.ckpt", "--output", FreshPath("exported")},
      Run(FreshPath("seven")) + Words{"--deterministic", "--micro-shards", "7"},
      Run(FreshPath("resumed")) + Words{"--resume"}};
  std::vector<MpiJob> jobs;
  for (const Words& words : mistakes) {
    jobs.push_back({4, RankProgram("trainer/shardmill-train"), words, {}});
  }
  for (const MpiJobResult& job : RunMpiJobs(jobs)) {
    EXPECT_TRUE(job.exit_code == 2 || job.exit_code == 3) << job.output;
    const size_t first = job.output.find("error: ");
    ASSERT_NE(first, std::string::npos) << job.output;
    EXPECT_EQ(job.output.find("error: ", first + 1), std::string::npos) << job.output;
  }
}

TEST_F(TrainRanks, RankThatWasStartedDifferentlyIsNamed) {
  ShapeDatasetOptions options;
  options.seed = 2;
  const std::string other = WriteShapeDataset("rank_other_shapes", options);
  struct Start {
    std::string first, second;  // the words of rank 0 and of rank 1
    int exit_code;
    std::string message;
  };
  const auto train = [](const std::string& words) {
    static int runs = 0;
    return words + " --threads 1 --output " + FreshPath("differing_" + std::to_string(++runs));
  };
  const std::string dataset = dataset_;
  const std::string known = "evaluate " + dataset + " --checkpoint /nowhere.ckpt";
  const std::vector<Start> starts = {
      {train(dataset), train(other), 2, "rank 1 of 2 was started differently: the data set is "},
      {train(dataset), train("/nowhere"), 3, "rank 1 of 2: /nowhere"},
      {train(dataset), train(dataset + " --epoch 3"), 2,
       "rank 1 of 2: unknown option '--epoch'; did you mean '--epochs'?"},
      {train(dataset + " --epoch 3"), train(dataset), 2, "rank 0 of 2: unknown option '--epoch'"},
      {train(dataset), train(dataset + " --config /nowhere.json"), 3,
       "rank 1 of 2: cannot open /nowhere.json"},
      {known, known + " --window 8x8", 2,
       "rank 1 of 2 was started differently: --window is 8x8 there and not given on rank 0"},
      {known + " --batch 4", known, 2, "--batch is 8 there and 4 on rank 0"}};
  std::vector<MpiJob> jobs;
  for (const Start& start : starts) {
    const std::string line = "test $OMPI_COMM_WORLD_RANK = 0 && exec \"$0\" " + start.first +
                             "; exec \"$0\" " + start.second;
    jobs.push_back({2, "/bin/sh", {"-c", line, RankProgram("trainer/shardmill-train")}, {}});
  }
  const std::vector<MpiJobResult> results = RunMpiJobs(jobs);
  for (size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(results[i].exit_code, starts[i].exit_code) << results[i].output;
    EXPECT_NE(results[i].output.find(starts[i].message), std::string::npos)
        << "missing: " << starts[i].message << "\n"
        << results[i].output;
    EXPECT_EQ(results[i].output.find("waited too long"), std::string::npos) << results[i].output;
  }
}

TEST_F(TrainRanks, RanksThatReadOrDoOtherThingsAreRefusedAndNothingIsReplaced) {
  const std::string output = FreshPath("unlike"), folder = FreshPath("unlike_files");
  for (int rank = 0; rank < 2; ++rank) {
    const std::string own = folder + "/" + std::to_string(rank);
    std::filesystem::create_directories(own);
    std::ofstream(own + "/weights.csv") << "ground,1\nred,2\ngreen," << 3 + rank << "\n";
    const ProgramResult model =
        RunTrainer({"model", "unet", "--width", rank == 0 ? "2" : "3", "--depth", "1"});
    ASSERT_EQ(model.exit_code, 0) << model.err;
    std::ofstream(own + "/model.txtpb") << model.out;
  }
  const Words run = {dataset_, "--output",  output, "--batch",  "10", "--lr",
                     "0.02",   "--threads", "1",    "--epochs", "1"};
  TrainedHash(1, run + Words{"--width", "2", "--depth", "1"});
  const auto last = ReadFile(output + "/last.ckpt", 1 << 26);
  ASSERT_TRUE(last.ok()) << last.status().ToString();
  const auto refuse = [&](const std::string& own_words, const std::string& message) {
    const std::string line =
        "rank=$OMPI_COMM_WORLD_RANK; cd " + folder + "/$rank; exec \"$0\" \"$@\" " + own_words;
    const MpiJobResult job =
        RunMpiJob(2, "/bin/sh", Words{"-c", line, RankProgram("trainer/shardmill-train")} + run);
    EXPECT_EQ(job.exit_code, 2) << job.output;
    EXPECT_NE(job.output.find(message), std::string::npos) << job.output;
    const auto now = ReadFile(output + "/last.ckpt", 1 << 26);
    EXPECT_TRUE(now.ok() && *now == *last) << message;
  };
  refuse("--overwrite --lr 0.0$((rank + 1))",
         "rank 1 of 2 was started differently: --lr is 0.02 there and 0.01 on rank 0");
  refuse("--overwrite --class-weights ./weights.csv", "the content of --class-weights is ");
  refuse("--overwrite --model ./model.txtpb", "the content of --model is ");
  refuse("--overwrite $(test $rank = 0 || echo --trace t.json)",
         "--trace is given there and not given on rank 0");
}

TEST_F(TrainRanks, ImagesOfSeveralSizesHaveTheSameBitsOnAnyNumberOfRanks) {
  ShapeDatasetOptions options;
  options.several_sizes = true;
  const std::string dataset = WriteShapeDataset("rank_several_sizes", options);
  const auto words = [&](const std::string& output) {
    Words run = Run(output);
    run[0] = dataset;
    return run + kDeterministic;
  };
  const std::string one = FreshPath("sizes_1"), two = FreshPath("sizes_2");
  EXPECT_EQ(TrainedHash(1, words(one)), TrainedHash(2, words(two)));
  EXPECT_EQ(Logged(one), Logged(two));
}

// Calls `act` with the process ids of the ranks of a long run once some steps are logged. The log
// is a pipe: the test sees each step as it ends, and rank 0 waits for the test. The run has an end,
// so that a test that does not reach the ranks fails and does not hang.
struct DisturbedJob : MpiJobResult {
  double seconds_to_end = 0;  // behind `act`
};
DisturbedJob Disturb(const Words& words, const std::string& output,
                     const std::function<void(const std::vector<pid_t>&)>& act) {
  LogPipe log(output);
  DisturbedJob job;
  std::thread runs([&] {
    static_cast<MpiJobResult&>(job) =
        RunMpiJob(2, RankProgram("trainer/shardmill-train"), words + Words{"--epochs", "1000"});
  });
  std::ifstream& lines = log.Lines();
  std::string line;
  for (int seen = 0; seen < 5 && std::getline(lines, line);) {
    seen += line.find("\"kind\": \"step\"") != std::string::npos;
  }
  act(RanksOfProgram("shardmill-train", output));
  const int64_t acted = MonotonicNow();
  while (std::getline(lines, line)) {
  }
  runs.join();
  job.seconds_to_end = 1e-9 * static_cast<double>(job.end_nanoseconds - acted);
  return job;
}

TEST_F(TrainRanks, KilledRankIsNamedWithItsStep) {
  const std::string output = FreshPath("killed");
  const DisturbedJob job = Disturb(Run(output), output, [](const std::vector<pid_t>& ranks) {
    ASSERT_EQ(ranks.size(), 2u);
    EXPECT_EQ(kill(ranks[1], SIGKILL), 0);
  });
  EXPECT_EQ(job.exit_code, 5) << job.output;
  EXPECT_NE(job.output.find("shardmill-train: error: rank 1 of 2 was ended by signal 9"),
            std::string::npos)
      << job.output;
  EXPECT_NE(job.output.find(" at step "), std::string::npos) << job.output;
  EXPECT_LE(job.seconds_to_end, 30) << job.output;
}

TEST_F(TrainRanks, StoppedRankIsNamedWithItsStep) {
  const std::string output = FreshPath("halted");
  const DisturbedJob job = Disturb(Run(output) + Words{"--rank-timeout", "4"}, output,
                                   [](const std::vector<pid_t>& ranks) {
                                     ASSERT_EQ(ranks.size(), 2u);
                                     EXPECT_EQ(kill(ranks[1], SIGSTOP), 0);
                                   });
  EXPECT_EQ(job.exit_code, 5) << job.output;
  EXPECT_NE(job.output.find("is missing and does not answer"), std::string::npos) << job.output;
  EXPECT_NE(job.output.find("last seen at step "), std::string::npos) << job.output;
  EXPECT_LE(job.seconds_to_end, 30) << job.output;
}

TEST_F(TrainRanks, SignalToOneRankStopsAllWithACheckpoint) {
  const std::string output = FreshPath("signalled");
  const MpiJobResult job =
      Disturb(Run(output) + kDeterministic, output, [](const std::vector<pid_t>& ranks) {
        ASSERT_EQ(ranks.size(), 2u);
        EXPECT_EQ(kill(ranks[1], SIGTERM), 0);
      });
  EXPECT_EQ(job.exit_code, 143) << job.output;
  EXPECT_NE(
      job.output.find(
          "shardmill-train: error: interrupted by SIGTERM: another rank was asked to stop after"),
      std::string::npos)
      << job.output;
  EXPECT_NE(job.output.find("--resume goes on from it"), std::string::npos) << job.output;
  EXPECT_TRUE(std::filesystem::exists(output + "/last.ckpt"));
}

}  // namespace
}  // namespace shardmill
