#include "trainer/logs/console.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "reader/console/terminal.h"
#include "reader/console/text_table.h"
#include "reader/console/units.h"

namespace shardmill {
namespace {

constexpr double kLiveSeconds = 1.0 / 6;
constexpr double kPlainSeconds = 10;
constexpr double kSmoothing = 0.05;  // share of the newest step in the live rate

std::string Format(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string PadLeft(const std::string& text, size_t width) {
  const size_t used = DisplayWidth(text);
  return used < width ? std::string(width - used, ' ') + text : text;
}

// The columns of the epoch table; a row and the titles share the widths.
std::string TableLine(const std::vector<std::string>& cells) {
  constexpr size_t kWidths[] = {9, 9, 10, 11, 10, 9, 10, 10};
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) line += PadLeft(cells[i], kWidths[i]);
  return line;
}

}  // namespace

Console::Console(ConsoleOptions options) : options_(std::move(options)), last_print_(-1) {}

Console::~Console() { EraseLive(); }

void Console::Message(const std::string& text) {
  EraseLive();
  std::fprintf(options_.out, "%s\n", EscapeControl(text, KeepLineEnds::kYes).c_str());
  std::fflush(options_.out);
}

void Console::Step(const StepEvent& event, double now) {
  const double share = smoothed_total_ms_ == 0 ? 1 : kSmoothing;
  smoothed_total_ms_ += share * (event.TotalMs() - smoothed_total_ms_);
  smoothed_wait_ms_ += share * (event.wait_ms - smoothed_wait_ms_);
  ShowIfDue([&] { return LiveText(event); }, now);
}

void Console::Busy(const std::string& what, double now) {
  ShowIfDue([&] { return "  " + what; }, now);
}

void Console::ShowIfDue(const std::function<std::string()>& text, double now) {
  if (options_.quiet) return;
  if (last_print_ < 0) last_print_ = options_.terminal ? now - kLiveSeconds : now;
  const double interval = options_.terminal ? kLiveSeconds : kPlainSeconds;
  if (now - last_print_ < interval) return;
  last_print_ = now;
  if (options_.terminal) {
    ShowLive(text());
  } else {
    std::fprintf(options_.out, "%s\n", text().c_str());
    std::fflush(options_.out);
  }
}

void Console::Epoch(const EpochEvent& event, const std::optional<double>& score, double now) {
  if (options_.quiet) return;
  EraseLive();
  if (!titles_printed_) PrintTitles();
  std::vector<std::string> cells = {
      std::to_string(event.epoch) + "/" + std::to_string(options_.epochs),
      std::to_string(event.step),
      Format("%.4f", event.loss),
      Format("%.3g", event.learning_rate),
      Format("%.1f", event.ImagesPerSecond(event.images)),
      Format("%.1f %%", 100 * event.Share(event.wait_ms))};
  std::string mark;
  if (options_.evaluates) {
    const EvaluationEvent* evaluation = event.evaluation;
    cells.push_back(evaluation ? Format("%.4f", evaluation->loss) : "");
    cells.push_back(evaluation ? ScoreText(score) : "");
    if (evaluation && evaluation->best) mark = " *";
  }
  std::fprintf(options_.out, "%s%s\n", TableLine(cells).c_str(), mark.c_str());
  std::fflush(options_.out);
  last_print_ = now;
}

void Console::PrintTitles() {
  titles_printed_ = true;
  std::vector<std::string> titles = {"epoch", "step", "loss", "rate", "images/s", "waiting"};
  if (options_.evaluates) {
    titles.push_back("val loss");
    titles.push_back(options_.score_name);
  }
  const std::string line = TableLine(titles);
  const char* format = options_.colored ? "\x1b[4m%s\x1b[0m\n" : "%s\n";
  std::fprintf(options_.out, format, line.c_str());
}

void Console::ShowLive(const std::string& text) {
  std::fprintf(options_.out, "\r\x1b[K%s", text.c_str());
  std::fflush(options_.out);
  live_shown_ = true;
}

void Console::EraseLive() {
  if (!live_shown_) return;
  std::fprintf(options_.out, "\r\x1b[K");
  std::fflush(options_.out);
  live_shown_ = false;
}

std::string Console::LiveText(const StepEvent& event) const {
  const uint64_t left = options_.total_steps > event.step ? options_.total_steps - event.step : 0;
  const double images_per_second =
      smoothed_total_ms_ > 0 ? 1e3 * static_cast<double>(event.images) / smoothed_total_ms_ : 0;
  const double waiting = smoothed_total_ms_ > 0 ? smoothed_wait_ms_ / smoothed_total_ms_ : 0;
  return PadLeft(std::to_string(event.epoch) + "/" + std::to_string(options_.epochs), 9) +
         "  step " + std::to_string(event.step) + " of " + std::to_string(options_.total_steps) +
         ", loss " + Format("%.4f", event.loss) + ", " + Format("%.1f", images_per_second) +
         " images/s, waiting " + Format("%.1f", 100 * waiting) + " %, " +
         FormatSeconds(1e-3 * smoothed_total_ms_ * static_cast<double>(left)) + " left";
}

std::string ProgressText(const std::string& action, uint64_t done, uint64_t total, double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string text = action + ": " + FormatCount(done) + " of " + FormatCount(total) + " records";
  if (total > 0) {
    text += Format(", %.0f %%", 100 * static_cast<double>(done) / static_cast<double>(total));
  }
  if (rate <= 0) return text;
  const double left = done < total ? static_cast<double>(total - done) / rate : 0;
  return text + ", " + Format("%.1f", rate) + " records/s, " + FormatSeconds(left) + " left";
}

RecordProgress::RecordProgress(std::string action, uint64_t total, bool quiet)
    : action_(std::move(action)), total_(total), start_(SteadySeconds()), console_([quiet] {
        ConsoleOptions options;
        options.quiet = quiet;
        options.terminal = IsTerminal(stderr);
        return options;
      }()) {}

void RecordProgress::Show(uint64_t done) {
  const double now = SteadySeconds();
  console_.Busy(ProgressText(action_, done, total_, now - start_), now);
}

std::string ClassTable(const Scores& scores, const std::vector<std::string>& classes,
                       LabelledUnit unit, bool colored) {
  using Align = TextTable::Align;
  const bool of_pixels = unit == LabelledUnit::kPixel;
  std::vector<TextTable::Column> columns = {{"class", Align::kLeft}};
  if (of_pixels) columns.push_back({"IoU", Align::kRight});
  columns.push_back({"accuracy", Align::kRight});
  columns.push_back({of_pixels ? "pixels" : "images", Align::kRight});
  TextTable table(columns);
  const auto add = [&](const std::string& name, const std::optional<double>& iou,
                       const std::optional<double>& accuracy, const std::string& share) {
    std::vector<std::string> row = {name};
    if (of_pixels) row.push_back(ScoreText(iou));
    row.push_back(ScoreText(accuracy));
    row.push_back(share);
    table.AddRow(row);
  };
  double total = 0;
  for (const uint64_t labels : scores.class_pixels) total += static_cast<double>(labels);
  for (size_t k = 0; k < classes.size(); ++k) {
    const double share = total > 0 ? static_cast<double>(scores.class_pixels[k]) / total : 0;
    add(EscapeControl(classes[k]), scores.class_iou[k], scores.class_accuracy[k],
        Format("%.2f %%", 100 * share));
  }
  add("mean", scores.mean_iou, scores.mean_accuracy, "");
  return table.ToString(2, colored);
}

std::string ScoreText(const std::optional<double>& score) {
  return score ? Format("%.4f", *score) : "–";
}

}  // namespace shardmill
