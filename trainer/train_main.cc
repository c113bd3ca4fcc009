// The program `shardmill-train`.
#include "reader/base/version.h"
#include "reader/console/command_line.h"
#include "trainer/train_command.h"

int main(int argc, char** argv) {
  shardmill::CommandLine commands("shardmill-train", "Trains networks on packed shards.",
                                  std::string(shardmill::kVersion));
  shardmill::AddTrainCommand(&commands);
  shardmill::AddEvaluateCommand(&commands);
  commands.SetDefault("train");
  return commands.Run(argc, argv);
}
