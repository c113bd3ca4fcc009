// The splits of a data set: their usual names, and the division of a set that has none.
//
// Free functions without state.
#pragma once

#include <string>
#include <vector>

#include "tools/pack/inputs/input_set.h"

namespace shardmill {

// "train", "val" and "test" for the usual names of splits ("training", "validation", …), also in
// upper case and with a year behind ("train2017"); empty for other names.
std::string UsualSplitName(const std::string& name);

// Makes train and val 90/10 of a set without splits, by hash of the key, so that a file that comes
// later moves no other one; notes it. A set of so few inputs that none falls to train is all train.
void DivideByKey(InputSplit all, InputSet* set);

}  // namespace shardmill
