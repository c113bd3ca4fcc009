#include "reader/console/help_formatter.h"

#include <string_view>

#include "reader/console/text_table.h"

namespace shardmill {
namespace {

constexpr size_t kColumn = 34;  // where descriptions begin
constexpr size_t kWidth = 100;

// Words of `text` in lines that end before kWidth, from kColumn on.
std::string Wrap(std::string_view text) {
  std::string lines;
  size_t used = kColumn;
  while (!text.empty()) {
    const size_t blank = text.find(' ');
    const std::string word(text.substr(0, blank));
    const size_t width = DisplayWidth(word);
    if (used > kColumn && used + 1 + width > kWidth) {
      lines += "\n" + std::string(kColumn, ' ');
      used = kColumn;
    }
    if (used > kColumn) {
      lines += " ";
      ++used;
    }
    lines += word;
    used += width;
    text = blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
  }
  return lines;
}

std::string Entry(const std::string& left, const std::string& description) {
  std::string entry = "  " + left;
  const size_t width = DisplayWidth(entry);
  if (description.empty()) return entry + "\n";
  entry += width < kColumn ? std::string(kColumn - width, ' ') : "\n" + std::string(kColumn, ' ');
  return entry + Wrap(description) + "\n";
}

}  // namespace

HelpFormatter::HelpFormatter() { column_width(kColumn); }

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string left = make_option_name(option, is_positional);
  // The library shows what a negated flag sets, which its name says already.
  if (const size_t at = left.find("{false}"); at != std::string::npos) left.erase(at, 7);
  const bool takes_value = option->get_type_size() != 0;
  if (takes_value && !is_positional && !option->get_type_name().empty()) {
    left += " " + option->get_type_name();
  }
  if (option->get_expected_max() == CLI::detail::expected_max_vector_size) left += " ...";
  std::string description = option->get_description();
  if (option->get_required() && !is_positional) description += " (required)";
  if (takes_value && !option->get_default_str().empty()) {
    description += " (default: " + option->get_default_str() + ")";
  }
  return Entry(left, description);
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return Entry(command->get_name(), command->get_description());
}

}  // namespace shardmill
