#include "tools/dump/describe.h"

#include <cstdio>

#include "reader/console/terminal.h"

namespace shardmill {
namespace {

template <typename... Arguments>
std::string Format(const char* format, Arguments... arguments) {
  char text[64];
  std::snprintf(text, sizeof text, format, arguments...);
  return text;
}

}  // namespace

std::string DescribeShape(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t side : shape) {
    if (!text.empty()) text += " × ";
    text += side == kVariableDim ? "?" : std::to_string(side);
  }
  return text;
}

std::string DescribeStorage(const FieldSpec& spec) {
  const std::string encoding(LabelEncodingName(spec.encoding));
  const std::string codec(CodecName(spec.codec));
  return encoding.empty() ? codec : encoding + ", " + codec;
}

std::string DescribeShare(uint64_t part, uint64_t whole) {
  if (whole == 0) return "";
  if (part == 0) return "0 %";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent < 0.0001) return "< 0.0001 %";
  return Format("%.*f %%", percent >= 0.01 ? 2 : 4, percent);
}

std::string DescribeNumber(double value, int digits) { return Format("%.*f", digits, value); }

std::string DescribeColor(uint32_t color) { return Format("#%06x", color & 0xffffff); }

std::string DescribeClass(const std::vector<ClassInfo>& classes, int64_t id) {
  if (id < 0 || id >= static_cast<int64_t>(classes.size()) || classes[id].name.empty()) {
    return "class " + std::to_string(id);
  }
  return EscapeControl(classes[id].name);
}

std::string TerminalSwatch(Rgb color, bool colored) {
  if (!colored) return "";
  return Format("\x1b[48;2;%d;%d;%dm  \x1b[0m", color.red, color.green, color.blue);
}

std::string Bold(std::string_view text, bool colored) {
  return colored ? "\x1b[1m" + std::string(text) + "\x1b[0m" : std::string(text);
}

std::string Section(const std::string& title, const std::string& body, bool colored) {
  return "\n" + Bold(title, colored) + "\n" + body;
}

}  // namespace shardmill
