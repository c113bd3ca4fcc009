#include "trainer/config.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "proto/train_config.pb.h"
#include "reader/base/file.h"
#include "reader/console/command_line.h"
#include "reader/console/json_writer.h"

namespace shardmill {
namespace {

using google::protobuf::FieldDescriptor;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr uint64_t kMaxConfigFileBytes = 1 << 20;
constexpr size_t kGroupColumn = 12;  // as wide as the longest name of a group

// One option. Numbers must lie in [least, most]; texts must be one of `choices` where it has any.
struct Row {
  const char* field;
  const char* group;
  const char* value_name;
  const char* help;
  double least = 0;
  double most = kNoLimit;
  std::vector<std::string> choices = {};
};

const std::vector<Row>& Table() {
  static const auto* const rows = new std::vector<Row>{
      {"dataset", "Data", "DATASET", "Folder of packed shards"},
      {"train_split", "Data", "NAME", "Split to train on"},
      {"val_split", "Data", "NAME", "Split to evaluate on"},

      {"model", "Model", "NAME|FILE",
       "Class maps: unet, encoder_decoder, enet, fc_densenet56; class ids: classifier, resnet18; "
       "sequences: tdnn; or a file as 'shardmill-train model NAME' prints"},
      {"width", "Model", "N", "Channels of the first stage; 0: as the model was published", 0,
       4096},
      {"depth", "Model", "N",
       "unet, classifier: stages; images must be at least 2^depth high and wide; 0: 4", 0, 8},

      {"epochs", "Optimisation", "N", "Passes over the train split", 1, 1e6},
      {"batch", "Optimisation", "N", "Records per step, of all ranks together", 1, 65536},
      {"optimizer",
       "Optimisation",
       "NAME",
       "sgd, adam, adamw or rmsprop",
       0,
       0,
       {"sgd", "adam", "adamw", "rmsprop"}},
      {"lr", "Optimisation", "RATE", "Learning rate at its highest", 0, 1e6},
      {"weight_decay", "Optimisation", "X", "Of convolution weights only", 0, 1e6},
      {"momentum", "Optimisation", "X", "sgd: momentum", 0, 1},
      {"nesterov", "Optimisation", "", "sgd: Nesterov's method"},
      {"beta1", "Optimisation", "X", "adam, adamw: decay of the first moment", 0, 1},
      {"beta2", "Optimisation", "X", "adam, adamw: decay of the second moment", 0, 1},
      {"rms_decay", "Optimisation", "X", "rmsprop: decay of the mean square", 0, 1},
      {"clip_norm", "Optimisation", "X", "Longest gradient (of all weights); 0: any", 0, kNoLimit},
      {"accumulate", "Optimisation", "N",
       "Computes a step's batch in N parts, one after the other, to save memory", 1, 65536},
      {"ema", "Optimisation", "X",
       "Evaluates a moving average of the weights with this decay, such as 0.999; 0: none", 0, 1},

      {"cross_entropy", "Loss", "X", "Factor of the cross-entropy", 0, 1e6},
      {"dice", "Loss", "X", "Factor of the Dice loss per image", 0, 1e6},
      {"class_weights", "Loss", "RULE", "none, median, enet, or a file of CLASS,WEIGHT lines"},
      {"label_smoothing", "Loss", "X", "Part of each label that is spread over all classes", 0, 1},
      {"ohem", "Loss", "P", "Counts only pixels whose class has a probability below P; 0: all", 0,
       1},
      {"ohem_share", "Loss", "X", "ohem: but at least this part of a batch's pixels", 0, 1},

      {"schedule",
       "Schedule",
       "NAME",
       "constant, poly, step or cosine",
       0,
       0,
       {"constant", "poly", "step", "cosine"}},
      {"warmup_steps", "Schedule", "N", "Linear rise at the start", 0, 1e9},
      {"poly_power", "Schedule", "X", "poly: the power", 0, 100},
      {"step_epochs", "Schedule", "N", "step: epochs between drops", 1, 1e6},
      {"step_factor", "Schedule", "X", "step: factor of a drop", 0, 1},
      {"final_lr", "Schedule", "RATE", "poly, cosine: rate at the end", 0, 1e6},

      {"output", "Run", "DIR", "Folder for checkpoints and log.jsonl"},
      {"device", "Run", "NAME", "auto, cpu or cuda", 0, 0, {"auto", "cpu", "cuda"}},
      {"threads", "Run", "N", "Compute threads; 0: one per CPU this process may use", 0, 1024},
      {"seed", "Run", "N", "Of the initial weights and of the order of records"},
      {"eval_every", "Run", "N", "Evaluate after every N epochs and the last; 0: never", 0, 1e6},
      {"keep_epochs", "Run", "N", "Also keeps the checkpoints of the last N epochs", 0, 1e6},
      {"limit_steps", "Run", "N", "Stop after N steps of the whole run; 0: no limit"},

      {"deterministic", "Ranks", "", "The same bits on any number of ranks and threads"},
      {"micro_shards", "Ranks", "N", "deterministic: parts of a batch; ranks must divide it", 1,
       4096},
      {"rank_timeout", "Ranks", "SECONDS", "How long to wait for a rank; 0: for ever", 0, 1e6},
      {"compare_every", "Ranks", "N", "Compare the ranks' weights every N steps; 0: never", 0, 1e9},
  };
  return *rows;
}

const FieldDescriptor* FieldOf(const Row& row) {
  const FieldDescriptor* field = proto::TrainConfig::descriptor()->FindFieldByName(row.field);
  SHARDMILL_CHECK(field != nullptr);
  return field;
}

std::string FlagName(const Row& row) {
  std::string name = row.field;
  for (char& c : name) {
    if (c == '_') c = '-';
  }
  return "--" + name;
}

// The shortest text that gives the value back, without an exponent where that is common.
std::string NumberText(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  if (std::strtod(text, nullptr) == value) return text;
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return std::string(text, end);
}

// The value of a field as flags and messages write it; its default when it is not set.
std::string ValueText(const proto::TrainConfig& config, const FieldDescriptor* field) {
  const google::protobuf::Reflection* reflection = config.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection->GetString(config, field);
    case FieldDescriptor::CPPTYPE_INT32:
      return std::to_string(reflection->GetInt32(config, field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return std::to_string(reflection->GetUInt64(config, field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return NumberText(reflection->GetDouble(config, field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection->GetBool(config, field) ? "true" : "false";
    default:
      SHARDMILL_CHECK(false);
      return "";
  }
}

template <typename T>
std::optional<T> ParseWhole(const std::string& text) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

Status SetFromText(const FieldDescriptor* field, const std::string& text,
                   proto::TrainConfig* config) {
  const google::protobuf::Reflection* reflection = config->GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      reflection->SetString(config, field, text);
      return OkStatus();
    case FieldDescriptor::CPPTYPE_BOOL:
      reflection->SetBool(config, field, text == "true");
      return OkStatus();
    case FieldDescriptor::CPPTYPE_INT32:
      if (const auto value = ParseWhole<int32_t>(text)) {
        reflection->SetInt32(config, field, *value);
        return OkStatus();
      }
      return InvalidArgumentError("'" + text + "' is not a whole number");
    case FieldDescriptor::CPPTYPE_UINT64:
      if (const auto value = ParseWhole<uint64_t>(text)) {
        reflection->SetUInt64(config, field, *value);
        return OkStatus();
      }
      return InvalidArgumentError("'" + text + "' is not a whole number of 0 or more");
    default: {
      char* end = nullptr;
      const double value = std::strtod(text.c_str(), &end);
      if (text.empty() || *end != '\0') {
        return InvalidArgumentError("'" + text + "' is not a number");
      }
      reflection->SetDouble(config, field, value);
      return OkStatus();
    }
  }
}

Status CheckNumber(const Row& row, double value) {
  if (std::isfinite(value) && value >= row.least && value <= row.most) return OkStatus();
  if (row.most == kNoLimit) {
    return InvalidArgumentError(NumberText(value) + " must be finite and at least " +
                                NumberText(row.least));
  }
  return InvalidArgumentError(NumberText(value) + " is not between " + NumberText(row.least) +
                              " and " + NumberText(row.most));
}

Status CheckText(const Row& row, const std::string& value) {
  if (value.empty()) return InvalidArgumentError("may not be empty");
  if (row.choices.empty()) return OkStatus();
  std::string known;
  for (const std::string& choice : row.choices) {
    if (choice == value) return OkStatus();
    known += (known.empty() ? "" : ", ") + choice;
  }
  const std::string nearest = NearestName(value, row.choices);
  return InvalidArgumentError("'" + value + "' is not one of " + known +
                              (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
}

// Checks one field that is set.
Status CheckField(const Row& row, const proto::TrainConfig& config) {
  const FieldDescriptor* field = FieldOf(row);
  const google::protobuf::Reflection* reflection = config.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return CheckText(row, reflection->GetString(config, field));
    case FieldDescriptor::CPPTYPE_INT32:
      return CheckNumber(row, reflection->GetInt32(config, field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return CheckNumber(row, reflection->GetDouble(config, field));
    default:
      return OkStatus();
  }
}

// What a member of the document must be for its field, in words; empty when it is.
std::string ExpectedKind(const FieldDescriptor* field, const google::protobuf::Value& value) {
  const bool is_number = value.has_number_value();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return value.has_string_value() ? "" : "a text in quotes";
    case FieldDescriptor::CPPTYPE_BOOL:
      return value.has_bool_value() ? "" : "true or false";
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return is_number ? "" : "a number";
    default:
      return is_number && std::floor(value.number_value()) == value.number_value()
                 ? ""
                 : "a whole number";
  }
}

// Names and kinds; the values are checked once they are in the message.
Status CheckMembers(const google::protobuf::Struct& document) {
  std::vector<std::string> known;
  for (const Row& row : Table()) known.push_back(row.field);
  std::set<std::string> seen;
  for (const auto& [key, value] : document.fields()) {
    std::string field = key;
    std::replace(field.begin(), field.end(), '-', '_');  // keys may be written like flags
    const auto place = std::find(known.begin(), known.end(), field);
    if (place == known.end()) {
      const std::string nearest = NearestName(field, known);
      return InvalidArgumentError("unknown key '" + key + "'" +
                                  (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
    }
    const std::string expected = ExpectedKind(FieldOf(Table()[place - known.begin()]), value);
    if (!expected.empty()) return InvalidArgumentError("key '" + key + "' must be " + expected);
    if (!seen.insert(field).second) return InvalidArgumentError("key '" + field + "' occurs twice");
  }
  return OkStatus();
}

void AddRow(const Row& row, CLI::App* app, std::map<std::string, std::string>* values) {
  const std::string field = row.field;
  const auto keep = [values, field](const std::string& text) { (*values)[field] = text; };
  if (FieldOf(row)->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
    const std::string name = FlagName(row);
    app->add_flag_function(
           name + ",!--no-" + name.substr(2),
           [keep](int64_t count) { keep(count > 0 ? "true" : "false"); }, row.help)
        ->group(row.group);
    return;
  }
  const bool is_dataset = field == "dataset";
  const std::string name = is_dataset ? "DATASET" : FlagName(row);
  CLI::Option* option = app->add_option_function<std::string>(name, keep, row.help);
  option->group(row.group);
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  if (is_dataset) {
    option->type_name("");
    return;
  }
  option->type_name(row.value_name);
  option->default_str(ValueText(proto::TrainConfig(), FieldOf(row)));
}

}  // namespace

void ConfigFlags::AddTo(CLI::App* app) {
  for (const Row& row : Table()) AddRow(row, app, &values_);
  app->add_option("--config", config_file_, "JSON file with the same options as keys; flags win")
      ->type_name("FILE")
      ->group("Run");
}

Result<proto::TrainConfig> ConfigFlags::Given() const {
  proto::TrainConfig given;
  if (!config_file_.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(config_file_, kMaxConfigFileBytes));
    ASSIGN_OR_RETURN(given, ParseConfigJson(text, config_file_));
  }
  for (const Row& row : Table()) {
    const auto value = values_.find(row.field);
    if (value == values_.end()) continue;
    const std::string name = FieldOf(row)->name() == "dataset" ? "DATASET" : FlagName(row);
    RETURN_IF_ERROR(SetFromText(FieldOf(row), value->second, &given).WithContext(name));
    RETURN_IF_ERROR(CheckField(row, given).WithContext(name));
  }
  return given;
}

Result<proto::TrainConfig> ParseConfigJson(const std::string& text, const std::string& source) {
  google::protobuf::Struct document;
  auto parsed = google::protobuf::util::JsonStringToMessage(text, &document);
  if (!parsed.ok()) {
    return InvalidArgumentError(source + ": not a JSON object: " + parsed.message().ToString());
  }
  RETURN_IF_ERROR(CheckMembers(document).WithContext(source));
  proto::TrainConfig config;
  parsed = google::protobuf::util::JsonStringToMessage(text, &config);
  if (!parsed.ok()) return InvalidArgumentError(source + ": " + parsed.message().ToString());
  for (const Row& row : Table()) {
    if (!config.GetReflection()->HasField(config, FieldOf(row))) continue;
    RETURN_IF_ERROR(CheckField(row, config).WithContext(source + ": key '" + row.field + "'"));
  }
  return config;
}

proto::TrainConfig CompleteConfig(const proto::TrainConfig& base, const proto::TrainConfig& given) {
  proto::TrainConfig config = base;
  config.MergeFrom(given);
  for (const Row& row : Table()) {
    const FieldDescriptor* field = FieldOf(row);
    if (config.GetReflection()->HasField(config, field)) continue;
    // The default's own text gives the same value back.
    const Status status = SetFromText(field, ValueText(config, field), &config);
    SHARDMILL_CHECK(status.ok());
  }
  return config;
}

std::string ConfigToJson(const proto::TrainConfig& config) {
  JsonWriter json;
  WriteConfig(config, &json);
  return json.Take();
}

void WriteConfig(const proto::TrainConfig& config, JsonWriter* json) {
  json->BeginObject();
  for (const Row& row : Table()) {
    const FieldDescriptor* field = FieldOf(row);
    const google::protobuf::Reflection* reflection = config.GetReflection();
    json->Key(row.field);
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        json->String(reflection->GetString(config, field));
        break;
      case FieldDescriptor::CPPTYPE_INT32:
        json->Number(reflection->GetInt32(config, field));
        break;
      case FieldDescriptor::CPPTYPE_UINT64:
        json->Number(uint64_t{reflection->GetUInt64(config, field)});
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        json->Bool(reflection->GetBool(config, field));
        break;
      default:
        json->Number(reflection->GetDouble(config, field));
    }
  }
  json->EndObject();
}

std::vector<std::string> ConfigLines(const proto::TrainConfig& config) {
  std::vector<std::string> lines;
  std::string group;
  for (const Row& row : Table()) {
    if (group != row.group) {
      group = row.group;
      lines.push_back(group + std::string(kGroupColumn - group.size(), ' '));
    }
    lines.back() += " " + std::string(row.field) + "=" + ValueText(config, FieldOf(row));
  }
  return lines;
}

std::vector<std::string> ConfigDifferences(const proto::TrainConfig& before,
                                           const proto::TrainConfig& after) {
  std::vector<std::string> differences;
  for (const Row& row : Table()) {
    const std::string old_text = ValueText(before, FieldOf(row));
    const std::string new_text = ValueText(after, FieldOf(row));
    if (old_text == new_text) continue;
    differences.push_back(std::string(row.field) + ": " + old_text + " → " + new_text);
  }
  return differences;
}

}  // namespace shardmill
