#include <cstdio>
#include <memory>
#include <string>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "proto/model.pb.h"
#include "reader/console/units.h"
#include "trainer/comm/run_job.h"
#include "trainer/commands/model_options.h"
#include "trainer/commands/train_command.h"
#include "trainer/graph/resolved_model.h"
#include "trainer/models/model_file.h"

namespace shardmill {
namespace {

Result<int> RunModel(const ModelOptions& options) {
  ASSIGN_OR_RETURN(const ModelSpec spec, SpecOf(options));
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
  CLI::App* app = commands->Add(
      "model", "Prints the layers of a model, in the form of --model FILE.", [options] {
        return RunAlone("model", [&options](Communicator*) { return RunModel(*options); });
      });
  app->footer(
      "Example, a model of one's own:\n"
      "  shardmill-train model unet --width 8 > my.txtpb\n"
      "  shardmill-train SHARDS --model my.txtpb     after changes of the layers in it");
  app->add_option("MODEL", options->model, "Name of a model, or a file to check")
      ->required()
      ->type_name("");
  AddModelSize(app, options.get());
}

}  // namespace shardmill
