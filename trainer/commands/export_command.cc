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
#include "trainer/export/output_file.h"
#include "trainer/export/pytorch_weights.h"
#include "trainer/export/safetensors.h"
#include "trainer/training/run_folder.h"

namespace shardmill {
namespace {

struct ExportOptions {
  std::string checkpoint;
  std::string output;
  bool newest = false;
};

// With as many digits as tell one float from the next.
std::string Numbers(const google::protobuf::RepeatedField<float>& values) {
  std::string text;
  for (const float value : values) {
    char number[32];
    std::snprintf(number, sizeof number, "%.9g", static_cast<double>(value));
    text += (text.empty() ? "" : " ") + std::string(number);
  }
  return text;
}

Result<int> RunExport(const ExportOptions& options) {
  RETURN_IF_ERROR(CheckOutputFile("--output", options.output, OutputKind::kSafetensors));
  ASSIGN_OR_RETURN(const LoadedCheckpoint checkpoint,
                   LoadedCheckpoint::Read(CheckpointFile(options.checkpoint, kBestCheckpoint)));
  ASSIGN_OR_RETURN(
      const std::vector<NamedArray> arrays,
      PytorchWeights(checkpoint, options.newest ? WeightChoice::kNewest : WeightChoice::kAverage));
  std::vector<SafeTensor> tensors;
  for (const NamedArray& array : arrays) {
    tensors.push_back(
        {array.name, "F32", array.shape, array.values.data(), array.values.size() * sizeof(float)});
  }
  const proto::Checkpoint& description = checkpoint.description();
  const proto::TrainedOn& trained_on = description.trained_on();
  RETURN_IF_ERROR(WriteSafetensors(options.output, tensors,
                                   {{"format", "pt"},
                                    {"model", description.model().name()},
                                    {"image_mean", Numbers(trained_on.image_mean())},
                                    {"image_deviation", Numbers(trained_on.image_deviation())}}));
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
  app->add_option(
         "CHECKPOINT", options->checkpoint,
         "Checkpoint file, such as run/best.ckpt, or the folder of a run for its best.ckpt")
      ->required()
      ->type_name("");
  app->add_option("--output", options->output, "File to write")
      ->required()
      ->type_name("FILE.safetensors");
  app->add_flag("--newest", options->newest, "Not the moving average, where the run kept one");
}

}  // namespace shardmill
