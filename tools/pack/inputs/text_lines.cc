#include "tools/pack/inputs/text_lines.h"

#include "reader/base/file.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxTextBytes = uint64_t{1} << 32;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

std::string_view TrimBlanks(std::string_view text) {
  size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

Result<std::vector<TextLine>> SplitLines(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    const std::string_view mark = text.substr(0, 2);
    const bool is_utf16 = mark == "\xFF\xFE" || mark == "\xFE\xFF";
    return InvalidArgumentError(std::string("this is no text in UTF-8 (it ") +
                                (is_utf16 ? "is UTF-16" : "holds zero bytes") +
                                "); save it as UTF-8");
  }
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    text.remove_prefix(kByteOrderMark.size());
  }
  std::vector<TextLine> lines;
  for (uint64_t number = 1; !text.empty(); ++number) {
    size_t end = text.find_first_of("\r\n");
    std::string_view line = TrimBlanks(text.substr(0, end));
    if (!line.empty()) lines.push_back({number, std::string(line)});
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + (text.substr(end, 2) == "\r\n" ? 2 : 1));
  }
  return lines;
}

Result<std::vector<TextLine>> ReadLines(const std::string& path) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path, kMaxTextBytes));
  Result<std::vector<TextLine>> lines = SplitLines(text);
  if (!lines.ok()) return lines.status().WithContext(path);
  return lines;
}

Result<std::vector<std::string>> SplitFields(std::string_view line, char separator) {
  std::vector<std::string> fields;
  while (true) {
    std::string_view left = TrimBlanks(line);
    std::string field;
    size_t end;
    if (!left.empty() && left[0] == '"') {
      size_t i = 1;
      for (; i < left.size(); ++i) {
        if (left[i] == '"' && left.substr(i + 1, 1) != "\"") break;
        if (left[i] == '"') ++i;
        field += left[i];
      }
      if (i >= left.size()) return InvalidArgumentError("a double quote is not closed");
      end = left.find(separator, i);
      if (!TrimBlanks(left.substr(i + 1, end == std::string_view::npos ? end : end - i - 1))
               .empty()) {
        return InvalidArgumentError("text follows a closing double quote");
      }
    } else {
      end = left.find(separator);
      field = std::string(TrimBlanks(left.substr(0, end)));
    }
    fields.push_back(std::move(field));
    if (end == std::string_view::npos) return fields;
    line = left.substr(end + 1);
  }
}

}  // namespace shardmill
