#include "tools/verify_report.h"

#include <cstdint>
#include <set>
#include <vector>

#include "reader/console/json_writer.h"
#include "reader/console/terminal.h"
#include "reader/console/text_table.h"
#include "reader/console/units.h"
#include "tools/text_by_file.h"

namespace shardmill {
namespace {

constexpr auto kLeft = TextTable::Align::kLeft;
constexpr auto kRight = TextTable::Align::kRight;

TextTable MakeTable() {
  return TextTable({{"block", kRight},
                    {"record", kRight},
                    {"field", kLeft},
                    {"key", kLeft},
                    {"what is wrong", kLeft}});
}

void AddFinding(const Finding& finding, TextTable* table) {
  table->AddRow({finding.block ? std::to_string(*finding.block) : "",
                 finding.record ? std::to_string(*finding.record) : "",
                 EscapeControl(finding.field), EscapeControl(finding.key),
                 EscapeControl(finding.message)});
}

bool IsAboutTheWholeFile(const Finding& finding) {
  return !finding.block && !finding.record && finding.field.empty();
}

// Findings [first, end), all of one file.
std::string FileText(const Finding* first, const Finding* end, bool colored) {
  std::string text;
  TextTable table = MakeTable();
  for (; first != end; ++first) {
    if (IsAboutTheWholeFile(*first)) {
      text += "  " + EscapeControl(first->message) + "\n";
    } else {
      AddFinding(*first, &table);
    }
  }
  return table.empty() ? text : text + table.ToString(2, colored);
}

void WriteFinding(const Finding& finding, JsonWriter* json) {
  json->BeginObject();
  json->Key("file").String(finding.file);
  json->Key("block");
  finding.block ? json->Number(*finding.block) : json->Null();
  json->Key("record");
  finding.record ? json->Number(*finding.record) : json->Null();
  json->Key("field").String(finding.field);
  json->Key("key").String(finding.key);
  json->Key("message").String(finding.message);
  json->EndObject();
}

}  // namespace

std::string FindingsText(const VerifyReport& report, bool colored) {
  return TextByFile(report.findings, colored, [&](const Finding* first, const Finding* end) {
    return FileText(first, end, colored);
  });
}

std::string VerdictText(const std::string& path, const VerifyReport& report) {
  const std::string what = EscapeControl(path) + ": " + CountOf(report.records, "record") + " in " +
                           CountOf(report.shards, "shard") + ", " + FormatBytes(report.bytes) +
                           ": ";
  if (report.sound()) return what + "intact\n";
  std::set<std::string> files;
  for (const Finding& finding : report.findings) files.insert(finding.file);
  return what + CountOf(report.findings.size(), "finding") + " in " +
         CountOf(files.size(), "file") + "\n";
}

std::string VerifyReportJson(const std::string& path, const VerifyReport& report) {
  JsonWriter json;
  json.BeginObject();
  json.Key("path").String(path);
  json.Key("intact").Bool(report.sound());
  json.Key("shards").Number(report.shards);
  json.Key("blocks").Number(report.blocks);
  json.Key("records").Number(report.records);
  json.Key("bytes").Number(report.bytes);
  json.Key("findings").BeginArray();
  for (const Finding& finding : report.findings) WriteFinding(finding, &json);
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace shardmill
