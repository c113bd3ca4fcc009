// The models that the program knows by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "trainer/graph/model_spec.h"

namespace shardmill {

// What a model reads and predicts.
enum class ModelTask {
  kClassMaps,  // a class per pixel of an image
  kClassIds,   // a class per image
  kSequences,  // a class per sequence of feature vectors
};

struct ModelEntry {
  std::string name;
  ModelTask task = ModelTask::kClassMaps;
  int64_t width = 0;  // of the model as published
  int64_t depth = 0;  // 0: it has one depth only
};

const std::vector<ModelEntry>& ModelCatalog();
const ModelEntry* FindModel(const std::string& name);  // null: there is none
std::vector<std::string> ModelNames();

struct ModelSize {
  int64_t input_channels = 3;
  int64_t classes = 0;
  int64_t width = 0;  // 0: as published
  int64_t depth = 0;
};

// InvalidArgument when a number does not suit the model.
Result<ModelSpec> BuildModel(const ModelEntry& entry, const ModelSize& size);

}  // namespace shardmill
