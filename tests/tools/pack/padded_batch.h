// Loads a field that varies in shape as one padded batch.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "reader/dataset.h"

namespace shardmill {

// All records of train in one batch, padded to the longest.
struct PaddedBatch {
  std::vector<int64_t> shape;
  std::vector<uint8_t> data;
  std::map<std::string, uint64_t> keys;  // and their rows
};

PaddedBatch LoadPaddedBatch(const std::shared_ptr<const Dataset>& dataset,
                            const std::string& field);

}  // namespace shardmill
