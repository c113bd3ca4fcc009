// Runs another program and says what it cost.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace shardmill {

// The least of several runs.
struct ProcessCost {
  double wall = std::numeric_limits<double>::infinity();  // seconds
  double cpu = std::numeric_limits<double>::infinity();   // of all threads, system included
};

// Runs a program, its path first, with stdout going to a file, and lowers `cost`. False when it
// cannot be run or fails.
bool RunProgram(const std::vector<std::string>& words, const std::string& stdout_path,
                ProcessCost* cost);

// The most anonymous memory (RssAnon, in bytes) that the program was seen to hold, looking every
// few milliseconds; 0 when it fails.
uint64_t PeakAnonymousBytes(const std::vector<std::string>& words, const std::string& stdout_path);

}  // namespace shardmill
