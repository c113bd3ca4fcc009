#include "trainer/config/config_value.h"

#include <google/protobuf/struct.pb.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "proto/train_config.pb.h"
#include "reader/console/command_line.h"
#include "reader/console/json_writer.h"

namespace shardmill {
namespace {

using google::protobuf::FieldDescriptor;

// The shortest text that gives the value back, without an exponent where that is common.
std::string NumberText(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", value);
  if (std::strtod(text, nullptr) == value) return text;
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return std::string(text, end);
}

template <typename T>
std::optional<T> ParseWhole(const std::string& text) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

Status CheckNumber(const ConfigOption& option, double value) {
  if (std::isfinite(value) && value >= option.least && value <= option.most) return OkStatus();
  if (option.most == kNoLimit) {
    return InvalidArgumentError(NumberText(value) + " must be finite and at least " +
                                NumberText(option.least));
  }
  return InvalidArgumentError(NumberText(value) + " is not between " + NumberText(option.least) +
                              " and " + NumberText(option.most));
}

Status CheckText(const ConfigOption& option, const std::string& value) {
  if (value.empty()) return InvalidArgumentError("may not be empty");
  if (option.choices.empty()) return OkStatus();
  std::string known;
  for (const std::string& choice : option.choices) {
    if (choice == value) return OkStatus();
    known += (known.empty() ? "" : ", ") + choice;
  }
  const std::string nearest = NearestName(value, option.choices);
  return InvalidArgumentError("'" + value + "' is not one of " + known +
                              (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
}

}  // namespace

std::string ConfigValueText(const proto::TrainConfig& config, const ConfigOption& option) {
  const FieldDescriptor* field = FieldOf(option);
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

Status SetConfigValue(const ConfigOption& option, const std::string& text,
                      proto::TrainConfig* config) {
  const FieldDescriptor* field = FieldOf(option);
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

Status CheckConfigValue(const ConfigOption& option, const proto::TrainConfig& config) {
  const FieldDescriptor* field = FieldOf(option);
  const google::protobuf::Reflection* reflection = config.GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return CheckText(option, reflection->GetString(config, field));
    case FieldDescriptor::CPPTYPE_INT32:
      return CheckNumber(option, reflection->GetInt32(config, field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return CheckNumber(option, reflection->GetDouble(config, field));
    default:
      return OkStatus();
  }
}

std::string ExpectedKind(const ConfigOption& option, const google::protobuf::Value& value) {
  const bool is_number = value.has_number_value();
  switch (FieldOf(option)->cpp_type()) {
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

void WriteConfigValue(const proto::TrainConfig& config, const ConfigOption& option,
                      JsonWriter* json) {
  const FieldDescriptor* field = FieldOf(option);
  const google::protobuf::Reflection* reflection = config.GetReflection();
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

}  // namespace shardmill
