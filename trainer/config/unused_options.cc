#include "trainer/config/unused_options.h"

#include <functional>
#include <map>

#include "trainer/config/config.h"

namespace shardmill {
namespace {

struct Use {
  const char* flag;
  const char* purpose;  // behind "it is for"
  std::function<bool(const proto::TrainConfig&)> is_used;
};

std::function<bool(const proto::TrainConfig&)> OptimizerIs(const char* first,
                                                           const char* second = "") {
  return [=](const proto::TrainConfig& config) {
    return config.optimizer() == first || config.optimizer() == second;
  };
}

std::function<bool(const proto::TrainConfig&)> ScheduleIs(const char* first,
                                                          const char* second = "") {
  return [=](const proto::TrainConfig& config) {
    return config.schedule() == first || config.schedule() == second;
  };
}

const std::vector<Use>& Uses() {
  using Config = const proto::TrainConfig&;
  static const auto* const uses = new std::vector<Use>{
      {"--momentum", "--optimizer sgd", OptimizerIs("sgd")},
      {"--nesterov", "--optimizer sgd", OptimizerIs("sgd")},
      {"--beta1", "--optimizer adam and adamw", OptimizerIs("adam", "adamw")},
      {"--beta2", "--optimizer adam and adamw", OptimizerIs("adam", "adamw")},
      {"--rms-decay", "--optimizer rmsprop", OptimizerIs("rmsprop")},
      {"--poly-power", "--schedule poly", ScheduleIs("poly")},
      {"--step-epochs", "--schedule step", ScheduleIs("step")},
      {"--step-factor", "--schedule step", ScheduleIs("step")},
      {"--final-lr", "--schedule poly and cosine", ScheduleIs("poly", "cosine")},
      {"--label-smoothing", "--cross-entropy above 0",
       [](Config config) { return config.cross_entropy() > 0; }},
      {"--ohem-share", "--ohem above 0", [](Config config) { return config.ohem() > 0; }},
      {"--micro-shards", "--deterministic", [](Config config) { return config.deterministic(); }},
      {"--val-split", "--eval-every above 0",
       [](Config config) { return config.eval_every() > 0; }},
      {"--log-pictures", "--tensorboard and --eval-every above 0",
       [](Config config) { return config.tensorboard() && config.eval_every() > 0; }},
      {"--outlier-action", "--outlier-z above 0",
       [](Config config) { return config.outlier_z() > 0; }},
  };
  return *uses;
}

}  // namespace

std::vector<std::string> UnusedOptions(const proto::TrainConfig& given,
                                       const proto::TrainConfig& config, TaskKind task) {
  std::map<std::string, std::string> values, defaults;
  for (auto& [flag, text] : ConfigTexts(given)) values[flag] = text;
  for (auto& [flag, text] : ConfigTexts(proto::TrainConfig())) defaults[flag] = text;
  std::vector<std::string> texts;
  for (const Use& use : Uses()) {
    if (values[use.flag] == defaults[use.flag] || use.is_used(config)) continue;
    texts.push_back(std::string(use.flag) + " has no effect: it is for " + use.purpose);
  }
  constexpr char kPictures[] = "--log-pictures";
  if (values[kPictures] != defaults[kPictures] && task != TaskKind::kSegmentation) {
    texts.push_back(std::string(kPictures) + " has no effect: it is for class maps");
  }
  return texts;
}

}  // namespace shardmill
