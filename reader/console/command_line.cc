#include "reader/console/command_line.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "reader/base/error_prefix.h"
#include "reader/base/exception_status.h"
#include "reader/base/interrupt.h"
#include "reader/base/out_of_memory_exit.h"
#include "reader/console/error_json.h"
#include "reader/console/help_formatter.h"
#include "reader/console/terminal.h"

namespace shardmill {
namespace {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

// The names that could have been meant where `word` stood: options for "-x", else commands.
std::vector<std::string> KnownNames(const CLI::App& app, std::string_view word) {
  std::vector<std::string> names;
  if (!word.empty() && word[0] == '-') {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  }
  return names;
}

// The innermost command that was named on the command line.
const CLI::App* Innermost(const CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app;
}

std::string UnknownWordMessage(const CLI::App& root) {
  const CLI::App* app = Innermost(&root);
  std::vector<std::string> left = root.remaining(true);
  std::string word = left.empty() ? "" : left.front();
  std::string_view name = std::string_view(word).substr(0, word.find('='));
  bool is_option = !word.empty() && word[0] == '-';
  bool wants_command = !is_option && !app->get_subcommands({}).empty();
  std::string message = is_option       ? "unknown option "
                        : wants_command ? "unknown command "
                                        : "unexpected argument ";
  message += "'" + EscapeControl(word) + "'";
  std::string nearest = NearestName(name, KnownNames(*app, name));
  if (!nearest.empty()) message += "; did you mean '" + nearest + "'?";
  return message;
}

// What is wrong with the number of values of an option; CLI11 counts those of all its occurrences.
std::string ValueCountMessage(const CLI::App& root, const CLI::Error& error) {
  for (const CLI::Option* option : Innermost(&root)->get_options()) {
    const auto allowed = static_cast<size_t>(option->get_items_expected_max());
    const bool flag = allowed == 0;  // may be repeated
    if (flag || option->get_positional() || option->count() <= allowed) continue;
    return "option " + option->get_name() + " is given " + std::to_string(option->count()) +
           " times; give it once";
  }
  return EscapeControl(error.what());
}

// "--batch-size" → {"batch", "size"}
std::vector<std::string> WordsOf(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (c != '-' && c != '_') {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// A candidate whose words are all among those of `name`, as "batch" for "batch_size", or are their
// initials, as "lr" for "learning_rate".
std::string NameOfWords(std::string_view name, const std::vector<std::string>& candidates) {
  const std::vector<std::string> words = WordsOf(name);
  if (words.size() < 2) return "";
  std::string initials;
  for (const std::string& word : words) initials += word[0];
  for (const std::string& candidate : candidates) {
    const std::vector<std::string> parts = WordsOf(candidate);
    const auto is_word = [&](const std::string& part) {
      return std::find(words.begin(), words.end(), part) != words.end();
    };
    if (parts == std::vector<std::string>{initials}) return candidate;
    if (!parts.empty() && std::all_of(parts.begin(), parts.end(), is_word)) return candidate;
  }
  return "";
}

// A full disk or a closed pipe behind stdout must not look like success.
Status FlushOutput() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return OkStatus();
  return ErrnoError("cannot write to standard output", errno);
}

}  // namespace

std::string NearestName(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  // Two edits allow for two letters in the wrong order; a third of a long word may be wrong.
  size_t best_distance = std::min(word.size(), std::max<size_t>(2, word.size() / 3) + 1);
  for (const std::string& candidate : candidates) {
    size_t distance = EditDistance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best.empty() ? NameOfWords(word, candidates) : best;
}

CommandLine::CommandLine(std::string program, std::string description, std::string version)
    : program_(std::move(program)),
      app_(std::make_unique<CLI::App>(std::move(description), program_)) {
  app_->set_help_flag("-h,--help", "Prints this help and exits");
  app_->set_version_flag("--version", program_ + " " + version, "Prints the version and exits");
  app_->require_subcommand(0, 1);
  app_->formatter(std::make_shared<HelpFormatter>());
}

CommandLine::~CommandLine() = default;

CLI::App* CommandLine::Add(const std::string& name, const std::string& description,
                           CommandFunction run) {
  CLI::App* app = app_->add_subcommand(name, description);
  commands_.push_back({app, std::move(run)});
  return app;
}

int CommandLine::Run(int argc, const char* const* argv) {
  ExitWhenOutOfMemory(app_->get_name());
  SetErrorPrefix(app_->get_name());
  json_errors_ = json_errors_ && std::any_of(argv, argv + argc, [](const char* word) {
                   return std::string_view(word) == "--json";
                 });
  if (std::optional<int> code = Parse(argc, argv)) {
    return *code == kExitDone ? Report(FlushOutput()) : *code;
  }
  const Command* command = Chosen();
  if (command == nullptr) {
    std::fprintf(stderr, "%s", app_->help().c_str());
    return ReportUsageError("no command given");
  }
  return Execute(*command);
}

void CommandLine::SetDefault(const std::string& name) {
  default_command_ = name;
  size_t longest = 0;
  for (const Command& command : commands_) {
    longest = std::max(longest, command.app->get_name().size());
  }
  std::string footer;
  for (const Command& command : commands_) {
    const CLI::App* app = command.app;
    if (app->get_name() == name) continue;
    footer += "  " + program_ + " " + app->get_name() +
              std::string(longest + 2 - app->get_name().size(), ' ') + app->get_description() +
              "\n";
  }
  if (!footer.empty()) app_->get_subcommand(name)->footer("Other commands:\n" + footer);
}

std::optional<int> CommandLine::Parse(int argc, const char* const* argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const std::string first = words.empty() ? "" : words.front();
  const bool names_command =
      std::any_of(commands_.begin(), commands_.end(),
                  [&](const Command& command) { return command.app->get_name() == first; });
  if (!default_command_.empty() && !names_command && first != "--version") {
    words.insert(words.begin(), default_command_);
    first_word_ = first;
  }
  return ParseWords(std::move(words));
}

std::optional<int> CommandLine::ParseWords(std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app_->parse(std::move(words));
    const std::string empty = FindEmptyOption();
    if (empty.empty()) return std::nullopt;
    return ReportUsageError(empty + ": an empty text is no value");
  } catch (const CLI::CallForHelp&) {
    PrintHelp(*Innermost(app_.get()));
    return kExitDone;
  } catch (const CLI::CallForVersion& version) {
    if (!silent_) std::printf("%s\n", version.what());
    return kExitDone;
  } catch (const CLI::ExtrasError&) {
    const std::string meant = MeantCommand(first_word_);
    if (!meant.empty()) {
      return ReportUsageError("unknown command '" + EscapeControl(first_word_) +
                              "'; did you mean '" + meant + "'?");
    }
    return ReportUsageError(UnknownWordMessage(*app_));
  } catch (const CLI::ArgumentMismatch& error) {
    return ReportUsageError(ValueCountMessage(*app_, error));
  } catch (const CLI::Error& error) {
    return ReportUsageError(EscapeControl(error.what()));
  }
}

std::string CommandLine::MeantCommand(const std::string& word) const {
  std::error_code error;
  if (word.empty() || word[0] == '-' || std::filesystem::exists(word, error)) return "";
  return NearestName(word, KnownNames(*app_, word));
}

std::string CommandLine::FindEmptyOption() const {
  for (const CLI::Option* option : Innermost(app_.get())->get_options()) {
    const bool goes_without_value = option->get_expected_min() == 0;
    if (goes_without_value || may_be_empty_.count(option) > 0) continue;
    for (const std::string& value : option->results()) {
      if (value.empty()) return option->get_name();
    }
  }
  return "";
}

void CommandLine::PrintHelp(const CLI::App& app) const {
  if (silent_) return;
  const std::string help =
      app.get_formatter()->make_help(&app, Prefix(), CLI::AppFormatMode::Normal);
  std::printf("%s", help.c_str());
}

int CommandLine::ReportUsageError(const std::string& message) {
  const std::string prefix = Prefix();
  SetErrorPrefix(prefix);
  Status error = InvalidArgumentError(message + "\nTry '" + prefix + " --help'.");
  if (share_usage_error_) {
    const Result<int> end = share_usage_error_(error);
    if (end.ok()) return *end;
    error = end.status();
  } else if (silent_) {
    return kExitDone;  // see SetSilent
  }
  if (json_errors_) std::fputs(ErrorJson("", error).c_str(), stdout);
  std::fprintf(stderr, "%s%s\n", ErrorPrefix().c_str(), error.message().c_str());
  return ExitCode(error);
}

int CommandLine::Execute(const Command& command) {
  Result<int> result = kExitDone;
  SetErrorPrefix(Prefix());
  try {
    result = command.run();
  } catch (const std::exception&) {
    result = ExceptionStatus("while the command ran");
  }
  // What a pipeline says when it was stopped matters less than the signal that stopped it; a
  // message that names the signal itself has more to say.
  const Status interrupt = CheckInterrupt();
  if (result.status().code() == StatusCode::kCancelled && !interrupt.ok() &&
      result.status().message().find(interrupt.message()) == std::string::npos) {
    result = interrupt;
  }
  const Status flushed = FlushOutput();
  if (result.ok() && flushed.ok()) return *result;
  return Report(result.ok() ? flushed : result.status());
}

int CommandLine::Report(const Status& status) const {
  if (status.ok()) return kExitDone;
  std::fprintf(stderr, "%s%s\n", ErrorPrefix().c_str(),
               EscapeControl(status.message(), KeepLineEnds::kYes).c_str());
  return ExitCodeAfterInterrupt(status);
}

const CommandLine::Command* CommandLine::Chosen() const {
  for (const Command& command : commands_) {
    if (command.app->parsed()) return &command;
  }
  return nullptr;
}

std::string CommandLine::Prefix() const {
  const Command* command = Chosen();
  if (command == nullptr || command->app->get_name() == default_command_) return program_;
  std::string prefix = program_;
  for (const CLI::App* app = command->app; app != nullptr;) {
    prefix += " " + app->get_name();
    const std::vector<CLI::App*> verbs = app->get_subcommands();
    app = verbs.empty() ? nullptr : verbs.front();
  }
  return prefix;
}

}  // namespace shardmill
