#include "trainer/logs/jsonl_log.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "reader/base/file.h"
#include "reader/console/json_writer.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxLogBytes = uint64_t{1} << 36;
constexpr char kEvaluation[] = "evaluation";

struct LineFacts {
  double step = 0;  // that it belongs to
  bool is_evaluation = false;
};

// Nullopt when it is no whole line of ours.
std::optional<LineFacts> FactsOfLine(const std::string& line) {
  google::protobuf::Struct object;
  if (!google::protobuf::util::JsonStringToMessage(line, &object).ok()) return std::nullopt;
  const auto step = object.fields().find("step");
  if (step == object.fields().end() || !step->second.has_number_value()) return std::nullopt;
  const auto kind = object.fields().find("kind");
  const bool has_kind = kind != object.fields().end();
  return LineFacts{step->second.number_value(),
                   has_kind && kind->second.string_value() == kEvaluation};
}

// Lines are in the order of their steps; a line that was cut when the program was killed ends
// what can be kept.
std::string KeptLines(const std::string& text, const LogPlace& place) {
  std::string kept;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    const std::optional<LineFacts> facts = FactsOfLine(line);
    const auto last = static_cast<double>(place.step);
    if (!facts || facts->step > last) break;
    if (facts->is_evaluation && facts->step == last && !place.is_behind_evaluation) break;
    kept += line + "\n";
  }
  return kept;
}

void WriteScore(const char* key, const std::optional<double>& score, JsonWriter* json) {
  json->Key(key);
  if (score) {
    json->Number(*score);
  } else {
    json->Null();
  }
}

}  // namespace

Result<JsonlLog> JsonlLog::Open(const std::string& path, LogStart start) {
  ASSIGN_OR_RETURN(const int descriptor, OpenLog(path, start));
  FILE* file = fdopen(descriptor, start == LogStart::kEmpty ? "w" : "a");
  if (file == nullptr) return ErrnoError(path + ": cannot open for writing", errno);
  return JsonlLog(path, file);
}

Result<JsonlLog> JsonlLog::Create(const std::string& path) { return Open(path, LogStart::kEmpty); }

bool JsonlLog::MayReplace(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return true;
  constexpr std::string_view kBegin = "{\"kind\"";
  std::string head(kBegin.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));  // less where a run was killed at once
  return kBegin.substr(0, head.size()) == head;
}

Result<JsonlLog> JsonlLog::Continue(const std::string& path, const LogPlace& place) {
  Result<std::string> text = ReadFile(path, kMaxLogBytes);
  if (!text.ok() && text.status().code() == StatusCode::kNotFound) return Create(path);
  if (!text.ok()) return text.status();
  const std::string kept = KeptLines(*text, place);
  if (kept != *text) {
    ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
    RETURN_IF_ERROR(file.Append(kept.data(), kept.size()));
    RETURN_IF_ERROR(file.Commit());
  }
  return Open(path, LogStart::kAtEnd);
}

Status JsonlLog::WriteStart(uint64_t step, const std::function<void(JsonWriter*)>& add_members) {
  JsonWriter json(JsonStyle::kOneLine);
  json.BeginObject();
  json.Key("kind").String("start");
  json.Key("step").Number(step);
  add_members(&json);
  json.EndObject();
  return WriteLine(json.Take());
}

Status JsonlLog::Write(const StepEvent& event) {
  JsonWriter json(JsonStyle::kOneLine);
  json.BeginObject();
  json.Key("kind").String("step");
  json.Key("step").Number(event.step);
  json.Key("epoch").Number(event.epoch);
  json.Key("loss").Number(event.loss);
  json.Key("lr").Number(event.learning_rate);
  json.Key("grad_norm").Number(event.gradient_norm);
  json.Key("images").Number(event.images);
  json.Key("images_per_s").Number(event.ImagesPerSecond(event.images));
  json.Key("wait_ms").Number(event.wait_ms);
  json.Key("copy_ms").Number(event.copy_ms);
  json.Key("communication_ms").Number(event.communication_ms);
  json.Key("compute_ms").Number(event.compute_ms);
  json.Key("total_ms").Number(event.TotalMs());
  json.Key("waiting_share").Number(event.Share(event.wait_ms));
  json.EndObject();
  return WriteLine(json.Take());
}

Status JsonlLog::Write(const OutlierEvent& event) {
  JsonWriter json(JsonStyle::kOneLine);
  json.BeginObject();
  json.Key("kind").String("outlier");
  json.Key("step").Number(event.step);
  json.Key("epoch").Number(event.epoch);
  json.Key("loss").Number(event.loss);
  json.Key("mean").Number(event.mean);
  json.Key("deviations").Number(event.deviations);
  json.Key("records").BeginArray();
  for (const std::string& record : event.records) json.String(record);
  json.EndArray();
  if (!event.dump.empty()) json.Key("dump").String(event.dump);
  json.EndObject();
  return WriteLine(json.Take());
}

Status JsonlLog::Write(const EvaluationEvent& event, const std::vector<std::string>& classes) {
  JsonWriter json(JsonStyle::kOneLine);
  json.BeginObject();
  json.Key("kind").String(kEvaluation);
  json.Key("step").Number(event.step);
  json.Key("epoch").Number(event.epoch);
  json.Key("split").String(event.split);
  json.Key("records").Number(event.records);
  json.Key("seconds").Number(event.seconds);
  json.Key("loss").Number(event.loss);
  json.Key("best").Bool(event.best);
  WriteScore("pixel_accuracy", event.scores.pixel_accuracy, &json);
  WriteScore("mean_accuracy", event.scores.mean_accuracy, &json);
  WriteScore("miou", event.scores.mean_iou, &json);
  if (event.scores.top_five_accuracy) {
    WriteScore("top5_accuracy", event.scores.top_five_accuracy, &json);
  }
  json.Key("class_iou").BeginArray();
  for (size_t k = 0; k < classes.size(); ++k) {
    json.BeginObject();
    json.Key("class").String(classes[k]);
    WriteScore("iou", event.scores.class_iou[k], &json);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return WriteLine(json.Take());
}

Status JsonlLog::WriteLine(const std::string& line) {
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() ||
      std::fflush(file_.get()) != 0) {
    return ErrnoError(path_ + ": cannot write", errno);
  }
  return OkStatus();
}

}  // namespace shardmill
