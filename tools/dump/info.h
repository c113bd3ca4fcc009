// `shardmill dump info`: what a data set or shard is, from its manifest alone.
//
// Pure functions; safe for concurrent use.
#pragma once

#include <string>

#include "reader/base/status.h"

namespace shardmill {

namespace proto {
class Manifest;
}  // namespace proto

// For people; `name` heads it (see SetName). DataLoss when the manifest's schema breaks a rule.
Result<std::string> InfoText(const std::string& name, const proto::Manifest& manifest,
                             bool colored);
// One JSON object.
Result<std::string> InfoJson(const std::string& name, const proto::Manifest& manifest);

}  // namespace shardmill
