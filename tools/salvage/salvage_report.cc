#include "tools/salvage/salvage_report.h"

#include <cstdint>
#include <optional>
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

// "17", "0-15", or "?" when it is not known how many.
std::string RecordsText(const Loss& loss) {
  if (!loss.record) return loss.records ? CountOf(*loss.records, "record") : "?";
  if (!loss.records || *loss.records <= 1) return std::to_string(*loss.record);
  return std::to_string(*loss.record) + "-" + std::to_string(*loss.record + *loss.records - 1);
}

// Losses [first, end), all of one file.
std::string FileText(const Loss* first, const Loss* end, bool colored) {
  TextTable table(
      {{"block", kRight}, {"record", kRight}, {"key", kLeft}, {"why it is lost", kLeft}});
  for (; first != end; ++first) {
    const Loss& loss = *first;
    table.AddRow({loss.block ? std::to_string(*loss.block) : "", RecordsText(loss),
                  EscapeControl(loss.key), EscapeControl(loss.reason)});
  }
  return table.ToString(2, colored);
}

template <typename Number>
void WriteOptional(const std::optional<Number>& number, JsonWriter* json) {
  number ? json->Number(*number) : json->Null();
}

void WriteLoss(const Loss& loss, JsonWriter* json) {
  json->BeginObject();
  json->Key("file").String(loss.file);
  json->Key("block");
  WriteOptional(loss.block, json);
  json->Key("record");
  WriteOptional(loss.record, json);
  json->Key("records");
  WriteOptional(loss.records, json);
  json->Key("key").String(loss.key);
  json->Key("reason").String(loss.reason);
  json->EndObject();
}

}  // namespace

std::string LossesText(const SalvageReport& report, bool colored) {
  return TextByFile(report.losses, colored, [&](const Loss* first, const Loss* end) {
    return FileText(first, end, colored);
  });
}

std::string SalvageVerdict(const std::string& path, const std::string& out,
                           const SalvageReport& report) {
  std::string text = EscapeControl(out) + ": " + CountOf(report.records, "record") + " in " +
                     CountOf(report.shards, "shard") + ", " + FormatBytes(report.bytes) + " saved";
  if (report.unproven_records > 0) {
    text += ", of which " + std::to_string(report.unproven_records) +
            " may be of another packing of the same inputs";
  }
  text += "; of " + EscapeControl(path) + " ";
  if (report.losses.empty()) return text + "nothing was lost\n";
  if (report.lost_records == 0 && !report.lost_uncounted) {
    return text + "no record was lost, but what stands above\n";
  }
  text += CountOf(report.lost_records, "record") + (report.lost_records == 1 ? " was" : " were") +
          " lost";
  if (report.lost_uncounted) text += ", and others of unknown number";
  return text + "\n";
}

std::string SalvageReportJson(const std::string& path, const std::string& out,
                              const SalvageReport& report) {
  JsonWriter json;
  json.BeginObject();
  json.Key("path").String(path);
  json.Key("output").String(out);
  json.Key("source_dataset_id").String(DigestToHex(report.source_id));
  json.Key("dataset_id").String(DigestToHex(report.dataset_id));
  json.Key("shards").Number(report.shards);
  json.Key("records").Number(report.records);
  json.Key("bytes").Number(report.bytes);
  json.Key("unproven_records").Number(report.unproven_records);
  json.Key("lost_records").Number(report.lost_records);
  json.Key("lost_uncounted").Bool(report.lost_uncounted);
  json.Key("manifest_used").Bool(report.has_manifest);
  json.Key("lost").BeginArray();
  for (const Loss& loss : report.losses) WriteLoss(loss, &json);
  json.EndArray();
  json.Key("remarks").BeginArray();
  for (const std::string& remark : report.remarks) json.String(remark);
  json.EndArray();
  json.EndObject();
  return json.Take();
}

}  // namespace shardmill
