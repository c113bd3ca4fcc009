// The real packer in jobs of several ranks over one folder.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/trainer/comm/mpi_job.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr char kProgram[] = "tools/shardmill";
constexpr char kShim[] = "tests/faults/io_fault_shim.so";

std::string FreshPath(const std::string& name) {
  // The shim compares it with what the system calls the files.
  const std::string path = (fs::canonical(testing::TempDir()) / ("pack_ranks_" + name)).string();
  fs::remove_all(path);
  return path;
}

int RunAlone(const Words& words, const std::string& output_file) {
  std::string line = RankProgram(kProgram);
  for (const std::string& word : words) line += " '" + word + "'";
  const int status = std::system((line + " >'" + output_file + "' 2>&1").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::map<std::string, std::string> Contents(const std::string& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename() == "pack-report.html") continue;
    contents[entry.path().filename().string()] = ReadText(entry.path());
  }
  return contents;
}

// Finished shards with their inode and time of change.
std::map<std::string, std::string> Finished(const std::string& folder) {
  std::map<std::string, std::string> shards;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".shard" || name[0] == '.') continue;  // a claim
    struct stat info = {};
    EXPECT_EQ(stat(entry.path().c_str(), &info), 0);
    shards[name] = std::to_string(info.st_ino) + " " + std::to_string(info.st_mtim.tv_sec) + " " +
                   std::to_string(info.st_mtim.tv_nsec);
  }
  return shards;
}

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

class PackRanks : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scenes_ = FreshPath("scenes");
    whole_ = FreshPath("whole");
    const std::string log = testing::TempDir() + "/log";
    ASSERT_EQ(
        RunAlone({"sample", "-o", scenes_, "--count", "40", "--height", "48", "--width", "64"},
                 log),
        0)
        << ReadText(log);
    ASSERT_EQ(RunAlone(Pack(whole_), log), 0) << ReadText(log);
    ASSERT_EQ(Finished(whole_).size(), 14u);
  }
  void SetUp() override { SKIP_WITHOUT_MPI(); }

  static Words Pack(const std::string& output, const Words& more = {}) {
    Words words = {"pack", scenes_, "-o", output, "--shard-size", "40KiB", "--block-size", "20KiB"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static MpiJobResult Run(int ranks, const Words& words, const Words& variables = {}) {
    return RunMpiJob(ranks, RankProgram(kProgram), words, variables);
  }
  static Words Freezing(const std::string& output, int rank, int bytes) {
    return {"LD_PRELOAD=" + RankProgram(kShim), "SHARDMILL_FAULT_UNDER=" + output,
            "SHARDMILL_FAULT_MARKER=" + FreshPath("frozen"),
            "SHARDMILL_FAULT_RANK=" + std::to_string(rank),
            "SHARDMILL_FAULT_FREEZE=" + std::to_string(bytes)};
  }
  static void ExpectWhole(const std::string& output) {
    EXPECT_EQ(Contents(output), Contents(whole_));
  }

  // Waits until a rank of the job on `output` has stopped itself.
  static pid_t WaitForStopped(const std::string& output) {
    for (int i = 0; i < 6000; ++i) {
      for (const pid_t rank : RanksOfProgram("shardmill", output)) {
        const std::string stat = ReadText("/proc/" + std::to_string(rank) + "/stat");
        if (stat.find(") T ") != std::string::npos) return rank;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << "no rank stopped itself";
    return 0;
  }

  // Rank `frozen` stops itself in the middle of a shard; when the others have made all the rest,
  // `act` is called with it.
  static MpiJobResult Disturb(int ranks, int frozen, const std::string& output,
                              const std::function<void(pid_t)>& act, const Words& variables = {}) {
    Words all_variables = Freezing(output, frozen, 59999);
    all_variables.insert(all_variables.end(), variables.begin(), variables.end());
    MpiJobResult job;
    std::thread runs([&] { job = Run(ranks, Pack(output), all_variables); });
    const pid_t rank = WaitForStopped(output);
    const size_t all = Finished(whole_).size();
    for (int i = 0; i < 6000 && Finished(output).size() + 1 < all; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(Finished(output).size() + 1, all);
    if (rank > 0) act(rank);
    runs.join();
    return job;
  }

  static std::string scenes_, whole_;
};
std::string PackRanks::scenes_;
std::string PackRanks::whole_;

TEST_F(PackRanks, MakeTheSameBytesAsOneProcess) {
  for (int ranks : {2, 4}) {
    const std::string output = FreshPath("ranks_" + std::to_string(ranks));
    const MpiJobResult job = Run(ranks, Pack(output));
    EXPECT_EQ(job.exit_code, 0) << job.output;
    ExpectWhole(output);
    EXPECT_EQ(CountOf(job.output, "40 packed + 0 skipped = 40 inputs"), 1u) << job.output;
    EXPECT_EQ(CountOf(job.output, "taken for layout"), 1u) << job.output;
  }
}

TEST_F(PackRanks, ReplaceAnOldSet) {
  const std::string output = FreshPath("replace");
  EXPECT_EQ(Run(2, Pack(output, {"--crop", "16x16"})).exit_code, 0);
  const MpiJobResult refused = Run(2, Pack(output));
  EXPECT_EQ(refused.exit_code, 2) << refused.output;
  EXPECT_NE(refused.output.find("holds a data set already"), std::string::npos) << refused.output;
  const MpiJobResult job = Run(2, Pack(output, {"--overwrite"}));
  EXPECT_EQ(job.exit_code, 0) << job.output;
  ExpectWhole(output);
}

TEST_F(PackRanks, KilledRankEndsTheJobAndTheSameCommandGoesOn) {
  for (int ranks : {2, 4}) {
    const std::string output = FreshPath("killed_" + std::to_string(ranks));
    const int victim = ranks - 1;
    const MpiJobResult job =
        Disturb(ranks, victim, output, [](pid_t rank) { EXPECT_EQ(kill(rank, SIGKILL), 0); });
    EXPECT_NE(job.exit_code, 0);
    // mpirun's words or our own, whoever is faster.
    EXPECT_NE(job.output.find("rank " + std::to_string(victim)), std::string::npos) << job.output;
    EXPECT_FALSE(fs::exists(output + "/manifest.json"));
    const auto finished = Finished(output);
    EXPECT_GE(finished.size(), 1u);
    const std::string log = testing::TempDir() + "/log";
    if (ranks == 2) {  // one process goes on
      EXPECT_EQ(RunAlone(Pack(output), log), 0) << ReadText(log);
    } else {
      const MpiJobResult again = Run(ranks, Pack(output));
      EXPECT_EQ(again.exit_code, 0) << again.output;
      std::ofstream(log) << again.output;
    }
    // A rank that outlives the job by a moment may have made another one.
    const std::string summary = ReadText(log);
    const size_t at = summary.find(" of 14 shards kept");
    ASSERT_NE(at, std::string::npos) << summary;
    const size_t digits = summary.find_last_not_of("0123456789", at - 1) + 1;
    EXPECT_GE(std::stoul(summary.substr(digits, at - digits)), finished.size()) << summary;
    const auto now = Finished(output);
    for (const auto& [shard, identity] : finished) {
      ASSERT_EQ(now.count(shard), 1u) << shard;
      EXPECT_EQ(now.at(shard), identity) << shard;
    }
    ExpectWhole(output);
  }
}

TEST_F(PackRanks, OthersMakeAllThatARankInTroubleHasNotClaimed) {
  const std::string output = FreshPath("slow");
  const MpiJobResult job =
      Disturb(2, 1, output, [](pid_t rank) { EXPECT_EQ(kill(rank, SIGCONT), 0); });
  EXPECT_EQ(job.exit_code, 0) << job.output;
  ExpectWhole(output);
}

TEST_F(PackRanks, RankThatFailsNamesItselfAndKeepsWhatIsFinished) {
  const std::string output = FreshPath("full");
  const MpiJobResult job =
      Disturb(2, 1, output, [](pid_t rank) { EXPECT_EQ(kill(rank, SIGCONT), 0); },
              {"SHARDMILL_FAULT_AFTER=60000"});
  // The rank's own, or that of rank 0, which finds the shard abandoned.
  EXPECT_TRUE(job.exit_code == 3 || job.exit_code == 5) << job.output;
  EXPECT_NE(job.output.find("rank 1 of 2: "), std::string::npos) << job.output;
  EXPECT_NE(job.output.find("No space left on device"), std::string::npos) << job.output;
  EXPECT_GE(Finished(output).size(), 1u);
  EXPECT_FALSE(fs::exists(output + "/manifest.json"));
  const MpiJobResult again = Run(2, Pack(output));
  EXPECT_EQ(again.exit_code, 0) << again.output;
  ExpectWhole(output);
}

TEST_F(PackRanks, UsageErrorIsToldOnce) {
  const MpiJobResult job = Run(2, {"pack", scenes_, "-o", FreshPath("usage"), "--crop", "12"});
  EXPECT_EQ(job.exit_code, 2) << job.output;
  EXPECT_EQ(CountOf(job.output, "is not a size"), 1u) << job.output;
}

TEST_F(PackRanks, UsageErrorOfOneRankEndsTheJobWithItsName) {
  for (const int rank : {0, 1}) {
    Words words = {"-c",
                   "test $OMPI_COMM_WORLD_RANK = " + std::to_string(rank) +
                       " && exec \"$0\" \"$@\" --no-such; exec \"$0\" \"$@\"",
                   RankProgram(kProgram)};
    const Words pack = Pack(FreshPath("usage_" + std::to_string(rank)));
    words.insert(words.end(), pack.begin(), pack.end());
    const MpiJobResult job = RunMpiJob(2, "/bin/sh", words);
    EXPECT_EQ(job.exit_code, 2) << job.output;
    EXPECT_EQ(CountOf(job.output, "unknown option '--no-such'"), 1u) << job.output;
    EXPECT_EQ(CountOf(job.output, "rank 1 of 2: unknown"), rank == 1 ? 1u : 0u) << job.output;
  }
}

}  // namespace
}  // namespace shardmill
