// A folder in the form of some layout, packed as a user packs it.
#pragma once

#include <string>
#include <vector>

#include "tests/tools/pack/pack_testing.h"

namespace shardmill {

class LayoutPackTest : public PackTest {
 protected:
  // Enough images that a set without splits gets both.
  void AddMany(const std::string& image_begin, const std::string& image_end,
               const std::string& label_begin, const std::string& label_end,
               const std::string& label) {
    for (int i = 0; i < kMany; ++i) {
      AddImage(image_begin + std::to_string(100 + i) + image_end);
      source_.Write(label_begin + std::to_string(100 + i) + label_end, label);
    }
  }
  static constexpr int kMany = 24;
  // Labels of all records, which must be equal.
  std::vector<int> CommonValues(size_t count) {
    const Labels labels = ReadLabels();
    EXPECT_EQ(labels.size(), static_cast<size_t>(kMany));
    for (const auto& [key, values] : labels) EXPECT_EQ(values, labels.begin()->second) << key;
    std::vector<int> first = labels.begin()->second;
    first.resize(count);
    return first;
  }
};

}  // namespace shardmill
