// Splits that the packer makes: by shares, over single inputs or over groups of them.
//
// A group goes where a hash of its name and the seed says. So no group is ever in two splits, and
// inputs that are added or removed move no other one. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/inputs/input_set.h"

namespace shardmill {

struct SplitShare {
  std::string name;
  uint32_t permille = 0;
};

struct SplitRule {
  enum class By {
    kLayout,  // as the folder has them
    kRatio,   // over single inputs
    kGroup,   // over groups
  };
  By by = By::kLayout;
  std::vector<SplitShare> shares;  // add up to 1000
  // kGroup: a regular expression that is searched for in each key. Its captures, or all that it
  // matches when it has none, name the group.
  std::string group_pattern;
  // kRatio: the shares of each class are exact, up to rounding. Then a new input may move others.
  bool balanced = false;
};

// "train=0.8,val=0.1,test=0.1".
Result<std::vector<SplitShare>> ParseShares(std::string_view text);
std::string FormatShares(const std::vector<SplitShare>& shares);
std::vector<SplitShare> UsualShares();  // train 0.9, val 0.1
std::string_view SplitByName(SplitRule::By by);

// Nothing happens with By::kLayout. InvalidArgument when the pattern is none or does not match a
// key, and when a split would get no input. Adds a note that says what was made.
Status MakeSplits(const SplitRule& rule, uint64_t seed, InputSet* set);

}  // namespace shardmill
