// The options of commands that name a model without a data set.
#pragma once

#include <string>

#include "reader/base/status.h"
#include "trainer/graph/model_spec.h"
#include "trainer/models/model_catalog.h"

namespace CLI {
class App;
}  // namespace CLI

namespace shardmill {

struct ModelOptions {
  ModelOptions() { size.classes = 12; }
  std::string model;  // a name of the catalog, or a file
  ModelSize size;
};

// --channels, --classes, --width and --depth. `options` must outlive the app.
void AddModelSize(CLI::App* app, ModelOptions* options);

Result<ModelSpec> SpecOf(const ModelOptions& options);

}  // namespace shardmill
