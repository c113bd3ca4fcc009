// Single values of the configuration: as text, as JSON, and whether they are allowed.
//
// Internal to the configuration. Pure functions; safe for concurrent use.
#pragma once

#include <string>

#include "reader/base/status.h"
#include "trainer/config/config_table.h"

namespace google::protobuf {
class Value;
}  // namespace google::protobuf

namespace shardmill {

class JsonWriter;

namespace proto {
class TrainConfig;
}  // namespace proto

// The value as flags and messages write it; its default when it is not set.
std::string ConfigValueText(const proto::TrainConfig& config, const ConfigOption& option);

// InvalidArgument says what kind of value the text had to be.
Status SetConfigValue(const ConfigOption& option, const std::string& text,
                      proto::TrainConfig* config);

// Checks the range, or the choice, of a value that is set.
Status CheckConfigValue(const ConfigOption& option, const proto::TrainConfig& config);

// What a member of a JSON document must be for the option, in words; empty when it is.
std::string ExpectedKind(const ConfigOption& option, const google::protobuf::Value& value);

// The value alone; its key is written already.
void WriteConfigValue(const proto::TrainConfig& config, const ConfigOption& option,
                      JsonWriter* json);

}  // namespace shardmill
