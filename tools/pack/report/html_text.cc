#include "tools/pack/report/html_text.h"

#include <algorithm>
#include <cstdio>

#include "reader/console/terminal.h"

namespace shardmill {

std::string EscapeHtml(std::string_view text) {
  std::string html;
  for (char c : EscapeControl(text)) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string LongName(std::string_view name) {
  std::string html = "<code class=\"name\">";
  for (char c : EscapeHtml(name)) {  // whose entities hold none of these
    html += c;
    if (c == '/' || c == '_' || c == '-') html += "<wbr>";
  }
  return html + "</code>";
}

std::string Base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? static_cast<uint8_t>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += k <= count ? kDigits[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

std::string InlinePicture(const InlineFile& file, const std::string& css_class,
                          std::string_view alt) {
  return "<img class=\"" + css_class + "\" alt=\"" + EscapeHtml(alt) + "\" src=\"data:image/" +
         std::string(file.type) + ";base64," + Base64(file.bytes) + "\">";
}

std::string Bar(double share, uint32_t color) {
  char text[120];
  std::snprintf(text, sizeof text,
                "<div class=\"bar\"><i style=\"width:%.2f%%;background:#%06x\"></i></div>",
                100 * std::clamp(share, 0.0, 1.0), color & 0xffffffu);
  return text;
}

std::string TableRow(std::initializer_list<std::string> cells, std::string_view tag) {
  std::string row = "<tr>";
  for (const std::string& cell : cells) {
    row.append("<").append(tag).append(">").append(cell).append("</").append(tag).append(">");
  }
  return row + "</tr>\n";
}

}  // namespace shardmill
