// A small, quick run of shardmill-train for tests of the program, and what they expect of it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/trainer/shape_dataset.h"
#include "tests/trainer/train_program.h"

namespace shardmill {

using Words = std::vector<std::string>;

inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// A small, quick network: 4 steps per epoch.
inline Words Small(const std::string& dataset, const std::string& output) {
  return {dataset, "--output", output, "--width",   "4", "--depth",  "2", "--batch",
          "6",     "--lr",     "0.02", "--threads", "1", "--epochs", "3"};
}

inline const std::string& Shapes() {
  static const auto* const path = new std::string(WriteShapeDataset("shapes", {}));
  return *path;
}

inline void ExpectFailure(const ProgramResult& result, int exit_code, const std::string& message) {
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
}

}  // namespace shardmill
