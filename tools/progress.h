// The progress of a long command on stderr.
//
// On a terminal one line is rewritten at most six times a second; otherwise a plain line is
// printed every ten seconds; with kQuiet nothing. Add() and Message() may be called from any
// thread; the caller that finds a line due prints it.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace shardmill {

enum class ProgressStyle { kQuiet, kLines, kTerminal };

// kQuiet when `quiet`, else by what stderr is.
ProgressStyle ProgressStyleFor(bool quiet);

struct ProgressOptions {
  std::string action;  // "packing"
  std::string unit;    // "images"; empty: units are bytes
  uint64_t total = 0;  // units; 0: not known
  ProgressStyle style = ProgressStyle::kQuiet;
  FILE* out = stderr;
  // Seconds of a steady clock; replaced by tests.
  std::function<double()> clock;
};

class Progress {
 public:
  explicit Progress(ProgressOptions options);
  ~Progress();  // takes the line off the terminal
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Counts work that is done; `bytes` are those the rate in MB/s means.
  void Add(uint64_t units, uint64_t bytes);

  // Prints a line of its own (control characters escaped) without damage to the progress line.
  // Printed with kQuiet too.
  void Message(std::string_view text);

  double ElapsedSeconds() const;

 private:
  void PrintIfDue();
  void EraseLine();
  std::string Line(double elapsed) const;

  const ProgressOptions options_;
  const double start_;
  std::atomic<uint64_t> units_{0};
  std::atomic<uint64_t> bytes_{0};
  std::mutex mutex_;  // guards what follows
  double last_print_;
  bool line_on_screen_ = false;
};

}  // namespace shardmill
