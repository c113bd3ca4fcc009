// A rank that dies, stops, hangs or errs ends the whole job, soon, with a message that names the
// rank, the step and the call, and with the right exit code.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "proto/train_config.pb.h"
#include "tests/trainer/comm/mpi_job.h"
#include "trainer/comm/communicator.h"

namespace shardmill {
namespace {

constexpr char kProgram[] = "tests/trainer/comm/failing_rank";
constexpr double kLongestSeconds = 30;  // of the end of a job
// A rank that is silent is given up this long behind the deadline at the latest.
constexpr double kSecondsToAnswer = 5;

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
  const std::set<std::string> silent = {"stop",       "hang", "no-start",
                                        "other-call", "work", "stop-at-work"};
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
  failures.push_back({"other-weights",
                      4,
                      2,
                      1,
                      {"error: rank 0 of 4, step 3",
                       "after step 3 the weights of rank 2 (hash b) are not those of rank 0 (a)"}});
  failures.push_back({"no-start", 2, 1, 5, {"rank 0 of 2 has waited too long", "start of MPI"}});
  failures.push_back({"stop-at-work",
                      2,
                      0,
                      5,
                      {"rank 0 of 2 is missing and does not answer",
                       std::string("rank 0 was last seen at ") + kInBucket0}});
  failures.push_back({"work", 2, 0, 0, {}});
  failures.push_back({"nothing", 4, 0, 0, {}});
  return failures;
}

MpiJob JobOf(const Failure& failure, const std::string& deadline_seconds) {
  return {failure.ranks,
          RankProgram(kProgram),
          {failure.what, std::to_string(failure.rank), deadline_seconds},
          {}};
}

void ExpectEnd(const MpiJobResult& job, const Failure& failure) {
  EXPECT_EQ(job.exit_code, failure.exit_code) << job.output;
  for (const std::string& text : failure.said) {
    EXPECT_NE(job.output.find(text), std::string::npos) << "missing: " << text << "\n"
                                                        << job.output;
  }
}

class FailingRank : public testing::TestWithParam<Failure> {
 protected:
  static void SetUpTestSuite() {
    if (!MpiMissing().empty()) return;
    const std::vector<Failure> failures = Failures();
    std::vector<MpiJob> jobs;
    for (const Failure& failure : failures)
      jobs.push_back(JobOf(failure, DeadlineSeconds(failure)));
    const std::vector<MpiJobResult> results = RunMpiJobs(jobs);
    for (size_t i = 0; i < jobs.size(); ++i) jobs_[Text(failures[i])] = results[i];
  }

  static std::map<std::string, MpiJobResult> jobs_;
};
std::map<std::string, MpiJobResult> FailingRank::jobs_;

TEST_P(FailingRank, EndsTheJobWithRankStepAndCall) {
  SKIP_WITHOUT_MPI();
  ExpectEnd(jobs_.at(Text(GetParam())), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Jobs, FailingRank, testing::ValuesIn(Failures()),
                         [](const auto& info) { return Text(info.param); });

double NumberBehind(const std::string& text, const std::string& label) {
  const size_t at = text.find(label);
  return at == std::string::npos ? HUGE_VAL : std::atof(text.c_str() + at + label.size());
}

// From when the rank failed, which it has told, to the end of the job.
double SecondsToEnd(const MpiJobResult& job) {
  const double failed = NumberBehind(job.output, "failing at ");
  return std::isfinite(failed) ? 1e-9 * static_cast<double>(job.end_nanoseconds) - 1e-9 * failed
                               : HUGE_VAL;
}

// Jobs of their own, one after the other, so that they only wait for themselves.
TEST(FailingRankTime, KilledOrThrownRankEndsTheJobWithinThirtySeconds) {
  SKIP_WITHOUT_MPI();
  const CommunicatorOptions defaults;
  for (const Failure& failure : Failures()) {
    const std::string name = Text(failure);
    if (name != "kill_of_rank_1_of_2" && name != "throw_of_rank_1_of_2") continue;
    const MpiJobResult job = RunMpiJob(JobOf(failure, std::to_string(defaults.timeout_seconds)));
    ExpectEnd(job, failure);
    EXPECT_LE(SecondsToEnd(job), kLongestSeconds) << job.output;
  }
}

TEST(FailingRankTime, StoppedRankIsGivenUpSoonBehindTheDeadlineAndEndsTheJob) {
  SKIP_WITHOUT_MPI();
  constexpr double kDeadline = 5;
  for (const Failure& failure : Failures()) {
    const std::string name = Text(failure);
    if (name != "stop_of_rank_1_of_2" && name != "stop_of_rank_0_of_2") continue;
    const MpiJobResult job = RunMpiJob(JobOf(failure, std::to_string(kDeadline)));
    ExpectEnd(job, failure);
    EXPECT_LE(SecondsToEnd(job), kLongestSeconds) << job.output;
    const double waited = NumberBehind(job.output, "does not answer after ");
    EXPECT_GE(waited, kDeadline) << job.output;
    EXPECT_LE(waited, kDeadline + kSecondsToAnswer) << job.output;
  }
  // Then mpirun ends what is left. With the deadline that ranks have where none is given, too, that
  // is within 30 s.
  EXPECT_LT(CommunicatorOptions().timeout_seconds + kSecondsToAnswer, kLongestSeconds);
  EXPECT_EQ(proto::TrainConfig().rank_timeout(), CommunicatorOptions().timeout_seconds);
}

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
