#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include "reader/base/interrupt.h"
#include "reader/dataset.h"
#include "tools/bench/read_bench.h"

extern char** environ;

namespace shardmill {
namespace {

// A process of this program whose stdout comes through a pipe.
class ChildProcess {
 public:
  static Result<ChildProcess> Start(std::vector<std::string> words) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("cannot make a pipe", errno);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ChildProcess child;
    const int error =
        ::posix_spawn(&child.id_, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    child.output_ = ends[0];
    if (error == 0) return child;
    ::close(ends[0]);
    return ErrnoError("cannot start this program once more", error);
  }

  // Waits until it prints something; false when it ended without.
  bool WaitForOutput() const {
    char byte;
    ssize_t read = 0;
    do {
      read = ::read(output_, &byte, 1);
    } while (read < 0 && errno == EINTR && !WasInterrupted());
    return read == 1;
  }

  // Its exit status, as waitpid() tells it.
  int Join() const {
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    ::close(output_);
    return status;
  }

 private:
  pid_t id_ = -1;
  int output_ = -1;
};

}  // namespace

Result<FirstBatchFigures> MeasureFirstBatch(const ReadBenchOptions& options) {
  using Clock = std::chrono::steady_clock;
  FirstBatchFigures figures;
  ASSIGN_OR_RETURN(const auto dataset, Dataset::Open(options.path, options.split));
  const std::string name = options.split.empty() ? dataset->split_names().front() : options.split;
  ASSIGN_OR_RETURN(const Dataset::Split* split, dataset->split(name));
  figures.records = split->records();
  std::vector<double> seconds;
  for (int round = 0; round < options.rounds; ++round) {
    const Clock::time_point start = Clock::now();
    ASSIGN_OR_RETURN(const ChildProcess child,
                     ChildProcess::Start({"shardmill", "bench", "read", options.path, "--split",
                                          name, "--first-batch"}));
    const bool printed = child.WaitForOutput();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    const int status = child.Join();
    RETURN_IF_ERROR(CheckInterrupt());
    if (!printed || status != 0) {
      return InternalError("`shardmill bench read --first-batch` ended without a batch");
    }
  }
  std::sort(seconds.begin(), seconds.end());
  figures.best_seconds = seconds.front();
  figures.median_seconds = seconds[seconds.size() / 2];
  return figures;
}

}  // namespace shardmill
