// The options that `evaluate` and `predict` share.
#pragma once

#include <optional>

#include "reader/base/status.h"
#include "reader/console/units.h"
#include "trainer/data/data_task.h"
#include "trainer/evaluation/scorer.h"
#include "trainer/prediction/sliding_window.h"

namespace CLI {
class App;
}  // namespace CLI

namespace shardmill {

class ScorerFlags {
 public:
  // Both must outlive the app.
  void AddTo(CLI::App* app, ScorerOptions* options);

  // What --window and --stride say; a height of 0 for whole images. InvalidArgument when they do
  // not fit together, or there are no class maps to be made of windows.
  Result<WindowOptions> Windows(const DataTask& task) const;

 private:
  std::optional<ImageSize> window_;
  std::optional<ImageSize> stride_;
};

}  // namespace shardmill
