// Protobuf messages to bytes that depend on the content alone.
#pragma once

#include <string>

namespace google::protobuf {
class MessageLite;
}  // namespace google::protobuf

namespace shardmill {

// The canonical binary form: fields in order of number, deterministic. Messages on disk have no
// map fields, so equal messages give equal bytes.
std::string SerializeDeterministic(const google::protobuf::MessageLite& message);

}  // namespace shardmill
