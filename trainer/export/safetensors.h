// Files of named arrays in the safetensors format: a length, a JSON header, the arrays behind it.
//
// Free functions, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "reader/base/status.h"

namespace shardmill {

struct SafeTensor {
  std::string name;   // unique
  std::string dtype;  // "F32", "U8", "U16", "I64"
  std::vector<int64_t> shape;
  const void* data = nullptr;
  uint64_t bytes = 0;  // what dtype and shape take
};

// Writes the file whole or not at all. `metadata` are texts for readers.
Status WriteSafetensors(const std::string& path, const std::vector<SafeTensor>& tensors,
                        const std::vector<std::pair<std::string, std::string>>& metadata);

}  // namespace shardmill
