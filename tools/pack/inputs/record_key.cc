#include "tools/pack/inputs/record_key.h"

#include <cstdint>
#include <cstdio>

#include "reader/console/terminal.h"
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

// Where the path ends in what looks like the number of a variant, "#v12"; else its end.
size_t VariantSuffix(std::string_view path) {
  size_t digits = path.size();
  while (digits > 0 && path[digits - 1] >= '0' && path[digits - 1] <= '9') --digits;
  const bool is_suffix =
      digits < path.size() && digits >= 2 && path[digits - 1] == 'v' && path[digits - 2] == '#';
  return is_suffix ? digits - 2 : path.size();
}

}  // namespace

Result<std::string> RecordKey(std::string_view relative_path) {
  const size_t suffix = VariantSuffix(relative_path);
  const bool has_special =
      suffix < relative_path.size() || relative_path.find('%') != std::string_view::npos;
  // Nearly every path is its own key.
  const bool is_key = IsRecordKey(relative_path) && !HoldsControl(relative_path);
  if (!has_special && is_key) return std::string(relative_path);
  std::string key;
  key.reserve(relative_path.size());
  for (std::string_view left = relative_path; !left.empty();) {
    const bool is_special = left[0] == '%' || relative_path.size() - left.size() == suffix;
    size_t bytes = CharacterBytes(left);
    std::string_view character = left.substr(0, bytes == 0 ? 1 : bytes);
    if (!is_special && bytes > 0 && !HoldsControl(character)) {
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
