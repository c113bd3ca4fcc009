#include "tests/trainer/comm/mpi_job.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace shardmill {
namespace {

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

// What the test runner tells the test must not reach its ranks: they are no test of its own.
void PrepareEnvironment(int ranks, const std::vector<std::string>& variables) {
  for (const char* name :
       {"XML_OUTPUT_FILE", "GTEST_OUTPUT", "TEST_TOTAL_SHARDS", "TESTBRIDGE_TEST_ONLY",
        "TEST_SHARD_INDEX", "TEST_SHARD_STATUS_FILE", "TEST_PREMATURE_EXIT_FILE"}) {
    unsetenv(name);
  }
  setenv("SHARDMILL_MPI_PLUGIN", Absolute(kPlugin).c_str(), 1);
  // Open MPI keeps sockets below this folder, whose paths must be short.
  setenv("TMPDIR", "/tmp", 1);
  // MPI libraries keep memory until the process ends; one rank uses none of them.
  if (const char* options = std::getenv("ASAN_OPTIONS"); options != nullptr && ranks > 1) {
    setenv("ASAN_OPTIONS", (std::string(options) + ":detect_leaks=0").c_str(), 1);
  }
  for (const std::string& variable : variables) {
    const size_t equals = variable.find('=');
    setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  }
}

[[noreturn]] void Execute(int ranks, const std::string& program,
                          const std::vector<std::string>& arguments) {
  std::vector<std::string> line = {
      "mpirun", "--allow-run-as-root", "--bind-to", "none", "--oversubscribe",
      "-np",    std::to_string(ranks), program};
  line.insert(line.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : line) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  _exit(127);
}

}  // namespace

std::string MpiMissing() {
  if (access(kPlugin, R_OK) != 0) return "the MPI plug-in was not built: no MPI library was found";
  const int code = std::system("command -v mpirun >/dev/null");
  return code == 0 ? "" : "mpirun is not installed";
}

std::string RankProgram(const std::string& path) { return Absolute(path); }

MpiJobResult RunMpiJob(int ranks, const std::string& program,
                       const std::vector<std::string>& arguments,
                       const std::vector<std::string>& variables) {
  MpiJobResult result;
  const auto start = std::chrono::steady_clock::now();
  int ends[2];
  if (pipe(ends) != 0) return result;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    PrepareEnvironment(ranks, variables);
    Execute(ranks, program, arguments);
  }
  close(ends[1]);
  char buffer[4096];
  ssize_t bytes = 0;
  while ((bytes = read(ends[0], buffer, sizeof buffer)) > 0) result.output.append(buffer, bytes);
  close(ends[0]);
  int wait_status = 0;
  waitpid(child, &wait_status, 0);
  if (WIFEXITED(wait_status)) result.exit_code = WEXITSTATUS(wait_status);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::vector<pid_t> RanksOfProgram(const std::string& program, const std::string& word) {
  std::vector<pid_t> ranks;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string number = entry.path().filename();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    if (ReadText(entry.path() / "comm") != program + "\n") continue;
    if (ReadText(entry.path() / "cmdline").find(word) == std::string::npos) continue;
    ranks.push_back(std::stoi(number));
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

void ExpectCasesPass(int ranks, const std::string& program, const std::string& filter) {
  const MpiJobResult job = RunMpiJob(ranks, RankProgram(program), {"--gtest_filter=" + filter});
  EXPECT_EQ(job.exit_code, 0) << job.output;
  EXPECT_NE(job.output.find("[  PASSED  ]"), std::string::npos) << job.output;
  EXPECT_EQ(job.output.find("[  PASSED  ] 0 tests"), std::string::npos) << job.output;
}

}  // namespace shardmill
