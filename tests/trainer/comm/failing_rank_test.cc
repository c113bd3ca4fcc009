// A rank that dies, stops, hangs or errs ends the whole job, soon, with a message that names the
// rank, the step and the call, and with the right exit code.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/trainer/comm/mpi_job.h"

namespace shardmill {
namespace {

constexpr char kProgram[] = "tests/trainer/comm/failing_rank";
// The jobs wait nearly all the time: for the deadline, or for mpirun to end what is left.
constexpr int kJobsAtOnce = 4;

struct Failure {
  const char* what;
  int ranks;
  int rank;
  int exit_code;
  std::vector<std::string> said;
};

std::string Text(const Failure& failure) {
  std::string name = failure.what;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name + "_of_rank_" + std::to_string(failure.rank) + "_of_" + std::to_string(failure.ranks);
}

// The others must not wait for it.
std::string DeadlineSeconds(const Failure& failure) {
  const std::set<std::string> silent = {"stop", "hang", "no-start", "other-call"};
  return silent.count(failure.what) > 0 ? "3" : "300";
}

void PrintTo(const Failure& failure, std::ostream* out) { *out << Text(failure); }

const char kInBucket0[] = "step 3, in 'gradient bucket 0'";

std::vector<Failure> Failures() {
  std::vector<Failure> failures;
  for (const auto& [ranks, rank] : {std::pair{2, 0}, {2, 1}, {4, 3}}) {
    const std::string self = "rank " + std::to_string(rank) + " of " + std::to_string(ranks);
    const std::string signal = self + " was ended by signal ";
    const std::string missing = self + " is missing and does not answer";
    const std::string last_seen =
        "rank " + std::to_string(rank) + " was last seen at " + kInBucket0;
    failures.push_back({"kill", ranks, rank, 5, {signal + "9", kInBucket0}});
    failures.push_back({"stop", ranks, rank, 5, {missing, last_seen}});
    failures.push_back({"exit", ranks, rank, 5, {self + " left the job early", kInBucket0}});
    failures.push_back({"throw", ranks, rank, 5, {signal + "6", kInBucket0, "a thrown exception"}});
    failures.push_back(
        {"error", ranks, rank, 4, {self + ", " + kInBucket0, "record 7 is damaged"}});
  }
  failures.push_back({"stop", 4, 0, 5, {"rank 0 of 4 is missing", kInBucket0}});
  failures.push_back({"stop", 4, 1, 5, {"rank 1 of 4 is missing", kInBucket0}});
  failures.push_back({"crash", 2, 1, 5, {"rank 1 of 2 was ended by signal 11", kInBucket0}});
  failures.push_back({"_exit", 2, 1, 5, {"rank 1 of 2 left the job early", kInBucket0}});
  failures.push_back({"hang", 2, 1, 5, {"rank 1 of 2 is missing and does not answer", kInBucket0}});
  failures.push_back({"kill-guard", 2, 1, 137, {"rank 1"}});
  failures.push_back(
      {"other-call", 4, 2, 5, {"do not make the same calls", "step 3, in 'detour'", "rank 2"}});
  failures.push_back({"no-start", 2, 1, 5, {"rank 0 of 2 has waited too long", "start of MPI"}});
  failures.push_back({"nothing", 4, 0, 0, {}});
  return failures;
}

class FailingRank : public testing::TestWithParam<Failure> {
 protected:
  static void SetUpTestSuite() {
    if (!MpiMissing().empty()) return;
    const std::vector<Failure> failures = Failures();
    for (const Failure& failure : failures) jobs_[Text(failure)] = {};
    std::atomic<size_t> next{0};
    const auto run = [&] {
      for (size_t i; (i = next++) < failures.size();) {
        const Failure& failure = failures[i];
        jobs_.at(Text(failure)) =
            RunMpiJob(failure.ranks, RankProgram(kProgram),
                      {failure.what, std::to_string(failure.rank), DeadlineSeconds(failure)});
      }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < kJobsAtOnce; ++i) threads.emplace_back(run);
    for (std::thread& thread : threads) thread.join();
  }

  static std::map<std::string, MpiJobResult> jobs_;
};
std::map<std::string, MpiJobResult> FailingRank::jobs_;

TEST_P(FailingRank, EndsTheJobWithRankStepAndCall) {
  SKIP_WITHOUT_MPI();
  const Failure& failure = GetParam();
  const MpiJobResult& job = jobs_.at(Text(failure));
  EXPECT_EQ(job.exit_code, failure.exit_code) << job.output;
  for (const std::string& text : failure.said) {
    EXPECT_NE(job.output.find(text), std::string::npos) << "missing: " << text << "\n"
                                                        << job.output;
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, FailingRank, testing::ValuesIn(Failures()),
                         [](const auto& info) { return Text(info.param); });

TEST(MpiPlugin, MissingFileIsNamedWithTheRemedy) {
  SKIP_WITHOUT_MPI();
  const MpiJobResult job = RunMpiJob(2, RankProgram(kProgram), {"nothing", "0", "3"},
                                     {"SHARDMILL_MPI_PLUGIN=/nowhere/plugin.so"});
  EXPECT_EQ(job.exit_code, 5) << job.output;
  EXPECT_NE(job.output.find("/nowhere/plugin.so"), std::string::npos) << job.output;
  EXPECT_NE(job.output.find("libopenmpi-dev"), std::string::npos) << job.output;
}

TEST(MpiPlugin, LiesBesideTheProgramAndIsNotNeededByOneRank) {
  SKIP_WITHOUT_MPI();
  const std::string folder = testing::TempDir() + "/beside";
  ASSERT_EQ(mkdir(folder.c_str(), 0755), 0);
  const std::string program = folder + "/failing_rank";
  const auto copy = [&](const std::string& from, const std::string& to) {
    return std::system(("cp -L '" + from + "' '" + to + "'").c_str());
  };
  const std::vector<std::string> arguments = {"nothing", "0", "3"};
  const std::vector<std::string> no_variable = {"SHARDMILL_MPI_PLUGIN="};
  ASSERT_EQ(copy(RankProgram(kProgram), program), 0);
  EXPECT_EQ(RunMpiJob(2, program, arguments, no_variable).exit_code, 5);
  EXPECT_EQ(RunMpiJob(1, program, arguments, no_variable).exit_code, 0);
  ASSERT_EQ(copy("trainer/libshardmill_mpi.so", folder + "/libshardmill_mpi.so"), 0);
  const MpiJobResult job = RunMpiJob(2, program, arguments, no_variable);
  EXPECT_EQ(job.exit_code, 0) << job.output;
}

}  // namespace
}  // namespace shardmill
