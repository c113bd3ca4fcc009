#include "reader/base/text_file.h"

#include <string_view>

#include "reader/base/file.h"

namespace shardmill {

Result<std::string> ReadTextFile(const std::string& path, uint64_t max_bytes) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  ASSIGN_OR_RETURN(std::string text, ReadFile(path, max_bytes));
  if (text.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0) {
    text.erase(0, kByteOrderMark.size());
  }
  return text;
}

}  // namespace shardmill
