#include "tools/dump/info.h"

#include <vector>

#include "proto/manifest.pb.h"
#include "reader/console/terminal.h"
#include "reader/console/text_table.h"
#include "reader/console/units.h"
#include "reader/schema.h"
#include "tools/dump/class_table.h"
#include "tools/dump/describe.h"
#include "tools/dump/manifest_view.h"

namespace shardmill {
namespace {

constexpr auto kLeft = TextTable::Align::kLeft;
constexpr auto kRight = TextTable::Align::kRight;
constexpr int kIndent = 2;
constexpr int kMostSkippedShown = 20;

std::string SplitTable(const proto::Manifest& manifest, bool colored) {
  TextTable table({{"split", kLeft},
                   {"records", kRight},
                   {"shards", kRight},
                   {"size", kRight},
                   {"skipped inputs", kRight}});
  for (const proto::Split& split : manifest.splits()) {
    table.AddRow({EscapeControl(split.name()), FormatCount(split.records()),
                  FormatCount(split.shards_size()), FormatBytes(BytesOfSplit(split)),
                  FormatCount(split.skipped_size())});
  }
  return table.ToString(kIndent, colored);
}

std::string FieldTable(const RecordSchema& schema, bool colored) {
  TextTable table(
      {{"field", kLeft}, {"kind", kLeft}, {"type", kLeft}, {"shape", kLeft}, {"stored as", kLeft}});
  for (const FieldSpec& spec : schema.fields) {
    table.AddRow({EscapeControl(spec.name), std::string(RoleName(spec.role)),
                  std::string(DTypeName(spec.dtype)), DescribeShape(spec.shape),
                  DescribeStorage(spec)});
  }
  return table.ToString(kIndent, colored);
}

std::vector<NamedStatistics> StatisticsOfSplits(const proto::Manifest& manifest) {
  std::vector<NamedStatistics> named;
  for (const proto::Split& split : manifest.splits()) {
    named.push_back({split.name(), &split.statistics()});
  }
  return named;
}

std::string RecipeTable(const proto::Manifest& manifest, bool colored) {
  TextTable table({{"option", kLeft}, {"value", kLeft}});
  table.AddRow({"layout", EscapeControl(manifest.recipe().layout())});
  for (const proto::Recipe::Option& option : manifest.recipe().options()) {
    table.AddRow({EscapeControl(option.name()), EscapeControl(option.value())});
  }
  return table.ToString(kIndent, colored);
}

std::string SkippedTable(const proto::Manifest& manifest, bool colored) {
  TextTable table({{"split", kLeft}, {"input", kLeft}, {"why it was skipped", kLeft}});
  int left_out = 0;
  for (const proto::Split& split : manifest.splits()) {
    for (int i = 0; i < split.skipped_size(); ++i) {
      if (i >= kMostSkippedShown) {
        ++left_out;
        continue;
      }
      table.AddRow({EscapeControl(split.name()), EscapeControl(split.skipped(i).key()),
                    EscapeControl(split.skipped(i).reason())});
    }
  }
  if (table.empty()) return "";
  std::string text = table.ToString(kIndent, colored);
  if (left_out > 0) text += "  … and " + FormatCount(left_out) + " more; --json lists all\n";
  return text;
}

}  // namespace

Result<std::string> InfoText(const std::string& name, const proto::Manifest& manifest,
                             bool colored) {
  ASSIGN_OR_RETURN(const RecordSchema schema, SchemaOfManifest(manifest));
  const std::vector<NamedStatistics> splits = StatisticsOfSplits(manifest);
  std::string text = Bold(EscapeControl(name), colored) + "\n";
  text += "  data set id " + EscapeControl(manifest.dataset_id()) + ", format " +
          std::to_string(manifest.format_version()) + "\n";
  text += Section("Splits", SplitTable(manifest, colored), colored);
  text += Section("Fields of a record", FieldTable(schema, colored), colored);
  if (!schema.classes.empty()) {
    text += Section(ClassTableTitle(schema), ClassTable(schema, splits, colored), colored);
  }
  const std::string channels = ChannelTable(splits, colored);
  if (!channels.empty()) text += Section("Image channels, padding excluded", channels, colored);
  text += Section("Packed with shardmill " + EscapeControl(manifest.recipe().tool_version()),
                  RecipeTable(manifest, colored), colored);
  const std::string skipped = SkippedTable(manifest, colored);
  if (!skipped.empty()) text += Section("Skipped inputs", skipped, colored);
  return text;
}

}  // namespace shardmill
