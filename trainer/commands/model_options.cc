#include "trainer/commands/model_options.h"

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "proto/model.pb.h"
#include "trainer/models/model_file.h"
#include "trainer/training/network.h"

namespace shardmill {

void AddModelSize(CLI::App* app, ModelOptions* options) {
  const auto add = [&](const char* flag, int64_t* number, const char* help) {
    app->add_option(flag, *number, help)
        ->capture_default_str()
        ->check(CLI::Range(0, 65536).description(""))
        ->type_name("N");
  };
  add("--channels", &options->size.input_channels, "Channels of the images");
  add("--classes", &options->size.classes, "Classes of the data set");
  add("--width", &options->size.width, "As for training; 0: as published");
  add("--depth", &options->size.depth, "As for training; 0: as published");
}

Result<ModelSpec> SpecOf(const ModelOptions& options) {
  const ModelEntry* entry = FindModel(options.model);
  if (entry != nullptr) return BuildModel(*entry, options.size);
  const Result<proto::Model> model = ReadModelFile(options.model);
  if (model.status().code() == StatusCode::kNotFound && !IsModelFile(options.model)) {
    return UnknownModel(options.model);
  }
  RETURN_IF_ERROR(model.status());
  if (options.size.width != 0 || options.size.depth != 0) {
    return InvalidArgumentError("--width and --depth do not apply to a model file");
  }
  return SpecOfModel(*model, options.size.input_channels, options.size.classes);
}

}  // namespace shardmill
