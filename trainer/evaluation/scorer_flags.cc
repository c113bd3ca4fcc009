#include "trainer/evaluation/scorer_flags.h"

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "reader/console/option_types.h"

namespace shardmill {

void ScorerFlags::AddTo(CLI::App* app, ScorerOptions* options) {
  app->add_option("DATASET", options->dataset, "Folder of packed shards")
      ->required()
      ->type_name("");
  app->add_option(
         "--checkpoint", options->checkpoint,
         "Checkpoint file, such as run/best.ckpt, or the folder of a run for its best.ckpt")
      ->required()
      ->type_name("FILE");
  app->add_option("--split", options->split, "Split to read")
      ->capture_default_str()
      ->type_name("NAME");
  AddImageSize(app, "--window", &window_,
               "Goes over each image in windows of this size and averages where they overlap");
  AddImageSize(app, "--stride", &stride_,
               "From one window to the next (default: two thirds of a window)");
  app->add_option("--device", options->device, "auto, cpu or cuda; cuda-host as for training")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "cpu", "cuda", "cuda-host"}).description(""))
      ->type_name("NAME");
  app->add_option("--plan-cache", options->plan_cache,
                  "On a GPU: file that keeps the plans of convolutions for the next start")
      ->type_name("FILE");
  app->add_option("--threads", options->threads,
                  "Compute threads; 0: one per CPU this process may use")
      ->capture_default_str()
      ->check(CLI::Range(0, 1024).description(""))
      ->type_name("N");
  app->add_flag("--quiet", options->quiet, "No progress and no notes on stderr");
}

Result<WindowOptions> ScorerFlags::Windows(const DataTask& task) const {
  WindowOptions options;
  if (!window_ && stride_) return InvalidArgumentError("--stride needs a --window");
  if (!window_) return options;
  if (task.kind != TaskKind::kSegmentation) {
    return InvalidArgumentError(
        "--window does not apply: the network makes one class per record, and no class maps");
  }
  options.height = window_->height;
  options.width = window_->width;
  if (stride_) {
    options.stride_y = stride_->height;
    options.stride_x = stride_->width;
  }
  RETURN_IF_ERROR(CheckWindows(options));
  return options;
}

}  // namespace shardmill
