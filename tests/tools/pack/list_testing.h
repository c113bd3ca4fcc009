// Folders with lists, packed as a user packs them.
#pragma once

#include <string>
#include <vector>

#include "tests/tools/pack/pack_testing.h"

namespace shardmill {

class ListPackTest : public PackTest {
 protected:
  // Images that lie at `paths`, each with a label beside it that ends in _l.png.
  void AddPairs(const std::vector<std::string>& stems) {
    int id = 0;
    for (const std::string& stem : stems) {
      AddImage(stem + ".jpg");
      source_.Write(stem + "_l.png", GrayPng(kSize, {id++ % 2}));
    }
  }
  std::vector<std::string> Keys(const std::string& split) {
    std::vector<std::string> keys;
    for (const auto& [key, values] : ReadLabels(split)) keys.push_back(key);
    return keys;
  }
};

}  // namespace shardmill
