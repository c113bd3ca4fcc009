#include "tools/dump/verbs.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/base/file_remnants.h"
#include "reader/base/interrupt.h"
#include "reader/base/thread_budget.h"
#include "reader/console/terminal.h"
#include "reader/console/text_table.h"
#include "reader/console/units.h"
#include "reader/png_encode.h"
#include "tools/dump/describe.h"
#include "tools/dump/info.h"
#include "tools/dump/palette.h"
#include "tools/dump/record_sheet.h"
#include "tools/dump/records.h"
#include "tools/dump/shard_set.h"
#include "tools/dump/stats.h"
#include "tools/progress.h"

namespace shardmill {
namespace {

void Print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

struct OpenedSplit {
  std::unique_ptr<ShardSet> set;
  const ShardSet::Split* split = nullptr;
};

// The named split, or the first one, of which there is at least one record.
Result<OpenedSplit> OpenSplit(const DumpOptions& options) {
  OpenedSplit opened;
  ASSIGN_OR_RETURN(opened.set, ShardSet::Open(options.path, options.split));
  opened.split = &opened.set->splits().front();
  if (opened.split->records == 0) {
    return InvalidArgumentError("split " + opened.split->name + " of " + options.path +
                                " has no records; choose another one with --split");
  }
  return opened;
}

Status CheckRecord(const ShardSet::Split& split, uint64_t record) {
  if (record < split.records) return OkStatus();
  return InvalidArgumentError("there is no record " + std::to_string(record) + ": split " +
                              split.name + " has records 0 to " +
                              std::to_string(split.records - 1));
}

Status SavePicture(const Picture& picture, const std::string& path) {
  PngPicture png;
  png.height = picture.height;
  png.width = picture.width;
  png.pixels = &picture.pixels.front().red;
  RemoveRemnants(path);
  RETURN_IF_ERROR(WritePng(path, png));
  std::printf("%s\n", EscapeControl(path).c_str());
  return OkStatus();
}

// What was drawn, the commonest class first, on stderr: stdout has the path of the picture.
void PrintDrawnClasses(const RecordSchema& schema, const DrawnClasses& classes) {
  const bool colored = WantsColor(stderr);
  const ClassPalette palette(schema.classes);
  std::vector<std::pair<uint64_t, int>> by_count;
  for (size_t id = 0; id < classes.counts.size(); ++id) {
    if (classes.counts[id] > 0) by_count.push_back({classes.counts[id], static_cast<int>(id)});
  }
  std::stable_sort(by_count.begin(), by_count.end(),
                   [](const auto& x, const auto& y) { return x.first > y.first; });
  constexpr auto kRight = TextTable::Align::kRight;
  TextTable table({{"", TextTable::Align::kLeft},
                   {"id", kRight},
                   {"class", TextTable::Align::kLeft},
                   {"pixels", kRight},
                   {"share", kRight}});
  for (const auto& [count, id] : by_count) {
    table.AddRow({TerminalSwatch(palette.color(id), colored), std::to_string(id),
                  DescribeClass(schema.classes, id), FormatCount(count),
                  DescribeShare(count, classes.labelled())});
  }
  if (classes.ignored > 0) {
    table.AddRow({"", "", "(ignored, of all, with padding)", FormatCount(classes.ignored),
                  DescribeShare(classes.ignored, classes.total())});
  }
  if (classes.invalid > 0) {
    table.AddRow({"", "", "(not a class, of all, with padding)", FormatCount(classes.invalid),
                  DescribeShare(classes.invalid, classes.total())});
  }
  if (!table.empty()) std::fprintf(stderr, "%s", table.ToString(0, colored).c_str());
}

const proto::Statistics& StatisticsOf(const proto::Manifest& manifest, const std::string& name) {
  for (const proto::Split& split : manifest.splits()) {
    if (split.name() == name) return split.statistics();
  }
  return proto::Statistics::default_instance();
}

Result<std::vector<SplitStats>> CountSplits(const ShardSet& set, const DumpOptions& options) {
  RecountOptions recount;
  ASSIGN_OR_RETURN(recount.threads, ResolveThreads(static_cast<int>(options.jobs), 1));
  recount.cancelled = WasInterrupted;
  ProgressOptions progress_options;
  progress_options.action = "counting";
  progress_options.unit = "records";
  for (const ShardSet::Split& split : set.splits()) progress_options.total += split.records;
  progress_options.style = ProgressStyleFor(options.quiet);
  Progress progress(progress_options);
  recount.report = [&](uint64_t records, uint64_t bytes) { progress.Add(records, bytes); };
  std::vector<SplitStats> stats;
  for (const ShardSet::Split& split : set.splits()) {
    SplitStats counted;
    counted.name = split.name;
    ASSIGN_OR_RETURN(counted.recount, RecountSplit(set, split, recount));
    counted.differences = CompareStatistics(set.schema(), StatisticsOf(set.manifest(), split.name),
                                            *counted.recount.statistics);
    stats.push_back(std::move(counted));
  }
  return stats;
}

// The manifest tells all about a set except whether its shards are there.
Result<int> ReportShardFiles(const std::string& path, const proto::Manifest& manifest) {
  ASSIGN_OR_RETURN(const PathKind kind, KindOfPath(path));
  if (kind != PathKind::kDataset) return 0;
  const std::vector<std::string> faults = FindShardFileFaults(DatasetFolder(path), manifest);
  if (faults.empty()) return 0;
  std::fflush(stdout);
  for (const std::string& fault : faults) {
    std::fprintf(stderr, "shardmill dump: warning: %s\n", EscapeControl(fault).c_str());
  }
  return DataLossError(path + ": " + FormatCount(faults.size()) +
                       (faults.size() == 1 ? " shard is" : " shards are") +
                       " missing or of another size; `shardmill verify` checks all");
}

}  // namespace

Result<RecordRange> ParseRecordRange(const std::string& range, uint64_t limit, uint64_t records) {
  RecordRange result{0, records};
  if (range.empty()) {
    if (limit > 0) result.end = std::min(limit, records);
    return result;
  }
  const size_t colon = range.find(':');
  const std::string first = range.substr(0, colon);
  const std::string end = colon == std::string::npos ? "" : range.substr(colon + 1);
  Result<uint64_t> first_number = first.empty() ? 0 : ParseUnsigned(first, UINT64_MAX);
  Result<uint64_t> end_number = end.empty() ? records : ParseUnsigned(end, UINT64_MAX);
  if (colon == std::string::npos || !first_number.ok() || !end_number.ok() ||
      *first_number > *end_number) {
    return InvalidArgumentError("--range '" + range +
                                "' is no range: write FIRST:END, for example 100:120");
  }
  if (*first_number > records) {
    return InvalidArgumentError("--range '" + range + "' begins after the last of " +
                                FormatCount(records) + " records");
  }
  return RecordRange{*first_number, std::min(*end_number, records)};
}

std::string PictureFileName(const std::string& set, const std::string& split,
                            const std::string& what) {
  std::string name = set + "-" + split + "-" + what;
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    if (!plain) c = '_';
  }
  if (name.front() == '.' || name.front() == '-') name.front() = '_';
  return name + ".png";
}

Result<int> RunDumpInfo(const DumpOptions& options) {
  ASSIGN_OR_RETURN(const proto::Manifest manifest, DescribePath(options.path));
  const std::string name = SetName(options.path);
  ASSIGN_OR_RETURN(const std::string text, options.json
                                               ? InfoJson(name, manifest)
                                               : InfoText(name, manifest, WantsColor(stdout)));
  Print(text);
  return ReportShardFiles(options.path, manifest);
}

Result<int> RunDumpRecords(const DumpOptions& options) {
  ASSIGN_OR_RETURN(const OpenedSplit opened, OpenSplit(options));
  const ShardSet::Split& split = *opened.split;
  ASSIGN_OR_RETURN(const RecordRange range,
                   ParseRecordRange(options.range, options.limit, split.records));
  ASSIGN_OR_RETURN(
      const std::string text,
      options.json ? RecordsJson(*opened.set, split, range.first, range.end)
                   : RecordsText(*opened.set, split, range.first, range.end, WantsColor(stdout)));
  Print(text);
  if (!options.quiet && !options.json && range.end - range.first < split.records) {
    std::fprintf(stderr,
                 "%s of the %s records of split %s; --range FIRST:END or --limit 0 for others\n",
                 FormatCount(range.end - range.first).c_str(), FormatCount(split.records).c_str(),
                 EscapeControl(split.name).c_str());
  }
  return 0;
}

Result<int> RunDumpShow(const DumpOptions& options) {
  ASSIGN_OR_RETURN(const OpenedSplit opened, OpenSplit(options));
  const ShardSet::Split& split = *opened.split;
  uint64_t record = options.record;
  if (!options.key.empty()) {
    ASSIGN_OR_RETURN(record, FindRecordByKey(split, options.key));
  }
  RETURN_IF_ERROR(CheckRecord(split, record));
  RecordSheetOptions sheet;
  sheet.records = {record};
  sheet.field = options.field;
  sheet.opacity = options.opacity;
  ASSIGN_OR_RETURN(const RecordSheet drawn, DrawRecord(*opened.set, split, record, sheet));
  if (!options.quiet && opened.set->schema().FindRole(Role::kClassMap)) {
    PrintDrawnClasses(opened.set->schema(), drawn.classes);
  }
  const std::string made = PictureFileName(opened.set->name(), split.name, std::to_string(record));
  RETURN_IF_ERROR(SavePicture(drawn.picture, options.output.empty() ? made : options.output));
  return 0;
}

Result<int> RunDumpSheet(const DumpOptions& options) {
  ASSIGN_OR_RETURN(const OpenedSplit opened, OpenSplit(options));
  const ShardSet::Split& split = *opened.split;
  if (options.count == 0) return InvalidArgumentError("--count must be at least 1");
  RecordSheetOptions sheet;
  sheet.records = EvenlySpaced(split.records, options.count);
  sheet.field = options.field;
  sheet.opacity = options.opacity;
  ASSIGN_OR_RETURN(const RecordSheet drawn, DrawRecords(*opened.set, split, sheet));
  const std::string made = PictureFileName(opened.set->name(), split.name, "sheet");
  RETURN_IF_ERROR(SavePicture(drawn.picture, options.output.empty() ? made : options.output));
  return 0;
}

Result<int> RunDumpStats(const DumpOptions& options) {
  ASSIGN_OR_RETURN(const auto set, ShardSet::Open(options.path, options.split));
  ASSIGN_OR_RETURN(const std::vector<SplitStats> stats, CountSplits(*set, options));
  Print(options.json ? StatsJson(set->name(), set->schema(), stats)
                     : StatsText(set->name(), set->schema(), stats, WantsColor(stdout)));
  size_t differences = 0;
  for (const SplitStats& split : stats) differences += split.differences.size();
  if (differences > 0) {
    return DataLossError(options.path + ": " + FormatCount(differences) +
                         " numbers of the manifest are not those of the records; "
                         "`shardmill verify` checks the files");
  }
  return 0;
}

}  // namespace shardmill
