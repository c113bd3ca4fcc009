#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "proto/checkpoint.pb.h"
#include "reader/console/units.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/comm/run_job.h"
#include "trainer/commands/train_command.h"
#include "trainer/export/pytorch_weights.h"
#include "trainer/export/safetensors.h"

namespace shardmill {
namespace {

struct ExportOptions {
  std::string checkpoint;
  std::string output;
  bool newest = false;
};

Result<int> RunExport(const ExportOptions& options) {
  ASSIGN_OR_RETURN(const LoadedCheckpoint checkpoint, LoadedCheckpoint::Read(options.checkpoint));
  ASSIGN_OR_RETURN(
      const std::vector<NamedArray> arrays,
      PytorchWeights(checkpoint, options.newest ? WeightChoice::kNewest : WeightChoice::kAverage));
  std::vector<SafeTensor> tensors;
  for (const NamedArray& array : arrays) {
    tensors.push_back(
        {array.name, "F32", array.shape, array.values.data(), array.values.size() * sizeof(float)});
  }
  const proto::Checkpoint& description = checkpoint.description();
  std::string mean, deviation;
  for (const float value : description.trained_on().image_mean()) {
    mean += (mean.empty() ? "" : " ") + std::to_string(value);
  }
  for (const float value : description.trained_on().image_deviation()) {
    deviation += (deviation.empty() ? "" : " ") + std::to_string(value);
  }
  RETURN_IF_ERROR(WriteSafetensors(options.output, tensors,
                                   {{"format", "pt"},
                                    {"model", description.model().name()},
                                    {"image_mean", mean},
                                    {"image_deviation", deviation}}));
  std::printf("%s tensors in %s\n", FormatCount(tensors.size()).c_str(), options.output.c_str());
  return 0;
}

}  // namespace

void AddExportCommand(CommandLine* commands) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* app = commands->Add(
      "export", "Writes the weights of a checkpoint as safetensors, laid out for PyTorch.",
      [options] {
        return RunAlone("export", [&options](Communicator*) { return RunExport(*options); });
      });
  app->footer(
      "Example, in Python from there on:\n"
      "  shardmill-train export run/best.ckpt --output w.safetensors\n"
      "  model.load_state_dict(safetensors.torch.load_file('w.safetensors'))\n\n"
      "Layer a/b is module a.b. The mean and deviation of the images are in the metadata of the "
      "file.");
  app->add_option("CHECKPOINT", options->checkpoint, "Checkpoint file, such as run/best.ckpt")
      ->required()
      ->type_name("");
  app->add_option("--output", options->output, "File to write")
      ->required()
      ->type_name("FILE.safetensors");
  app->add_flag("--newest", options->newest, "Not the moving average, where the run kept one");
}

}  // namespace shardmill
