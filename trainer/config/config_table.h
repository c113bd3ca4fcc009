// The option table of a training run: every field of proto::TrainConfig once, with the name, help
// and range that flags, keys of the --config file and messages are made of.
//
// Internal to the configuration. Pure data; safe for concurrent use.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace google::protobuf {
class FieldDescriptor;
}  // namespace google::protobuf

namespace shardmill {

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// Numbers must lie in [least, most]; texts must be one of `choices` where it has any.
struct ConfigOption {
  const char* field;
  const char* group;
  const char* value_name;
  const char* help;
  double least = 0;
  double most = kNoLimit;
  std::vector<std::string> choices = {};
};

// In the order of the help; those of a group stand together.
const std::vector<ConfigOption>& ConfigTable();

const google::protobuf::FieldDescriptor* FieldOf(const ConfigOption& option);

}  // namespace shardmill
