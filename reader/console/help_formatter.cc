#include "reader/console/help_formatter.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "reader/console/text_table.h"

namespace shardmill {
namespace {

constexpr size_t kColumn = 34;  // where descriptions begin
constexpr size_t kWidth = 100;  // where help goes to no terminal, or to a wide one
constexpr size_t kLeastWidth = 60;

size_t Width() {
  winsize window = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) return kWidth;
  return std::clamp<size_t>(window.ws_col, kLeastWidth, kWidth);
}

// Words of `text`, which begins in column `used`, in lines of Width() that go on in `column`.
std::string Wrap(std::string_view text, size_t used, size_t column) {
  const size_t width = Width();
  std::string lines;
  bool begins = true;
  while (!text.empty()) {
    const size_t blank = text.find(' ');
    const std::string word(text.substr(0, blank));
    const size_t columns = DisplayWidth(word);
    if (!begins && used + 1 + columns > width) {
      lines += "\n" + std::string(column, ' ');
      used = column;
      begins = true;
    }
    if (!begins) {
      lines += " ";
      ++used;
    }
    begins = false;
    lines += word;
    used += columns;
    text = blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
  }
  return lines;
}

std::string Entry(const std::string& left, const std::string& description) {
  std::string entry = "  " + left;
  const size_t width = DisplayWidth(entry);
  if (description.empty()) return entry + "\n";
  entry += width < kColumn ? std::string(kColumn - width, ' ') : "\n" + std::string(kColumn, ' ');
  return entry + Wrap(description, kColumn, kColumn) + "\n";
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

// A line that is too long goes on below its beginning, a little to the right.
std::string HelpFormatter::make_footer(const CLI::App* app) const {
  std::string footer;
  const std::string lines = app->get_footer();
  for (std::string_view text = lines; !text.empty();) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const size_t indent = std::min(line.find_first_not_of(' '), line.size());
    footer += std::string(indent, ' ') + Wrap(line.substr(indent), indent, indent + 2) + "\n";
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return footer;
}

}  // namespace shardmill
