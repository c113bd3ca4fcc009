#include "tools/pack/record_key.h"

#include <cstdint>
#include <cstdio>

#include "reader/names.h"

namespace shardmill {
namespace {

// The bytes of the first character, or 0 when the text does not begin with one.
size_t CharacterBytes(std::string_view text) {
  for (size_t bytes = 1; bytes <= 4 && bytes <= text.size(); ++bytes) {
    if (IsValidUtf8(text.substr(0, bytes))) return bytes;
  }
  return 0;
}

}  // namespace

Result<std::string> RecordKey(std::string_view relative_path) {
  std::string key;
  key.reserve(relative_path.size());
  for (std::string_view left = relative_path; !left.empty();) {
    size_t bytes = CharacterBytes(left);
    std::string_view character = left.substr(0, bytes == 0 ? 1 : bytes);
    if (bytes > 0 && IsRecordKey(character)) {
      key += character;
    } else {
      for (char c : character) {
        char escaped[4];
        std::snprintf(escaped, sizeof escaped, "%%%02X", static_cast<uint8_t>(c));
        key += escaped;
      }
    }
    left.remove_prefix(character.size());
  }
  if (!IsRecordKey(key)) {
    return InvalidArgumentError("the path '" + key.substr(0, 80) + "…' has " +
                                std::to_string(key.size()) + " bytes; at most " +
                                std::to_string(kMaxKeyBytes) + " fit into a record key");
  }
  return key;
}

}  // namespace shardmill
