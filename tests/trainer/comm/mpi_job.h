// Starts a program of the tests under mpirun and waits for it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace shardmill {

struct MpiJobResult {
  int exit_code = -1;  // of mpirun; -1 when it did not end by itself
  std::string output;  // standard output and standard error of all ranks
};

// Empty when mpirun is there; else the reason to skip.
std::string MpiMissing();

// The absolute path of a program, by its path from the repository root.
std::string RankProgram(const std::string& path);

// Variables "NAME=value" are added to the environment of the ranks. Jobs may run side by side.
MpiJobResult RunMpiJob(int ranks, const std::string& program,
                       const std::vector<std::string>& arguments,
                       const std::vector<std::string>& variables = {});

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
