#include "tests/bench/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

extern char** environ;

namespace shardmill {
namespace {

constexpr std::chrono::milliseconds kLookPeriod(4);

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// 0 when it does not start.
pid_t Spawn(const std::vector<std::string>& words, const std::string& stdout_path) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, stdout_path.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? child : 0;
}

uint64_t AnonymousBytes(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  uint64_t kilobytes = 0;
  for (std::string word; status >> word;) {
    if (word == "RssAnon:") status >> kilobytes;
  }
  return kilobytes << 10;
}

}  // namespace

bool RunProgram(const std::vector<std::string>& words, const std::string& stdout_path,
                ProcessCost* cost) {
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = Spawn(words, stdout_path);
  int status = 0;
  rusage usage = {};
  if (child == 0 || wait4(child, &status, 0, &usage) != child || status != 0) return false;
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  cost->wall = std::min(cost->wall, wall.count());
  cost->cpu = std::min(cost->cpu, Seconds(usage.ru_utime) + Seconds(usage.ru_stime));
  return true;
}

uint64_t PeakAnonymousBytes(const std::vector<std::string>& words, const std::string& stdout_path) {
  const pid_t child = Spawn(words, stdout_path);
  if (child == 0) return 0;
  uint64_t peak = 0;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    peak = std::max(peak, AnonymousBytes(child));
    std::this_thread::sleep_for(kLookPeriod);
  }
  return status == 0 ? peak : 0;
}

}  // namespace shardmill
