// The options of `shardmill pack` that say which splits are packed, and how they are made where
// the folder's own are not wanted. Single-threaded.
#pragma once

#include <string>

#include "reader/base/status.h"
#include "tools/pack/pack_options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace shardmill {

// As they stand on the command line.
struct SplitFlags {
  std::string split, split_by, group_pattern;
  bool balanced = false;
};

void AddSplitFlags(CLI::App* app, SplitFlags* flags);
// InvalidArgument when they contradict each other.
Status TakeSplitFlags(const SplitFlags& flags, PackOptions* options);

}  // namespace shardmill
