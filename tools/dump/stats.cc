#include "tools/dump/stats.h"

#include <cstdint>

#include "proto/manifest.pb.h"
#include "reader/console/json_writer.h"
#include "reader/console/terminal.h"
#include "reader/console/text_table.h"
#include "reader/console/units.h"
#include "tools/dump/class_table.h"
#include "tools/dump/describe.h"

namespace shardmill {
namespace {

constexpr auto kLeft = TextTable::Align::kLeft;
constexpr auto kRight = TextTable::Align::kRight;
constexpr int kIndent = 2;

std::string Ratio(const FieldBytes& bytes) {
  if (bytes.stored == 0) return "";
  return DescribeNumber(static_cast<double>(bytes.decoded) / static_cast<double>(bytes.stored), 2) +
         " : 1";
}

std::string FieldTable(const RecordSchema& schema, const std::vector<SplitStats>& splits,
                       bool colored) {
  TextTable table({{"split", kLeft},
                   {"field", kLeft},
                   {"stored as", kLeft},
                   {"decoded", kRight},
                   {"stored", kRight},
                   {"smaller by", kRight},
                   {"stored per record", kRight}});
  for (const SplitStats& split : splits) {
    const uint64_t records = split.recount.statistics->records();
    for (size_t field = 0; field < schema.fields.size(); ++field) {
      const FieldBytes& bytes = split.recount.fields[field];
      table.AddRow({EscapeControl(split.name), EscapeControl(schema.fields[field].name),
                    DescribeStorage(schema.fields[field]), FormatBytes(bytes.decoded),
                    FormatBytes(bytes.stored), Ratio(bytes),
                    records == 0 ? "" : FormatBytes(bytes.stored / records)});
    }
  }
  return table.ToString(kIndent, colored);
}

std::vector<NamedStatistics> Named(const std::vector<SplitStats>& splits) {
  std::vector<NamedStatistics> named;
  for (const SplitStats& split : splits) {
    named.push_back({split.name, split.recount.statistics.get()});
  }
  return named;
}

std::string Verdict(const std::vector<SplitStats>& splits) {
  std::string text = "\n";
  for (const SplitStats& split : splits) {
    const std::string name = EscapeControl(split.name);
    if (split.differences.empty()) {
      text += name + ": " + FormatCount(split.recount.statistics->records()) +
              " records counted again, all numbers as in the manifest\n";
      continue;
    }
    text +=
        name + ": " + FormatCount(split.differences.size()) + " numbers differ from the manifest\n";
    for (const std::string& difference : split.differences) text += "  " + difference + "\n";
  }
  return text;
}

void WriteSplit(const RecordSchema& schema, const SplitStats& split, JsonWriter* json) {
  json->BeginObject();
  json->Key("name").String(split.name);
  json->Key("records").Number(uint64_t{split.recount.statistics->records()});
  json->Key("fields").BeginArray();
  for (size_t field = 0; field < schema.fields.size(); ++field) {
    json->BeginObject();
    json->Key("name").String(schema.fields[field].name);
    json->Key("stored_bytes").Number(split.recount.fields[field].stored);
    json->Key("decoded_bytes").Number(split.recount.fields[field].decoded);
    json->EndObject();
  }
  json->EndArray();
  WriteStatistics(*split.recount.statistics, json);
  json->Key("agrees_with_manifest").Bool(split.differences.empty());
  json->Key("differences").BeginArray();
  for (const std::string& difference : split.differences) json->String(difference);
  json->EndArray();
  json->EndObject();
}

}  // namespace

std::string StatsText(const std::string& name, const RecordSchema& schema,
                      const std::vector<SplitStats>& splits, bool colored) {
  const std::vector<NamedStatistics> named = Named(splits);
  std::string text = Bold(EscapeControl(name), colored) + "\n";
  text += Section("Fields", FieldTable(schema, splits, colored), colored);
  if (!schema.classes.empty()) {
    text += Section(ClassTableTitle(schema), ClassTable(schema, named, colored), colored);
  }
  const std::string channels = ChannelTable(named, colored);
  if (!channels.empty()) text += Section("Image channels, padding excluded", channels, colored);
  return text + Verdict(splits);
}

std::string StatsJson(const std::string& name, const RecordSchema& schema,
                      const std::vector<SplitStats>& splits) {
  JsonWriter json;
  json.BeginObject();
  json.Key("name").String(name);
  json.Key("splits").BeginArray();
  for (const SplitStats& split : splits) WriteSplit(schema, split, &json);
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace shardmill
