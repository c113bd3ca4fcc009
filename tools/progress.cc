#include "tools/progress.h"

#include <chrono>
#include <utility>

#include "reader/console/terminal.h"
#include "reader/console/units.h"

namespace shardmill {
namespace {

constexpr double kTerminalPeriodSeconds = 1.0 / 6;
constexpr double kLinePeriodSeconds = 10;

double SteadySeconds() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

ProgressOptions WithClock(ProgressOptions options) {
  if (!options.clock) options.clock = SteadySeconds;
  return options;
}

}  // namespace

ProgressStyle ProgressStyleFor(bool quiet) {
  if (quiet) return ProgressStyle::kQuiet;
  return IsTerminal(stderr) ? ProgressStyle::kTerminal : ProgressStyle::kLines;
}

Progress::Progress(ProgressOptions options)
    : options_(WithClock(std::move(options))), start_(options_.clock()), last_print_(start_) {}

Progress::~Progress() {
  std::lock_guard<std::mutex> lock(mutex_);
  EraseLine();
}

void Progress::Add(uint64_t units, uint64_t bytes) {
  units_.fetch_add(units, std::memory_order_relaxed);
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  if (options_.style != ProgressStyle::kQuiet) PrintIfDue();
}

void Progress::PrintIfDue() {
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  bool terminal = options_.style == ProgressStyle::kTerminal;
  double now = options_.clock();
  if (now - last_print_ < (terminal ? kTerminalPeriodSeconds : kLinePeriodSeconds)) return;
  last_print_ = now;
  std::string line = Line(now - start_);
  if (terminal) {
    std::fprintf(options_.out, "\r%s\x1b[K", line.c_str());
    line_on_screen_ = true;
  } else {
    std::fprintf(options_.out, "%s\n", line.c_str());
  }
  std::fflush(options_.out);
}

void Progress::Message(std::string_view text) {
  std::lock_guard<std::mutex> lock(mutex_);
  EraseLine();
  std::fprintf(options_.out, "%s\n", EscapeControl(text).c_str());
}

double Progress::ElapsedSeconds() const { return options_.clock() - start_; }

void Progress::EraseLine() {
  if (!line_on_screen_) return;
  std::fprintf(options_.out, "\r\x1b[K");
  std::fflush(options_.out);
  line_on_screen_ = false;
}

std::string Progress::Line(double elapsed) const {
  const bool in_bytes = options_.unit.empty();
  uint64_t units = units_.load(std::memory_order_relaxed);
  double rate = elapsed > 0 ? static_cast<double>(units) / elapsed : 0;
  double megabytes = static_cast<double>(bytes_.load(std::memory_order_relaxed)) / 1e6;
  auto count = [&](uint64_t value) {
    return in_bytes ? FormatBytes(value) : std::to_string(value);
  };
  std::string line = options_.action + " " + count(units);
  if (options_.total > 0) line += (in_bytes ? " of " : "/") + count(options_.total);
  if (!in_bytes) line += " " + options_.unit;
  char text[96];
  if (options_.total > 0) {
    double share = static_cast<double>(units) / static_cast<double>(options_.total);
    std::snprintf(text, sizeof text, " (%.0f %%)", 100 * share);
    line += text;
  }
  if (!in_bytes) {
    std::snprintf(text, sizeof text, ", %.0f/s", rate);
    line += text;
  }
  std::snprintf(text, sizeof text, ", %.1f MB/s", elapsed > 0 ? megabytes / elapsed : 0);
  line += text;
  if (options_.total > units && rate > 0) {
    line += ", " + FormatSeconds(static_cast<double>(options_.total - units) / rate) + " left";
  }
  return line;
}

}  // namespace shardmill
