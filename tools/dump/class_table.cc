#include "tools/dump/class_table.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "proto/manifest.pb.h"
#include "reader/console/json_writer.h"
#include "reader/console/terminal.h"
#include "reader/console/text_table.h"
#include "reader/console/units.h"
#include "reader/statistics.h"
#include "tools/dump/describe.h"
#include "tools/dump/manifest_view.h"
#include "tools/dump/palette.h"

namespace shardmill {
namespace {

constexpr auto kLeft = TextTable::Align::kLeft;
constexpr auto kRight = TextTable::Align::kRight;
constexpr int kIndent = 2;
constexpr int kMostClassesShown = 200;

bool CountsPixels(const RecordSchema& schema) {
  return schema.FindRole(Role::kClassMap).has_value();
}

uint64_t At(const google::protobuf::RepeatedField<uint64_t>& list, int index) {
  return index < list.size() ? list.Get(index) : 0;
}

std::vector<TextTable::Column> ClassColumns(const std::vector<NamedStatistics>& splits) {
  std::vector<TextTable::Column> columns = {
      {"", kLeft}, {"id", kRight}, {"class", kLeft}, {"colour", kLeft}};
  for (const NamedStatistics& split : splits) {
    columns.push_back({EscapeControl(split.name), kRight});
  }
  for (const NamedStatistics& split : splits) {
    columns.push_back({"records " + EscapeControl(split.name), kRight});
  }
  return columns;
}

void AddClassRow(const RecordSchema& schema, const ClassPalette& palette, int id,
                 const std::vector<NamedStatistics>& splits, bool colored, TextTable* table) {
  const ClassInfo& info = schema.classes[id];
  std::vector<std::string> row = {TerminalSwatch(palette.color(id), colored), std::to_string(id),
                                  DescribeClass(schema.classes, id),
                                  info.color ? DescribeColor(*info.color) : ""};
  for (const NamedStatistics& split : splits) {
    const uint64_t count = At(split.statistics->class_pixels(), id);
    row.push_back(DescribeShare(count, Labelled(*split.statistics)));
  }
  for (const NamedStatistics& split : splits) {
    const bool pixels = CountsPixels(schema);
    row.push_back(FormatCount(
        At(pixels ? split.statistics->class_images() : split.statistics->class_pixels(), id)));
  }
  table->AddRow(std::move(row));
}

void AddIgnoreRow(uint32_t ignore, const std::vector<NamedStatistics>& splits, TextTable* table) {
  std::vector<std::string> row = {"", std::to_string(ignore), "(ignored, of all but padding)", ""};
  for (const NamedStatistics& split : splits) {
    const uint64_t ignored = split.statistics->ignore_pixels();
    row.push_back(DescribeShare(ignored, ignored + Labelled(*split.statistics)));
  }
  row.resize(row.size() + splits.size());
  table->AddRow(std::move(row));
}

std::string ChannelName(int channel, int channels) {
  constexpr const char* kNames[] = {"red", "green", "blue", "alpha"};
  if (channels == 1) return "gray";
  return channels == 3 || channels == 4 ? kNames[channel] : std::to_string(channel);
}

template <typename List>
void WriteCounts(const char* key, const List& counts, JsonWriter* json) {
  json->Key(key).BeginArray();
  for (const uint64_t count : counts) json->Number(count);
  json->EndArray();
}

}  // namespace

std::string ClassTableTitle(const RecordSchema& schema) {
  return FormatCount(schema.classes.size()) + " classes and their share of " +
         (CountsPixels(schema) ? "labelled pixels" : "labelled records");
}

std::string ClassTable(const RecordSchema& schema, const std::vector<NamedStatistics>& splits,
                       bool colored) {
  TextTable table(ClassColumns(splits));
  const ClassPalette palette(schema.classes);
  const int count = static_cast<int>(schema.classes.size());
  const int shown = std::min(count, kMostClassesShown);
  for (int id = 0; id < shown; ++id) {
    AddClassRow(schema, palette, id, splits, colored, &table);
  }
  if (schema.ignore) AddIgnoreRow(*schema.ignore, splits, &table);
  std::string text = table.ToString(kIndent, colored);
  if (count > shown) {
    text += "  … and " + FormatCount(count - shown) + " more classes; --json lists all\n";
  }
  return text;
}

std::string ChannelTable(const std::vector<NamedStatistics>& splits, bool colored) {
  std::vector<TextTable::Column> columns = {{"channel", kLeft}};
  int channels = 0;
  for (const NamedStatistics& split : splits) {
    columns.push_back({"mean " + EscapeControl(split.name), kRight});
    columns.push_back({"std " + EscapeControl(split.name), kRight});
    channels = std::max({channels, split.statistics->channel_sum_size(),
                         split.statistics->channel_value_sum_size()});
  }
  if (channels == 0) return "";
  TextTable table(columns);
  for (int channel = 0; channel < channels; ++channel) {
    std::vector<std::string> row = {ChannelName(channel, channels)};
    for (const NamedStatistics& split : splits) {
      std::vector<ChannelMoments> moments = MomentsOfChannels(*split.statistics);
      moments.resize(channels);
      row.push_back(DescribeNumber(moments[channel].mean, 2));
      row.push_back(DescribeNumber(moments[channel].standard_deviation, 2));
    }
    table.AddRow(std::move(row));
  }
  return table.ToString(kIndent, colored);
}

void WriteStatistics(const proto::Statistics& statistics, JsonWriter* json) {
  json->Key("statistics").BeginObject();
  json->Key("image_pixels").Number(uint64_t{statistics.image_pixels()});
  const std::vector<ChannelMoments> moments = MomentsOfChannels(statistics);
  json->Key("mean").BeginArray();
  for (const ChannelMoments& channel : moments) json->Number(channel.mean);
  json->EndArray();
  json->Key("std").BeginArray();
  for (const ChannelMoments& channel : moments) json->Number(channel.standard_deviation);
  json->EndArray();
  WriteCounts("class_pixels", statistics.class_pixels(), json);
  WriteCounts("class_images", statistics.class_images(), json);
  json->Key("ignore_pixels").Number(uint64_t{statistics.ignore_pixels()});
  json->EndObject();
}

}  // namespace shardmill
