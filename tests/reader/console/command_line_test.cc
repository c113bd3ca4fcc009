#include "reader/console/command_line.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "reader/base/error_prefix.h"
#include "reader/console/help_formatter.h"

namespace shardmill {
namespace {

// A program with one command, `pack`, that returns `result`.
class CommandLineTest : public testing::Test {
 protected:
  CommandLineTest() : commands_("mill", "Mills.", "1.2.3") {
    CLI::App* app = commands_.Add("pack", "Packs.", [this] {
      ++runs_;
      if (throws_) throw std::runtime_error("odd");
      return result_;
    });
    app->add_option("--resize", resize_, "Size");
    app->add_option("SOURCE", source_, "Folder")->required();
    commands_.AllowEmpty(app->add_option("--name", name_, "May be empty"));
  }

  int Run(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "mill");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    int code = commands_.Run(static_cast<int>(arguments.size()), arguments.data());
    out_ = testing::internal::GetCapturedStdout();
    error_ = testing::internal::GetCapturedStderr();
    return code;
  }

  CommandLine commands_;
  Result<int> result_ = kExitDone;
  bool throws_ = false;
  int runs_ = 0;
  std::string resize_, source_, name_, out_, error_;
};

TEST_F(CommandLineTest, ParsedCommandRuns) {
  EXPECT_EQ(Run({"pack", "folder", "--resize", "2x3"}), 0);
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(resize_, "2x3");
  EXPECT_EQ(source_, "folder");
  EXPECT_EQ(out_ + error_, "");
}

TEST_F(CommandLineTest, EmptyTextIsNoValueUnlessTheOptionMayBeEmpty) {
  EXPECT_EQ(Run({"pack", "x", "--resize", ""}), 2);
  EXPECT_NE(error_.find("--resize: an empty text is no value"), std::string::npos) << error_;
  EXPECT_EQ(Run({"pack", ""}), 2);
  EXPECT_NE(error_.find("SOURCE: an empty text is no value"), std::string::npos) << error_;
  EXPECT_EQ(runs_, 0);
  EXPECT_EQ(Run({"pack", "x", "--name", ""}), 0) << error_;
  EXPECT_EQ(runs_, 1);
}

TEST_F(CommandLineTest, UsageErrorIsAnObjectTooWhereJsonIsAmongTheWords) {
  EXPECT_EQ(Run({"pack", "x", "--size", "2x3", "--json"}), 2);
  EXPECT_EQ(out_, "");
  commands_.SetJsonErrors();
  EXPECT_EQ(Run({"pack", "x", "--size", "2x3", "--json"}), 2);
  EXPECT_NE(out_.find("\"exit_code\": 2"), std::string::npos) << out_;
  EXPECT_NE(out_.find("unknown option '--size'"), std::string::npos) << out_;
  EXPECT_NE(error_.find("unknown option '--size'"), std::string::npos) << error_;
  EXPECT_EQ(Run({"pack", "x", "--size", "2x3"}), 2);
  EXPECT_EQ(out_, "");
}

TEST_F(CommandLineTest, RepeatedOptionIsNamed) {
  EXPECT_EQ(Run({"pack", "x", "--resize", "2x3", "--resize", "4x5"}), 2);
  EXPECT_NE(error_.find("option --resize is given 2 times; give it once"), std::string::npos)
      << error_;
  EXPECT_EQ(Run({"pack", "x", "--resize"}), 2);
  EXPECT_EQ(error_.find("times"), std::string::npos) << error_;
  EXPECT_EQ(runs_, 0);
}

TEST_F(CommandLineTest, ExitCodeOfTheCommandIsReturned) {
  result_ = kExitInputsSkipped;
  EXPECT_EQ(Run({"pack", "x"}), 6);
}

TEST_F(CommandLineTest, MessagesAndHelpNameTheVerbOfACommand) {
  std::string path;
  CLI::App* dump = commands_.Add("dump", "Dumps.", [] { return IoError("gone"); });
  dump->add_subcommand("show", "Shows.")->add_option("PATH", path, "Folder")->required();
  EXPECT_EQ(Run({"dump", "show", "folder"}), 3);
  EXPECT_EQ(error_, "mill dump show: error: gone\n");
  EXPECT_EQ(Run({"dump", "show"}), 2);
  EXPECT_NE(error_.find("Try 'mill dump show --help'."), std::string::npos) << error_;
  EXPECT_EQ(Run({"dump", "show", "--help"}), 0);
  EXPECT_NE(out_.find("Usage: mill dump show"), std::string::npos) << out_;
}

TEST_F(CommandLineTest, ErrorIsPrintedWithCommandAndMapped) {
  result_ = DataLossError("a\x1b.png: cut");
  EXPECT_EQ(Run({"pack", "x"}), 4);
  EXPECT_EQ(error_, "mill pack: error: a\\x1b.png: cut\n");
  EXPECT_EQ(ErrorPrefix(), "mill pack: error: ");  // of whoever else prints errors
  EXPECT_EQ(out_, "");
}

TEST_F(CommandLineTest, ExceptionIsAnInternalError) {
  throws_ = true;
  EXPECT_EQ(Run({"pack", "x"}), 1);
  EXPECT_NE(error_.find("odd"), std::string::npos);
}

TEST_F(CommandLineTest, HelpGoesToStdout) {
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_NE(out_.find("pack"), std::string::npos);
  EXPECT_EQ(Run({"pack", "-h"}), 0);
  EXPECT_NE(out_.find("--resize"), std::string::npos);
  EXPECT_EQ(error_, "");
  EXPECT_EQ(Run({"--version"}), 0);
  EXPECT_EQ(out_, "mill 1.2.3\n");
}

TEST_F(CommandLineTest, NoCommandIsAUsageError) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_EQ(out_, "");
  EXPECT_NE(error_.find("no command given"), std::string::npos);
}

TEST_F(CommandLineTest, UnknownOptionSuggestsTheNearest) {
  EXPECT_EQ(Run({"pack", "x", "--rezise=2x3"}), 2);
  EXPECT_NE(error_.find("mill pack: error: unknown option '--rezise=2x3'; did you mean "
                        "'--resize'?"),
            std::string::npos)
      << error_;
  EXPECT_EQ(runs_, 0);
}

TEST_F(CommandLineTest, UnknownCommandSuggestsTheNearest) {
  EXPECT_EQ(Run({"pakc"}), 2);
  EXPECT_NE(error_.find("unknown command 'pakc'; did you mean 'pack'?"), std::string::npos)
      << error_;
}

TEST_F(CommandLineTest, SurplusArgumentIsAUsageError) {
  EXPECT_EQ(Run({"pack", "x", "y"}), 2);
  EXPECT_NE(error_.find("unexpected argument 'y'"), std::string::npos) << error_;
}

TEST_F(CommandLineTest, MissingArgumentIsAUsageError) {
  EXPECT_EQ(Run({"pack"}), 2);
  EXPECT_NE(error_.find("SOURCE"), std::string::npos) << error_;
}

TEST_F(CommandLineTest, DefaultCommandRunsWithoutItsName) {
  commands_.Add("look", "Looks.", [] { return Result<int>(17); });
  commands_.SetDefault("pack");
  EXPECT_EQ(Run({"folder", "--resize", "2x3"}), 0);
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(source_, "folder");
  EXPECT_EQ(Run({"look"}), 17);
  EXPECT_EQ(Run({"--version"}), 0);
  EXPECT_EQ(out_, "mill 1.2.3\n");
}

TEST_F(CommandLineTest, MisspeltCommandBesideADefaultOneIsSuggested) {
  commands_.Add("look", "Looks.", [] { return Result<int>(17); });
  commands_.SetDefault("pack");
  EXPECT_EQ(Run({"loko", "x"}), 2);
  EXPECT_NE(error_.find("unknown command 'loko'; did you mean 'look'?"), std::string::npos)
      << error_;
  EXPECT_EQ(Run({"folder", "x"}), 2);
  EXPECT_NE(error_.find("unexpected argument 'x'"), std::string::npos) << error_;
}

TEST_F(CommandLineTest, DefaultCommandIsNotNamedInMessagesAndItsHelpListsTheOthers) {
  commands_.Add("look", "Looks.", [] { return Result<int>(17); });
  commands_.SetDefault("pack");
  EXPECT_EQ(Run({}), 2);
  EXPECT_EQ(error_.rfind("mill: error: ", 0), 0u) << error_;
  EXPECT_NE(error_.find("SOURCE"), std::string::npos) << error_;
  EXPECT_EQ(Run({"--help"}), 0);
  EXPECT_NE(out_.find("Usage: mill [OPTIONS] SOURCE"), std::string::npos) << out_;
  EXPECT_NE(out_.find("mill look  Looks."), std::string::npos) << out_;
}

TEST(NearestName, FarNamesAreNotSuggested) {
  EXPECT_EQ(NearestName("--crop-mod", {"--crop", "--crop-mode"}), "--crop-mode");
  EXPECT_EQ(NearestName("zzz", {"pack", "dump"}), "");
  EXPECT_EQ(NearestName("", {"pack"}), "");
}

TEST(NearestName, WordsAndInitialsAreSuggested) {
  const std::vector<std::string> names = {"model", "lr", "batch", "epochs", "train_crop"};
  EXPECT_EQ(NearestName("learning_rate", names), "lr");
  EXPECT_EQ(NearestName("batch_size", names), "batch");
  EXPECT_EQ(NearestName("num_epochs", names), "epochs");
  EXPECT_EQ(NearestName("--train-batch-size", {"--batch", "--lr"}), "--batch");
  EXPECT_EQ(NearestName("crop_size", names), "");
}

// Standard output is a terminal of so many columns as long as an object lives.
class TerminalOutput {
 public:
  explicit TerminalOutput(unsigned short columns) : before_(dup(STDOUT_FILENO)) {
    const winsize window = {24, columns, 0, 0};
    int terminal = -1;
    EXPECT_EQ(openpty(&controller_, &terminal, nullptr, nullptr, &window), 0);
    dup2(terminal, STDOUT_FILENO);
    close(terminal);
  }
  ~TerminalOutput() {
    dup2(before_, STDOUT_FILENO);
    close(before_);
    close(controller_);
  }
  TerminalOutput(const TerminalOutput&) = delete;
  TerminalOutput& operator=(const TerminalOutput&) = delete;

 private:
  int before_;
  int controller_ = -1;
};

size_t WidestLine(const std::string& text) {
  size_t widest = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    widest = std::max(widest, end - at);
    at = end + 1;
  }
  return widest;
}

TEST(HelpFormatter, HelpIsAsWideAsTheTerminalAndAHundredColumnsAtMost) {
  std::string words;
  for (int i = 0; i < 60; ++i) words += "word ";
  CLI::App app("Mills.");
  app.add_flag("--some", words);
  app.footer("Remarks:\n  " + words + "\n  short");
  const auto help = [&] {
    return HelpFormatter().make_help(&app, "mill", CLI::AppFormatMode::Normal);
  };
  const auto narrow = [&](unsigned short columns) {
    const TerminalOutput terminal(columns);
    return WidestLine(help());
  };
  EXPECT_LE(narrow(80), 80u);
  EXPECT_GT(narrow(80), 74u);
  EXPECT_LE(narrow(300), 100u);
  EXPECT_GT(narrow(300), 94u);
  EXPECT_NE(help().find("\n  short\n"), std::string::npos) << help();
  EXPECT_NE(help().find("\n    word word"), std::string::npos) << help();
}

void ThrowOutOfMemory() { throw std::bad_alloc(); }
void MustNotThrow(void (*function)()) noexcept { function(); }

// As what a library does while it is loaded.
TEST(CommandLineDeathTest, LackOfMemoryWhereNoErrorCanBeReturnedIsExitCodeThree) {
  const char* const arguments[] = {"mill", "load"};
  const auto run = [&] {
    CommandLine commands("mill", "Mills.", "1.2.3");
    commands.Add("load", "Loads.", [] {
      MustNotThrow(ThrowOutOfMemory);
      return kExitDone;
    });
    commands.Run(2, arguments);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(3), "^mill: error: out of memory; give more");
}

TEST(CommandLineDeathTest, OtherExceptionThatNobodyCatchesAborts) {
  const char* const arguments[] = {"mill", "load"};
  const auto run = [&] {
    CommandLine commands("mill", "Mills.", "1.2.3");
    commands.Add("load", "Loads.", [] {
      MustNotThrow([] { throw std::runtime_error("a bug"); });
      return kExitDone;
    });
    commands.Run(2, arguments);
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGABRT), "a bug");
}

}  // namespace
}  // namespace shardmill
