#include "tests/trainer/comm/mpi_job.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>
#include <utility>

namespace shardmill {
namespace {

constexpr int kJobsAtOnce = 4;

using Environment = std::map<std::string, std::string>;

// Under Bazel the tests run in the folder that holds the runfiles.
constexpr char kPlugin[] = "trainer/libshardmill_mpi.so";

std::string Absolute(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string absolute = resolved;
  free(resolved);
  return absolute;
}

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The rank as Open MPI and as MPICH tell it to a process of the `environment`; -1: neither does.
int RankIn(const std::string& environment) {
  for (const char* name : {"OMPI_COMM_WORLD_RANK=", "PMI_RANK="}) {
    const size_t at = environment.find(name);
    if (at != std::string::npos) return std::atoi(environment.c_str() + at + std::strlen(name));
  }
  return -1;
}

// What the test runner tells the test must not reach its ranks: they are no test of its own.
Environment RankEnvironment(int ranks, const std::vector<std::string>& variables) {
  Environment environment;
  const auto set = [&](const std::string& variable) {
    const size_t equals = variable.find('=');
    environment[variable.substr(0, equals)] = variable.substr(equals + 1);
  };
  for (char** variable = environ; *variable != nullptr; ++variable) set(*variable);
  for (const char* name :
       {"XML_OUTPUT_FILE", "GTEST_OUTPUT", "TEST_TOTAL_SHARDS", "TESTBRIDGE_TEST_ONLY",
        "TEST_SHARD_INDEX", "TEST_SHARD_STATUS_FILE", "TEST_PREMATURE_EXIT_FILE"}) {
    environment.erase(name);
  }
  environment["SHARDMILL_MPI_PLUGIN"] = Absolute(kPlugin);
  // Open MPI keeps sockets below this folder, whose paths must be short.
  environment["TMPDIR"] = "/tmp";
  // A rank that waits leaves the core to others, which may be of another job.
  environment["OMPI_MCA_mpi_yield_when_idle"] = "1";
  // MPI libraries keep memory until the process ends; one rank uses none of them.
  if (ranks > 1 && environment.count("ASAN_OPTIONS") > 0) {
    environment["ASAN_OPTIONS"] += ":detect_leaks=0";
  }
  for (const std::string& variable : variables) set(variable);
  return environment;
}

std::vector<char*> Pointers(std::vector<std::string>* words) {
  std::vector<char*> pointers;
  for (std::string& word : *words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Starts `line` with its output and errors going to `output` and no input; 0 when it cannot.
pid_t Start(std::vector<std::string> line, const Environment& environment, int output) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  pid_t child = 0;
  const int error = posix_spawnp(&child, line[0].c_str(), &files, nullptr, Pointers(&line).data(),
                                 Pointers(&variables).data());
  posix_spawn_file_actions_destroy(&files);
  return error == 0 ? child : 0;
}

}  // namespace

std::string MpiMissing() {
  if (access(kPlugin, R_OK) != 0) return "the MPI plug-in was not built: no MPI library was found";
  const int code = std::system("command -v mpirun >/dev/null");
  return code == 0 ? "" : "mpirun is not installed";
}

int64_t MonotonicNow() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

std::string RankProgram(const std::string& path) { return Absolute(path); }

MpiJobResult RunMpiJob(const MpiJob& job) {
  MpiJobResult result;
  std::vector<std::string> line = {
      "mpirun", "--allow-run-as-root",     "--bind-to", "none", "--oversubscribe",
      "-np",    std::to_string(job.ranks), job.program};
  line.insert(line.end(), job.arguments.begin(), job.arguments.end());
  // Jobs may run side by side: each must see the end of its own output.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return result;
  const pid_t child = Start(line, RankEnvironment(job.ranks, job.variables), ends[1]);
  close(ends[1]);
  char buffer[4096];
  ssize_t bytes = 0;
  while ((bytes = read(ends[0], buffer, sizeof buffer)) > 0) result.output.append(buffer, bytes);
  close(ends[0]);
  int wait_status = 0;
  if (child == 0 || waitpid(child, &wait_status, 0) != child) return result;
  result.end_nanoseconds = MonotonicNow();
  if (WIFEXITED(wait_status)) result.exit_code = WEXITSTATUS(wait_status);
  return result;
}

MpiJobResult RunMpiJob(int ranks, const std::string& program,
                       const std::vector<std::string>& arguments,
                       const std::vector<std::string>& variables) {
  return RunMpiJob({ranks, program, arguments, variables});
}

std::vector<MpiJobResult> RunMpiJobs(const std::vector<MpiJob>& jobs) {
  std::vector<MpiJobResult> results(jobs.size());
  std::atomic<size_t> next{0};
  const auto run = [&] {
    for (size_t i; (i = next++) < jobs.size();) results[i] = RunMpiJob(jobs[i]);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kJobsAtOnce; ++i) threads.emplace_back(run);
  for (std::thread& thread : threads) thread.join();
  return results;
}

std::vector<pid_t> RanksOfProgram(const std::string& program, const std::string& word) {
  std::vector<std::pair<int, pid_t>> ranks;  // process ids need not be in the order of ranks
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string number = entry.path().filename();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    if (ReadText(entry.path() / "comm") != program + "\n") continue;
    if (ReadText(entry.path() / "cmdline").find(word) == std::string::npos) continue;
    ranks.emplace_back(RankIn(ReadText(entry.path() / "environ")), std::stoi(number));
  }
  std::sort(ranks.begin(), ranks.end());
  std::vector<pid_t> processes;
  for (const auto& [rank, process] : ranks) processes.push_back(process);
  return processes;
}

void ExpectCasesPass(int ranks, const std::string& program, const std::string& filter) {
  const MpiJobResult job = RunMpiJob(ranks, RankProgram(program), {"--gtest_filter=" + filter});
  EXPECT_EQ(job.exit_code, 0) << job.output;
  EXPECT_NE(job.output.find("[  PASSED  ]"), std::string::npos) << job.output;
  EXPECT_EQ(job.output.find("[  PASSED  ] 0 tests"), std::string::npos) << job.output;
}

}  // namespace shardmill
