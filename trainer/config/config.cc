#include "trainer/config/config.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "proto/train_config.pb.h"
#include "reader/base/text_file.h"
#include "reader/console/command_line.h"
#include "reader/console/json_writer.h"
#include "trainer/config/config_table.h"
#include "trainer/config/config_value.h"

namespace shardmill {
namespace {

using google::protobuf::FieldDescriptor;

constexpr uint64_t kMaxConfigFileBytes = 1 << 20;
constexpr size_t kLineWidth = 78;    // with its indentation, a terminal of 80 columns holds it
constexpr size_t kGroupColumn = 12;  // as wide as the longest name of a group

std::string FlagName(const ConfigOption& option) {
  std::string name = option.field;
  for (char& c : name) {
    if (c == '_') c = '-';
  }
  return "--" + name;
}

// Names and kinds; the values are checked once they are in the message.
Status CheckMembers(const google::protobuf::Struct& document) {
  std::vector<std::string> known;
  for (const ConfigOption& option : ConfigTable()) known.push_back(option.field);
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
    const std::string expected = ExpectedKind(ConfigTable()[place - known.begin()], value);
    if (!expected.empty()) return InvalidArgumentError("key '" + key + "' must be " + expected);
    if (!seen.insert(field).second) return InvalidArgumentError("key '" + field + "' occurs twice");
  }
  return OkStatus();
}

void AddOption(const ConfigOption& option, CLI::App* app,
               std::map<std::string, std::string>* values) {
  const std::string field = option.field;
  const auto keep = [values, field](const std::string& text) { (*values)[field] = text; };
  if (FieldOf(option)->cpp_type() == FieldDescriptor::CPPTYPE_BOOL) {
    const std::string name = FlagName(option);
    app->add_flag_function(
           name + ",!--no-" + name.substr(2),
           [keep](int64_t count) { keep(count > 0 ? "true" : "false"); }, option.help)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->group(option.group);
    return;
  }
  const bool is_dataset = field == "dataset";
  const std::string name = is_dataset ? "DATASET" : FlagName(option);
  CLI::Option* flag = app->add_option_function<std::string>(name, keep, option.help);
  flag->group(option.group);
  flag->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  if (is_dataset) {
    flag->type_name("");
    return;
  }
  flag->type_name(option.value_name);
  flag->default_str(ConfigValueText(proto::TrainConfig(), option));
}

// Whether the document says "batch": "auto", which then becomes a number. Text in quotes that a
// colon follows is a key.
bool TakeAutoBatch(std::string* text) {
  constexpr std::string_view kKey = "\"batch\"", kAuto = "\"auto\"", kSpace = " \t\r\n";
  for (size_t at = 0; (at = text->find(kKey, at)) != std::string::npos;) {
    at += kKey.size();
    const size_t colon = text->find_first_not_of(kSpace, at);
    if (colon == std::string::npos || (*text)[colon] != ':') continue;
    const size_t value = text->find_first_not_of(kSpace, colon + 1);
    if (value == std::string::npos || text->compare(value, kAuto.size(), kAuto) != 0) continue;
    text->replace(value, kAuto.size(), "1");
    return true;
  }
  return false;
}

}  // namespace

void ConfigFlags::AddTo(CLI::App* app) {
  for (const ConfigOption& option : ConfigTable()) AddOption(option, app, &values_);
  app->add_option("--config", config_file_, "JSON file with the same options as keys; flags win")
      ->type_name("FILE")
      ->group("Run");
}

Result<proto::TrainConfig> ConfigFlags::Given() {
  proto::TrainConfig given;
  batch_is_auto_ = false;
  if (!config_file_.empty()) {
    ASSIGN_OR_RETURN(std::string text, ReadTextFile(config_file_, kMaxConfigFileBytes));
    batch_is_auto_ = TakeAutoBatch(&text);
    ASSIGN_OR_RETURN(given, ParseConfigJson(text, config_file_));
    if (batch_is_auto_) given.clear_batch();
  }
  for (const ConfigOption& option : ConfigTable()) {
    const auto value = values_.find(option.field);
    if (value == values_.end()) continue;
    if (option.field == std::string("batch")) {
      batch_is_auto_ = value->second == "auto";
      given.clear_batch();
      if (batch_is_auto_) continue;
    }
    const std::string name = FieldOf(option)->name() == "dataset" ? "DATASET" : FlagName(option);
    RETURN_IF_ERROR(SetConfigValue(option, value->second, &given).WithContext(name));
    RETURN_IF_ERROR(CheckConfigValue(option, given).WithContext(name));
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
  for (const ConfigOption& option : ConfigTable()) {
    if (!config.GetReflection()->HasField(config, FieldOf(option))) continue;
    RETURN_IF_ERROR(
        CheckConfigValue(option, config).WithContext(source + ": key '" + option.field + "'"));
  }
  return config;
}

proto::TrainConfig CompleteConfig(const proto::TrainConfig& base, const proto::TrainConfig& given) {
  proto::TrainConfig config = base;
  config.MergeFrom(given);
  for (const ConfigOption& option : ConfigTable()) {
    if (config.GetReflection()->HasField(config, FieldOf(option))) continue;
    // The default's own text gives the same value back.
    const Status status = SetConfigValue(option, ConfigValueText(config, option), &config);
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
  for (const ConfigOption& option : ConfigTable()) {
    json->Key(option.field);
    WriteConfigValue(config, option, json);
  }
  json->EndObject();
}

std::vector<std::string> ConfigLines(const proto::TrainConfig& config) {
  std::vector<std::string> lines;
  std::string group;
  for (const ConfigOption& option : ConfigTable()) {
    const std::string item =
        " " + std::string(option.field) + "=" + ConfigValueText(config, option);
    const bool starts = group != option.group;
    group = option.group;
    if (starts || lines.back().size() + item.size() > kLineWidth) {
      const std::string left = starts ? group : "";
      lines.push_back(left + std::string(kGroupColumn - left.size(), ' '));
    }
    lines.back() += item;
  }
  return lines;
}

std::vector<std::pair<std::string, std::string>> ConfigTexts(const proto::TrainConfig& config) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const ConfigOption& option : ConfigTable()) {
    texts.emplace_back(FlagName(option), ConfigValueText(config, option));
  }
  return texts;
}

std::vector<std::string> ConfigDifferences(const proto::TrainConfig& before,
                                           const proto::TrainConfig& after) {
  std::vector<std::string> differences;
  for (const ConfigOption& option : ConfigTable()) {
    const std::string old_text = ConfigValueText(before, option);
    const std::string new_text = ConfigValueText(after, option);
    if (old_text == new_text) continue;
    differences.push_back(std::string(option.field) + ": " + old_text + " → " + new_text);
  }
  return differences;
}

}  // namespace shardmill
