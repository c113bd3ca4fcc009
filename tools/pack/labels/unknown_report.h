// Collects the label values that are no class over a whole set, for a message that helps.
//
// Not for concurrent use.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/pack/labels/label_decode.h"

namespace shardmill {

class UnknownReport {
 public:
  // `by_palette`: the colours of a palette were looked up.
  void Add(const std::string& label_file, const UnknownValues& values, bool by_palette = false);

  bool empty() const { return files_ == 0; }
  uint64_t files() const { return files_; }

  // The worst values with their pixels and sample files, and what may be behind them. `classes`
  // and `rules` are what the labels were read with.
  std::string Describe(uint64_t classes, const LabelRules& rules) const;

 private:
  static constexpr size_t kMaxValues = 65536;

  struct Entry {
    uint64_t pixels = 0;
    uint64_t files = 0;
    std::vector<std::string> examples;
  };
  std::string Hint(uint64_t classes, const LabelRules& rules) const;
  std::string HintForOneValue(uint32_t value, uint64_t classes, const LabelRules& rules) const;
  bool OnlyNumbersUpTo(uint32_t largest) const;

  std::map<uint32_t, Entry> entries_;
  uint64_t pixels_ = 0;
  uint64_t files_ = 0;
  bool any_palette_ = false;
};

}  // namespace shardmill
