// Starts a program of the tests under mpirun and waits for it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace shardmill {

struct MpiJob {
  int ranks = 1;
  std::string program;  // its absolute path
  std::vector<std::string> arguments;
  std::vector<std::string> variables;  // "NAME=value", added to the environment of the ranks
};

struct MpiJobResult {
  int exit_code = -1;           // of mpirun; -1 when it did not end by itself
  std::string output;           // standard output and standard error of all ranks
  int64_t end_nanoseconds = 0;  // when it had ended, on CLOCK_MONOTONIC
};

// Empty when mpirun is there; else the reason to skip.
std::string MpiMissing();

// The absolute path of a program, by its path from the repository root.
std::string RankProgram(const std::string& path);

// Now, on CLOCK_MONOTONIC.
int64_t MonotonicNow();

// Jobs may run side by side.
MpiJobResult RunMpiJob(const MpiJob& job);
MpiJobResult RunMpiJob(int ranks, const std::string& program,
                       const std::vector<std::string>& arguments,
                       const std::vector<std::string>& variables = {});

// Some jobs at a time: one waits nearly all the time, for a deadline, or for mpirun to end what is
// left. The results are in the order of the jobs.
std::vector<MpiJobResult> RunMpiJobs(const std::vector<MpiJob>& jobs);

// Runs the GoogleTest cases of `program` that `filter` names on all ranks of a job, and expects
// them to pass. REQUIRES: mpirun is there.
void ExpectCasesPass(int ranks, const std::string& program, const std::string& filter);

// The processes named `program` with `word` among their arguments, in order: the ranks of a
// job, but neither their guards nor the launcher.
std::vector<pid_t> RanksOfProgram(const std::string& program, const std::string& word);

// Skips the test when there is no mpirun.
#define SKIP_WITHOUT_MPI()                                                     \
  if (const std::string missing = ::shardmill::MpiMissing(); !missing.empty()) \
  GTEST_SKIP() << missing

}  // namespace shardmill
