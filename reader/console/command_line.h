// The command line of a program with commands: one option table per command makes parser, help
// and error messages.
//
// CLI11 holds the table; its exceptions end here. Results go to stdout, everything else to
// stderr. A command file exposes one function that adds its command:
//
//   void AddDumpCommand(CommandLine* commands) {
//     auto options = std::make_shared<DumpOptions>();
//     CLI::App* app = commands->Add("dump", "Shows what is in shards", [options] {
//       return RunDump(*options);
//     });
//     app->add_option("PATH", options->path, "Data set folder or shard")->required();
//   }
//
// Single-threaded.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace shardmill {

// Exit codes that are no errors of Status: see ExitCode() for the others.
constexpr int kExitDone = 0;
constexpr int kExitInputsSkipped = 6;

// Runs a command whose options have been parsed. The value is the exit code of a run that did
// its work; an error is printed and mapped by ExitCode().
using CommandFunction = std::function<Result<int>()>;

class CommandLine {
 public:
  CommandLine(std::string program, std::string description, std::string version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Adds a command; its options are added to the returned app, which this object owns.
  CLI::App* Add(const std::string& name, const std::string& description, CommandFunction run);

  // An empty text is no value of an option or argument, unless the option is named here: from a
  // script whose variable is not set, "" would mean the root folder, or all of a set.
  void AllowEmpty(const CLI::Option* option) { may_be_empty_.insert(option); }

  // `name`, a command that was added, runs when the first argument names no command; messages
  // then leave its name out, and its help lists the other commands.
  void SetDefault(const std::string& name);

  // From now on help, version and usage errors are not printed: another process that was started
  // with the same words prints them, and gives the exit code: this one ends with 0, or else a
  // launcher that sees it fail first would end the other before it has spoken. Errors of commands
  // are printed all the same.
  void SetSilent() { silent_ = true; }

  // For programs whose commands with --json print their errors as objects: usage errors are printed
  // so too, on stdout beside the message on stderr, when --json is among the words.
  void SetJsonErrors() { json_errors_ = true; }

  // For processes that wait for each other: `share` gets each usage error and tells the others.
  // What it returns is the end of this process: its exit code, or the error to print.
  using ShareUsageError = std::function<Result<int>(const Status& error)>;
  void SetShareUsageError(ShareUsageError share) { share_usage_error_ = std::move(share); }

  // Parses, runs the command and returns the exit code. Prints help to stdout (exit 0, or 3
  // when it cannot be written) when it was asked for; usage errors, with a suggestion for a
  // mistyped name, to stderr (exit 2).
  int Run(int argc, const char* const* argv);

 private:
  struct Command {
    CLI::App* app = nullptr;
    CommandFunction run;
  };

  // The exit code when parsing already ends the program, else nullopt.
  std::optional<int> Parse(int argc, const char* const* argv);
  std::optional<int> ParseWords(std::vector<std::string> words);
  void PrintHelp(const CLI::App& app) const;
  int ReportUsageError(const std::string& message);
  // The command that the first word may be meant for: it is near its name, and no file or folder
  // that the default command could read. Empty: none.
  std::string MeantCommand(const std::string& word) const;
  int Execute(const Command& command);
  // Prints an error; the exit code.
  int Report(const Status& status) const;
  // "SOURCE" or "--output" when it was given an empty text that it must not have, else empty.
  std::string FindEmptyOption() const;
  const Command* Chosen() const;
  // "shardmill pack", "shardmill dump show", or "shardmill" before a command is known.
  std::string Prefix() const;

  std::string program_;
  std::unique_ptr<CLI::App> app_;
  std::vector<Command> commands_;
  std::string default_command_;
  std::string first_word_;  // where it names no command and the default one is taken
  std::set<const CLI::Option*> may_be_empty_;
  bool silent_ = false;
  bool json_errors_ = false;
  ShareUsageError share_usage_error_;
};

// The candidate nearest to `word` when it is near enough to be a typing mistake, or else one that
// shares its words ("batch" for "batch_size") or is their initials; else empty.
std::string NearestName(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace shardmill
