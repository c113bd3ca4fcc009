#include "tools/bench/read_report.h"

#include <array>
#include <cstdio>
#include <string_view>

#include "reader/console/terminal.h"
#include "reader/console/text_table.h"
#include "reader/console/units.h"

namespace shardmill {
namespace {

constexpr int kIndent = 2;
using Align = TextTable::Align;

std::string Fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string GigaBytes(double bytes_per_second) { return Fixed(bytes_per_second / 1e9, 2); }
std::string Percent(double share) { return Fixed(100 * share, 0) + "%"; }
// "98% (95-101)": the median, and between what half of the turns lie.
std::string Percent(const Spread& share) {
  return Percent(share.median) + " (" + Fixed(100 * share.low, 0) + "-" +
         Fixed(100 * share.high, 0) + ")";
}
std::string Count(double value) { return FormatCount(static_cast<uint64_t>(value + 0.5)); }

struct StageShare {
  std::string_view name;
  Rgb color;
  uint64_t LoaderTimes::*nanoseconds;
};

constexpr std::array<StageShare, 6> kStages = {{
    {"disk", {176, 122, 161}, &LoaderTimes::disk_ns},
    {"copy", {78, 121, 167}, &LoaderTimes::copy_ns},
    {"checksum", {242, 142, 43}, &LoaderTimes::checksum_ns},
    {"decode", {89, 161, 79}, &LoaderTimes::decode_ns},
    {"expand", {225, 87, 89}, &LoaderTimes::expand_ns},
    {"waiting for a slot", {196, 196, 192}, &LoaderTimes::wait_for_slot_ns},
}};

double WorkerNs(const LoaderTimes& times) {
  uint64_t sum = 0;
  for (const StageShare& stage : kStages) sum += times.*stage.nanoseconds;
  return static_cast<double>(sum);
}

double ShareOf(const LoaderTimes& times, const StageShare& stage) {
  const double sum = WorkerNs(times);
  return sum > 0 ? static_cast<double>(times.*stage.nanoseconds) / sum : 0;
}

std::string Name(const ReadFigures& figures) { return EscapeControl(figures.set); }

std::string LimitsText(const ReadReport& report, bool colored) {
  TextTable table(
      {{"threads", Align::kRight}, {"memcpy GB/s", Align::kRight}, {"memset GB/s", Align::kRight}});
  for (const MachineLimits& limits : report.limits) {
    table.AddRow({std::to_string(limits.threads), GigaBytes(limits.memory.copy_bytes_per_second),
                  GigaBytes(limits.memory.set_bytes_per_second)});
  }
  return "Memory, 64 MiB a thread\n" + table.ToString(kIndent, colored);
}

// A loader that was measured, with the name of its checksum policy.
struct Measured {
  std::string_view checksums;
  const LoaderFigures* loader;
};

std::array<Measured, 2> LoadersOf(const ReadFigures& figures) {
  return {{{"off", &figures.unchecked}, {"first-touch", &figures.first_touch}}};
}

// What stands at the start of each line; of a set with so many threads, only in the first line.
std::vector<std::string> LineStart(const ReadFigures& figures, bool is_first,
                                   std::string_view checksums) {
  if (!is_first) return {"", "", "", std::string(checksums)};
  return {Name(figures), figures.fields, std::to_string(figures.threads), std::string(checksums)};
}

std::vector<TextTable::Column> LineStartColumns() {
  return {{"record"}, {"fields"}, {"threads", Align::kRight}, {"checksums"}};
}

std::string SpeedText(const ReadReport& report, bool colored) {
  std::vector<TextTable::Column> columns = LineStartColumns();
  for (const char* title : {"samples/s", "GB/s", "CPU-s/1000", "of loop", "loop GB/s", "CPU-s/1000",
                            "of itself", "pread GB/s"}) {
    columns.push_back({title, Align::kRight});
  }
  TextTable table(std::move(columns));
  for (const ReadFigures& figures : report.sets) {
    for (const auto& [checksums, loader] : LoadersOf(figures)) {
      const bool is_first = loader == &figures.unchecked;
      const Rate& rate = loader->later_epoch;
      std::vector<std::string> row = LineStart(figures, is_first, checksums);
      row.push_back(Count(rate.per_second()));
      row.push_back(GigaBytes(figures.BytesPerSecond(rate)));
      row.push_back(Fixed(rate.cpu_seconds_per_1000(), 4));
      row.push_back(Percent(loader->of_loop));
      row.push_back(is_first ? GigaBytes(figures.BytesPerSecond(figures.gather)) : "");
      row.push_back(is_first ? Fixed(figures.gather.cpu_seconds_per_1000(), 4) : "");
      row.push_back(is_first ? Percent(figures.gather_of_itself) : "");
      row.push_back(is_first ? GigaBytes(figures.BytesPerSecond(figures.pread)) : "");
      table.AddRow(std::move(row));
    }
  }
  return "In memory, random order, later epochs; loop: bare memcpy, or decoding, over the "
         "same records.\nEach turn between two of the loop; medians, and what half of the turns "
         "lie "
         "between\n" +
         table.ToString(kIndent, colored);
}

std::string EpochsText(const ReadReport& report, bool colored) {
  std::vector<TextTable::Column> columns = LineStartColumns();
  for (const char* title :
       {"first GB/s", "of the next", "memory there", "loop: first GB/s", "of the next"}) {
    columns.push_back({title, Align::kRight});
  }
  TextTable table(std::move(columns));
  for (const ReadFigures& figures : report.sets) {
    for (const auto& [checksums, loader] : LoadersOf(figures)) {
      const bool is_first = loader == &figures.unchecked;
      std::vector<std::string> row = LineStart(figures, is_first, checksums);
      row.push_back(GigaBytes(figures.BytesPerSecond(loader->first_epoch)));
      row.push_back(Percent(loader->first_of_later));
      row.push_back(Percent(loader->first_of_later_written));
      row.push_back(GigaBytes(
          figures.BytesPerSecond(is_first ? figures.gather_first : figures.checked_first)));
      row.push_back(
          Percent(is_first ? figures.gather_first_of_later : figures.checked_first_of_later));
      table.AddRow(std::move(row));
    }
  }
  return "The first epoch (pages in memory, not yet mapped or checked), from opening the loader "
         "on, beside the next one:\nin new memory, and in memory that was there before, as that of "
         "the loop was; loop: with checksums too where the\nloader has them\n" +
         table.ToString(kIndent, colored);
}

// Epochs whose time is shown stage by stage. Without checksums the first one is like the others.
struct TimedEpochs {
  std::string_view name;
  const LoaderTimes* times;
  const Rate* rate;
};

std::array<TimedEpochs, 3> TimedEpochsOf(const ReadFigures& figures) {
  const LoaderFigures& checked = figures.first_touch;
  return {{{"off", &figures.unchecked.times, &figures.unchecked.later_epoch},
           {"first-touch, first epoch", &checked.first_times, &checked.first_epoch},
           {"first-touch, later epochs", &checked.times, &checked.later_epoch}}};
}

std::string StagesText(const ReadReport& report, bool colored) {
  std::vector<TextTable::Column> columns = LineStartColumns();
  for (const StageShare& stage : kStages)
    columns.push_back({std::string(stage.name), Align::kRight});
  TextTable table(std::move(columns));
  for (const ReadFigures& figures : report.sets) {
    for (const TimedEpochs& epochs : TimedEpochsOf(figures)) {
      const bool is_first = epochs.times == &figures.unchecked.times;
      std::vector<std::string> row = LineStart(figures, is_first, epochs.name);
      for (const StageShare& stage : kStages) row.push_back(Percent(ShareOf(*epochs.times, stage)));
      table.AddRow(std::move(row));
    }
  }
  return "Where the time of the loader's threads went\n" + table.ToString(kIndent, colored);
}

std::string ColdText(const ReadReport& report, bool colored) {
  if (report.cold.empty()) return "";
  TextTable table({{"record"},
                   {"fields"},
                   {"threads", Align::kRight},
                   {"bare direct GB/s", Align::kRight},
                   {"depth", Align::kRight},
                   {"of itself", Align::kRight},
                   {"direct: GB/s", Align::kRight},
                   {"CPU-s/1000", Align::kRight},
                   {"of bare", Align::kRight},
                   {"once open", Align::kRight},
                   {"mapped: GB/s", Align::kRight},
                   {"CPU-s/1000", Align::kRight},
                   {"of bare", Align::kRight}});
  for (const ColdFigures& figures : report.cold) {
    std::vector<std::string> row = {
        EscapeControl(figures.set),         figures.fields,
        std::to_string(figures.threads),    GigaBytes(figures.BytesPerSecond(figures.bare)),
        std::to_string(figures.best_depth), Percent(figures.bare_of_itself)};
    const auto add = [&](const Rate& rate, const Spread& of_bare) {
      row.push_back(GigaBytes(figures.BytesPerSecond(rate)));
      row.push_back(Fixed(rate.cpu_seconds_per_1000(), 4));
      row.push_back(Percent(of_bare));
    };
    add(figures.direct, figures.direct_of_bare);
    row.push_back(Percent(figures.direct_open_of_bare));
    add(figures.mapped, figures.mapped_of_bare);
    table.AddRow(std::move(row));
  }
  return "One epoch from the disk, first-touch, from opening the loader on; once open: from then\n"
         "on, as the bare reads are timed; the loader reads at a queue depth of 64 or more; GB/s\n"
         "of stored bytes\n" +
         table.ToString(kIndent, colored);
}

std::string OneHotText(const ReadReport& report, bool colored) {
  if (report.one_hot.empty()) return "";
  TextTable table({{"stored"},
                   {"threads", Align::kRight},
                   {"bytes/record", Align::kRight},
                   {"GB/s", Align::kRight},
                   {"memset GB/s", Align::kRight},
                   {"of memset", Align::kRight}});
  for (const OneHotFigures& figures : report.one_hot) {
    table.AddRow({figures.label, std::to_string(figures.threads), FormatBytes(figures.output_bytes),
                  GigaBytes(figures.bytes_per_second), GigaBytes(figures.memset_bytes_per_second),
                  Percent(figures.of_memset)});
  }
  return "Labels delivered as one_hot_f32\n" + table.ToString(kIndent, colored);
}

std::string FirstBatchText(const ReadReport& report) {
  if (!report.first_batch.has_value()) return "";
  const FirstBatchFigures& figures = *report.first_batch;
  return "First batch of " + FormatCount(figures.records) +
         " records: " + Fixed(1000 * figures.best_seconds, 1) +
         " ms from the start of the process (median " + Fixed(1000 * figures.median_seconds, 1) +
         " ms)\n";
}

}  // namespace

std::string ReadReportText(const ReadReport& report, bool colored) {
  std::string text;
  for (const std::string& part :
       {LimitsText(report, colored), SpeedText(report, colored), EpochsText(report, colored),
        StagesText(report, colored), ColdText(report, colored), OneHotText(report, colored),
        FirstBatchText(report)}) {
    if (part.empty()) continue;
    if (!text.empty()) text += "\n";
    text += part;
  }
  return text;
}

StackedPlot ReadReportPlot(const ReadReport& report) {
  StackedPlot plot;
  plot.title = "Where the time of the loader's threads goes";
  plot.subtitle = "shardmill bench read, data in memory, random order, " +
                  std::to_string(report.cpus) + " CPUs";
  for (const StageShare& stage : kStages) {
    plot.series.push_back({std::string(stage.name), stage.color});
  }
  for (const ReadFigures& figures : report.sets) {
    for (const TimedEpochs& epochs : TimedEpochsOf(figures)) {
      StackedBar bar;
      bar.group = figures.set + ": " + figures.fields + ", " + std::to_string(figures.threads) +
                  (figures.threads == 1 ? " thread" : " threads");
      bar.label = (epochs.name == "off" ? "checksums " : "") + std::string(epochs.name);
      for (const StageShare& stage : kStages) {
        bar.shares.push_back(ShareOf(*epochs.times, stage));
      }
      bar.note = Count(epochs.rate->per_second()) + " samples/s, " +
                 GigaBytes(figures.BytesPerSecond(*epochs.rate)) + " GB/s";
      plot.bars.push_back(std::move(bar));
    }
  }
  return plot;
}

}  // namespace shardmill
