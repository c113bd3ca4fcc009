// The configuration of a run: flags, a JSON file, the checkpoint that is resumed, defaults.
//
// proto::TrainConfig holds the values. What was given wins in this order: flag, --config file,
// checkpoint, default. One table in config_table.cc makes parser, help and checks for flags and
// keys.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reader/base/status.h"

namespace CLI {
class App;
}  // namespace CLI

namespace shardmill {

class JsonWriter;

namespace proto {
class TrainConfig;
}  // namespace proto

// The configuration options of a command line. Immovable: the parser keeps its address.
class ConfigFlags {
 public:
  ConfigFlags() = default;
  ConfigFlags(const ConfigFlags&) = delete;
  ConfigFlags& operator=(const ConfigFlags&) = delete;

  // Adds DATASET, a flag per field and --config to `app`.
  void AddTo(CLI::App* app);

  // What was given by flags and by the --config file, and nothing else: only those fields are
  // set. InvalidArgument names the flag, or the file and the key, and suggests a known key.
  Result<proto::TrainConfig> Given();

  // Once Given was called. The batch is "auto": none is given, the program finds one.
  bool BatchIsAuto() const { return batch_is_auto_; }

  const std::string& config_file() const { return config_file_; }  // empty: none

 private:
  std::string config_file_;
  std::map<std::string, std::string> values_;  // field → text of the flag
  bool batch_is_auto_ = false;
};

// The fields that a JSON document sets, checked like flags. `source` names it in errors.
Result<proto::TrainConfig> ParseConfigJson(const std::string& text, const std::string& source);

// `given` over `base`, every field set. Pass an empty base when nothing is resumed.
proto::TrainConfig CompleteConfig(const proto::TrainConfig& base, const proto::TrainConfig& given);

// One JSON object with a line per field, in the order of the table; and the same as the next
// value of a document.
std::string ConfigToJson(const proto::TrainConfig& config);
void WriteConfig(const proto::TrainConfig& config, JsonWriter* json);

// For people: each group of options from a new line on, "Model        model=unet width=8 depth=4".
std::vector<std::string> ConfigLines(const proto::TrainConfig& config);

// Flag and value of each field, "--batch" and "8".
std::vector<std::pair<std::string, std::string>> ConfigTexts(const proto::TrainConfig& config);

// "batch: 8 → 4" for each field that differs; both complete.
std::vector<std::string> ConfigDifferences(const proto::TrainConfig& before,
                                           const proto::TrainConfig& after);

}  // namespace shardmill
