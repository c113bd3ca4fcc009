#include <cstdio>
#include <memory>
#include <string>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "proto/model.pb.h"
#include "reader/console/units.h"
#include "trainer/models/model_catalog.h"
#include "trainer/models/model_file.h"
#include "trainer/resolved_model.h"
#include "trainer/train_command.h"

namespace shardmill {
namespace {

struct ModelOptions {
  std::string model;
  ModelSize size;
};

Result<int> RunModel(const ModelOptions& options) {
  ModelSpec spec;
  const ModelEntry* entry = FindModel(options.model);
  if (entry != nullptr) {
    ASSIGN_OR_RETURN(spec, BuildModel(*entry, options.size));
  } else {
    ASSIGN_OR_RETURN(const proto::Model model, ReadModelFile(options.model));
    ASSIGN_OR_RETURN(spec, SpecOfModel(model, options.size.input_channels, options.size.classes));
  }
  ParameterStore store;
  RETURN_IF_ERROR(ResolveModel(spec, &store).status());
  std::printf("%s", ModelText(ModelOfSpec(spec)).c_str());
  std::fprintf(stderr, "%s layers, %s parameters\n", FormatCount(spec.layers.size()).c_str(),
               FormatCount(static_cast<uint64_t>(store.trained_elements())).c_str());
  return 0;
}

}  // namespace

void AddModelCommand(CommandLine* commands) {
  auto options = std::make_shared<ModelOptions>();
  options->size.classes = 12;
  CLI::App* app =
      commands->Add("model", "Prints the layers of a model, in the form of --model FILE.",
                    [options] { return RunModel(*options); });
  app->add_option("MODEL", options->model, "Name of a model, or a file to check")
      ->required()
      ->type_name("");
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

}  // namespace shardmill
