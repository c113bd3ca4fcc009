// What a person sees of a run, on stderr: one table row per epoch and, on a terminal, a live line
// below it that is rewritten at most six times a second; elsewhere a plain line when ten seconds
// have passed without a row. Quiet consoles print messages only. Not for concurrent use.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/logs/run_events.h"

namespace shardmill {

struct ConsoleOptions {
  FILE* out = stderr;
  bool quiet = false;
  bool terminal = false;  // a live line may be rewritten
  bool colored = false;
  uint64_t epochs = 0;
  uint64_t total_steps = 0;
  bool evaluates = true;            // the table has columns for evaluations
  std::string score_name = "mIoU";  // of the column of the score
};

class Console {
 public:
  explicit Console(ConsoleOptions options);
  ~Console();  // takes the live line off the terminal
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  // A line of its own: notices and warnings.
  void Message(const std::string& text);
  // `now` is in seconds of a clock that only rises.
  void Step(const StepEvent& event, double now);
  // What goes on while no step ends, as ProgressText says it; as often as steps are shown.
  void Busy(const std::string& what, double now);
  // `score`: that of the evaluation, if there was one and it exists.
  void Epoch(const EpochEvent& event, const std::optional<double>& score, double now);

 private:
  void PrintTitles();
  void EraseLive();
  void ShowLive(const std::string& text);
  void ShowIfDue(const std::function<std::string()>& text, double now);
  std::string LiveText(const StepEvent& event) const;

  const ConsoleOptions options_;
  bool titles_printed_ = false;
  bool live_shown_ = false;
  double last_print_;
  double smoothed_total_ms_ = 0;
  double smoothed_wait_ms_ = 0;
};

// "evaluating: 96 of 233 records, 41 %, 3.2 records/s, 43 s left".
std::string ProgressText(const std::string& action, uint64_t done, uint64_t total, double seconds);

// The progress on stderr of work on records that is no training.
class RecordProgress {
 public:
  RecordProgress(std::string action, uint64_t total, bool quiet);
  void Show(uint64_t done);

 private:
  const std::string action_;
  const uint64_t total_;
  const double start_;
  Console console_;
};

// What one label stands for.
enum class LabelledUnit { kPixel, kImage };

// The table of classes: name, IoU (of pixels only), accuracy, share of the labelled units.
std::string ClassTable(const Scores& scores, const std::vector<std::string>& classes,
                       LabelledUnit unit, bool colored);

// "0.8421", or "–" where there is no score.
std::string ScoreText(const std::optional<double>& score);

}  // namespace shardmill
