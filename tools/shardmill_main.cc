// The program `shardmill`: its commands are in one file each.
#include "reader/base/version.h"
#include "reader/console/command_line.h"

int main(int argc, char** argv) {
  shardmill::CommandLine commands(
      "shardmill", "Packs image data sets into shards that training reads at memory speed.",
      std::string(shardmill::kVersion));
  return commands.Run(argc, argv);
}
