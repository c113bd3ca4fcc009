#include "tools/pack_split_flags.h"

#include <algorithm>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "tools/choice_option.h"

namespace shardmill {
namespace {

std::vector<std::string> SplitNames(const std::string& text) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin < text.size();) {
    size_t comma = std::min(text.find(',', begin), text.size());
    if (comma > begin) names.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return names;
}

bool HasShares(const std::string& text) { return text.find('=') != std::string::npos; }

// For CLI11: what is wrong with the text, if anything.
std::string CheckSplits(const std::string& text) {
  if (HasShares(text)) return std::string(ParseShares(text).status().message());
  std::vector<std::string> names = SplitNames(text);
  if (names.empty()) return "it names no split";
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  return twice == names.end() ? "" : "it names " + *twice + " twice";
}

}  // namespace

void AddSplitFlags(CLI::App* app, SplitFlags* flags) {
  app->add_option("--split", flags->split,
                  "Only these splits of the folder, separated by commas; test also where none of "
                  "its images has a label, ignored throughout. With shares that add up to 1, as in "
                  "train=0.8,val=0.2, the splits to make")
      ->type_name("NAME[=SHARE],…")
      ->check(CheckSplits, "");
  AddChoice(app, "--split-by", &flags->split_by, {"layout", "ratio", "group"},
            "Take the splits of the folder, or divide all its inputs by a hash of key and seed, so "
            "that new files move no others: each input alone, or whole groups (default: layout, "
            "with shares ratio; train=0.9,val=0.1)");
  app->add_option("--group-pattern", flags->group_pattern,
                  "For --split-by group: regular expression whose captures in the key name the "
                  "group, for example the drive that frames belong to")
      ->type_name("REGEX");
  app->add_flag("--split-balanced", flags->balanced,
                "For --split-by ratio and a class per image: the shares of each class are exact, "
                "but new files may move others");
}

Status TakeSplitFlags(const SplitFlags& flags, PackOptions* options) {
  SplitRule* rule = &options->split_rule;
  const bool shares = HasShares(flags.split);
  if (flags.split_by == "group") rule->by = SplitRule::By::kGroup;
  if (flags.split_by == "ratio" || (flags.split_by.empty() && shares)) {
    rule->by = SplitRule::By::kRatio;
  }
  if (rule->by == SplitRule::By::kLayout) {
    if (shares) return InvalidArgumentError("--split with shares needs --split-by ratio or group");
    options->layout.splits = SplitNames(flags.split);
  } else if (!shares && !flags.split.empty()) {
    return InvalidArgumentError("--split-by " + std::string(SplitByName(rule->by)) +
                                " makes the splits: give --split NAME=SHARE,…");
  } else if (shares) {
    ASSIGN_OR_RETURN(rule->shares, ParseShares(flags.split));
  } else {
    rule->shares = UsualShares();
  }
  if (flags.balanced && rule->by != SplitRule::By::kRatio) {
    return InvalidArgumentError("--split-balanced needs --split-by ratio");
  }
  if (flags.group_pattern.empty() != (rule->by != SplitRule::By::kGroup)) {
    return InvalidArgumentError("--split-by group and --group-pattern REGEX need each other");
  }
  rule->balanced = flags.balanced;
  rule->group_pattern = flags.group_pattern;
  return OkStatus();
}

}  // namespace shardmill
