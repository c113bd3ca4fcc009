// Runs the real shardmill-train in tests and reads what it left behind.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace shardmill {

struct ProgramResult {
  int exit_code = -1;  // 128 + signal when it was killed by one
  std::string out;
  std::string err;
};

// A started program; its output goes to files, so that it never waits for the reader.
class RunningProgram {
 public:
  // Arguments behind the program's name.
  explicit RunningProgram(const std::vector<std::string>& arguments);
  pid_t pid() const { return pid_; }
  ProgramResult Wait();

 private:
  pid_t pid_ = -1;
  std::string out_path_;
  std::string err_path_;
};

ProgramResult RunTrainer(const std::vector<std::string>& arguments);

// A new, empty path under testing::TempDir().
std::string FreshPath(const std::string& name);

// log.jsonl in a new folder OUTPUT, as a pipe: the test sees each line as it is written, and the
// program waits for the test.
class LogPipe {
 public:
  explicit LogPipe(const std::string& output);
  ~LogPipe();
  LogPipe(const LogPipe&) = delete;
  LogPipe& operator=(const LogPipe&) = delete;

  // Waits until a program writes to it.
  std::ifstream& Lines();

 private:
  const std::string path_;
  int reader_ = -1;  // so that the program finds one, however late the test comes
  std::ifstream lines_;
};

// One line of log.jsonl.
struct LogLine {
  std::string kind;
  uint64_t step = 0;
  double loss = 0;
  double miou = -1;  // of evaluations
  bool has_times = false;
  double wait_ms = 0, copy_ms = 0, communication_ms = 0, compute_ms = 0, total_ms = 0;
};
std::vector<LogLine> ReadLog(const std::string& path);

// The text behind the last "LABEL " in `text`, up to the end of its line.
std::string ValueAfter(const std::string& text, const std::string& label);

}  // namespace shardmill
