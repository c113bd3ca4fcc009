// The program `shardmill-train`.
#include <string>

#include "reader/base/launch.h"
#include "reader/base/version.h"
#include "reader/console/command_line.h"
#include "trainer/comm/rank_guard.h"
#include "trainer/train_command.h"

namespace shardmill {
namespace {

int Run(int argc, char** argv) {
  CommandLine commands("shardmill-train", "Trains networks on packed shards.",
                       std::string(kVersion));
  AddTrainCommand(&commands);
  AddEvaluateCommand(&commands);
  AddPredictCommand(&commands);
  AddExportCommand(&commands);
  AddModelCommand(&commands);
  AddPlanCommand(&commands);
  commands.SetDefault("train");
  // All ranks were started with the same words: one of them tells what is wrong with them.
  const auto launch = DetectLaunch();
  if (launch.ok() && launch->rank > 0) commands.SetSilent();
  return commands.Run(argc, argv);
}

}  // namespace
}  // namespace shardmill

int main(int argc, char** argv) {
  return shardmill::RunGuarded(argc, argv, [&] { return shardmill::Run(argc, argv); });
}
