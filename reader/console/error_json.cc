#include "reader/console/error_json.h"

#include "reader/console/json_writer.h"

namespace shardmill {

std::string ErrorJson(const std::string& path, const Status& status) {
  JsonWriter json;
  json.BeginObject();
  json.Key("path").String(path);
  json.Key("status").String(std::string(StatusCodeName(status.code())));
  json.Key("exit_code").Number(static_cast<uint64_t>(ExitCode(status)));
  json.Key("error").String(status.message());
  json.EndObject();
  return json.Take();
}

}  // namespace shardmill
