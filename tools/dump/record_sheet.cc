#include "tools/dump/record_sheet.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "proto/manifest.pb.h"
#include "reader/console/units.h"
#include "tools/dump/describe.h"
#include "tools/dump/legend.h"
#include "tools/dump/manifest_view.h"
#include "tools/dump/record_view.h"
#include "tools/dump/sheet.h"

namespace shardmill {
namespace {

constexpr Rgb kNoImage = {200, 200, 198};
constexpr int kWidestRecord = 6000;  // three panels of a very large image are shrunk to this

void Count(int32_t id, DrawnClasses* classes) {
  const auto count = static_cast<int32_t>(classes->counts.size());
  if (id == kIgnoredPixel) {
    ++classes->ignored;
  } else if (id < 0 || id >= count) {
    ++classes->invalid;
  } else {
    ++classes->counts[id];
  }
}

void CountView(const RecordView& view, DrawnClasses* classes) {
  if (view.label) {
    for (const int32_t id : view.label->ids) Count(id, classes);
  } else if (view.class_id) {
    Count(*view.class_id, classes);
  }
}

SheetCell MakeCell(RecordView view, uint64_t record, const std::vector<ClassInfo>& classes) {
  SheetCell cell;
  cell.number = "#" + std::to_string(record);
  cell.caption = view.key;
  if (view.image) {
    cell.image = std::move(*view.image);
  } else {
    cell.image = Picture(view.label->height, view.label->width, kNoImage);
  }
  cell.label = std::move(view.label);
  cell.class_id = view.class_id;
  if (view.class_id) {
    cell.class_name =
        *view.class_id == kIgnoredPixel ? "no class" : DescribeClass(classes, *view.class_id);
  }
  return cell;
}

std::optional<double> Share(uint64_t part, uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

// `all` says what the ignored pixels are a part of: padding is drawn, and not counted by the
// packer.
std::vector<LegendEntry> MakeLegend(const RecordSchema& schema, const DrawnClasses& counts,
                                    const std::string& all) {
  std::vector<LegendEntry> legend;
  const uint64_t labelled = counts.labelled();
  for (size_t id = 0; id < counts.counts.size(); ++id) {
    legend.push_back({static_cast<int32_t>(id),
                      DescribeClass(schema.classes, static_cast<int64_t>(id)),
                      Share(counts.counts[id], labelled)});
  }
  // A legend that cannot hold all shows the commonest.
  if (legend.size() > kMostLegendEntries) {
    std::stable_sort(legend.begin(), legend.end(), [](const LegendEntry& x, const LegendEntry& y) {
      return x.share.value_or(0) > y.share.value_or(0);
    });
  }
  if (schema.ignore || counts.ignored > 0) {
    legend.push_back(
        {kIgnoredPixel, "ignored (" + all + ")", Share(counts.ignored, counts.total())});
  }
  if (counts.invalid > 0) {
    legend.push_back(
        {kSeveralClasses, "not a class (" + all + ")", Share(counts.invalid, counts.total())});
  }
  return legend;
}

const proto::Statistics* StatisticsOfSplit(const proto::Manifest& manifest,
                                           const std::string& name) {
  for (const proto::Split& split : manifest.splits()) {
    if (split.name() == name) return &split.statistics();
  }
  return &proto::Statistics::default_instance();
}

DrawnClasses CountsOfSplit(const ShardSet& set, const ShardSet::Split& split) {
  const proto::Statistics* statistics = StatisticsOfSplit(set.manifest(), split.name);
  DrawnClasses counts;
  counts.counts.assign(statistics->class_pixels().begin(), statistics->class_pixels().end());
  counts.counts.resize(set.schema().classes.size());
  counts.ignored = statistics->ignore_pixels();
  return counts;
}

// Reads the records and starts the sheet with them; title and legend are the caller's.
Result<Sheet> ReadCells(const ShardSet& set, const ShardSet::Split& split,
                        const std::vector<uint64_t>& records, const RecordSheetOptions& options,
                        DrawnClasses* classes) {
  ASSIGN_OR_RETURN(const ViewFields fields, ChooseViewFields(set.schema(), options.field));
  classes->counts.resize(set.schema().classes.size());
  Sheet sheet;
  sheet.opacity = options.opacity;
  ReadScratch scratch;
  for (const uint64_t record : records) {
    const auto [shard, local] = split.Locate(record);
    ASSIGN_OR_RETURN(RecordView view, ViewRecord(*shard, local, fields, &scratch));
    CountView(view, classes);
    sheet.cells.push_back(MakeCell(std::move(view), record, set.schema().classes));
  }
  return sheet;
}

// The size of the images, when they all have one; ASCII, because it is drawn.
std::string SizeText(const Sheet& sheet) {
  const Picture& first = sheet.cells.front().image;
  for (const SheetCell& cell : sheet.cells) {
    if (cell.image.height != first.height || cell.image.width != first.width) return "";
  }
  return "  |  " + std::to_string(first.height) + " high x " + std::to_string(first.width) +
         " wide";
}

std::string Unit(const RecordSchema& schema) {
  return schema.FindRole(Role::kClassMap) ? "pixels" : "records";
}

}  // namespace

uint64_t DrawnClasses::labelled() const {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

uint64_t DrawnClasses::total() const { return labelled() + ignored + invalid; }

Result<RecordSheet> DrawRecord(const ShardSet& set, const ShardSet::Split& split, uint64_t record,
                               const RecordSheetOptions& options) {
  RecordSheet result;
  ASSIGN_OR_RETURN(Sheet sheet, ReadCells(set, split, {record}, options, &result.classes));
  sheet.title = set.name();
  sheet.subtitle = "split " + split.name + "  |  record " + FormatCount(record) + " of " +
                   FormatCount(split.records) + SizeText(sheet);
  sheet.label_alone = true;
  sheet.most_width = kWidestRecord;
  if (sheet.cells.front().label) {
    sheet.legend = MakeLegend(set.schema(), result.classes, "of all, with padding");
    sheet.legend_title = "Classes and their share of the labelled pixels of this record";
  }
  result.picture = DrawSheet(sheet, ClassPalette(set.schema().classes));
  return result;
}

Result<RecordSheet> DrawRecords(const ShardSet& set, const ShardSet::Split& split,
                                const RecordSheetOptions& options) {
  RecordSheet result;
  ASSIGN_OR_RETURN(Sheet sheet, ReadCells(set, split, options.records, options, &result.classes));
  sheet.title = set.name();
  sheet.subtitle = "split " + split.name + "  |  " + FormatCount(options.records.size()) + " of " +
                   FormatCount(split.records) + " records" + SizeText(sheet);
  if (!set.schema().classes.empty()) {
    sheet.legend = MakeLegend(set.schema(), CountsOfSplit(set, split), "of all but padding");
    sheet.legend_title =
        "Classes and their share of the labelled " + Unit(set.schema()) + " of split " + split.name;
  }
  result.picture = DrawSheet(sheet, ClassPalette(set.schema().classes));
  return result;
}

std::vector<uint64_t> EvenlySpaced(uint64_t records, uint64_t count) {
  const uint64_t taken = std::min(records, count);
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < taken; ++i) {
    // i * records may not fit into 64 bits.
    numbers.push_back(static_cast<uint64_t>(static_cast<unsigned __int128>(i) * records / taken));
  }
  return numbers;
}

}  // namespace shardmill
