// The program `shardmill`: each of its commands is one file.
#include <cstdio>

#include "reader/base/interrupt.h"
#include "reader/base/launch.h"
#include "reader/base/version.h"
#include "reader/console/command_line.h"
#include "tools/bench_command.h"
#include "tools/dump_command.h"
#include "tools/pack_command.h"
#include "tools/sample_command.h"
#include "tools/verify_command.h"

int main(int argc, char** argv) {
  shardmill::CommandLine commands(
      "shardmill", "Packs image data sets into shards that training reads at memory speed.",
      std::string(shardmill::kVersion));
  const shardmill::Result<shardmill::Launch> launch = shardmill::DetectLaunch();
  if (launch.ok() && launch->rank > 0) commands.SetSilent();
  shardmill::AddPackCommand(&commands);
  shardmill::AddDumpCommand(&commands);
  shardmill::AddVerifyCommand(&commands);
  shardmill::AddBenchCommand(&commands);
  shardmill::AddSampleCommand(&commands);
  shardmill::Status status = shardmill::InstallInterruptHandlers();
  if (!status.ok()) {
    std::fprintf(stderr, "shardmill: error: %s\n", status.message().c_str());
    return shardmill::ExitCode(status);
  }
  return commands.Run(argc, argv);
}
