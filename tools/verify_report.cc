#include "tools/verify_report.h"

#include <cstdint>
#include <set>
#include <vector>

#include "reader/console/json_writer.h"
#include "reader/console/terminal.h"
#include "reader/console/text_table.h"
#include "reader/console/units.h"

namespace shardmill {
namespace {

constexpr auto kLeft = TextTable::Align::kLeft;
constexpr auto kRight = TextTable::Align::kRight;

std::string CountOf(uint64_t count, const std::string& noun) {
  return FormatCount(count) + " " + noun + (count == 1 ? "" : "s");
}

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
std::string FileText(const std::vector<Finding>& findings, size_t first, size_t end, bool colored) {
  const std::string name = EscapeControl(findings[first].file);
  std::string text = colored ? "\x1b[1m" + name + "\x1b[0m\n" : name + "\n";
  TextTable table = MakeTable();
  for (size_t i = first; i < end; ++i) {
    if (IsAboutTheWholeFile(findings[i])) {
      text += "  " + EscapeControl(findings[i].message) + "\n";
    } else {
      AddFinding(findings[i], &table);
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
  std::string text;
  const std::vector<Finding>& findings = report.findings;
  for (size_t first = 0; first < findings.size();) {
    size_t end = first + 1;
    while (end < findings.size() && findings[end].file == findings[first].file) ++end;
    text += FileText(findings, first, end, colored) + "\n";
    first = end;
  }
  return text;
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
