// The program `shardmill-train`.
#include <string>

#include "reader/base/launch.h"
#include "reader/base/version.h"
#include "reader/console/command_line.h"
#include "trainer/comm/rank_guard.h"
#include "trainer/comm/run_job.h"
#include "trainer/commands/train_command.h"

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
  const auto launch = DetectLaunch();
  if (launch.ok() && launch->rank > 0) commands.SetSilent();
  // One rank alone may be the one with a mistake, while the others wait for it.
  if (launch.ok() && launch->size > 1) {
    commands.SetShareUsageError(
        [](const Status& error) { return RunJob({}, error, [](Communicator*) { return 0; }); });
  }
  return commands.Run(argc, argv);
}

}  // namespace
}  // namespace shardmill

int main(int argc, char** argv) {
  return shardmill::RunGuarded(argc, argv, [&] { return shardmill::Run(argc, argv); });
}
