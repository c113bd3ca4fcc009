// The program `shardmill`: each of its commands is one file.
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "reader/base/interrupt.h"
#include "reader/base/launch.h"
#include "reader/base/version.h"
#include "reader/console/command_line.h"
#include "tools/bench_command.h"
#include "tools/dump_command.h"
#include "tools/pack_command.h"
#include "tools/sample_command.h"
#include "tools/verify_command.h"

namespace shardmill {
namespace {

// Ranks that share a mistake would all say the same. So rank 0 says it, and its launcher ends the
// others; one that is still there a while later is alone with its mistake.
Result<int> TellOnce(const Launch& launch, const Status& error) {
  if (launch.rank == 0) return error;
  constexpr std::chrono::milliseconds kLook(20);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (std::chrono::steady_clock::now() < end) {
    if (WasInterrupted()) return ExitCode(error);
    std::this_thread::sleep_for(kLook);
  }
  return error.WithContext("rank " + std::to_string(launch.rank) + " of " +
                           std::to_string(launch.size));
}

}  // namespace
}  // namespace shardmill

int main(int argc, char** argv) {
  shardmill::CommandLine commands(
      "shardmill", "Packs image data sets into shards that training reads at memory speed.",
      std::string(shardmill::kVersion));
  const shardmill::Result<shardmill::Launch> launch = shardmill::DetectLaunch();
  if (launch.ok() && launch->rank > 0) commands.SetSilent();
  if (launch.ok() && launch->size > 1) {
    commands.SetShareUsageError(
        [&launch](const shardmill::Status& error) { return shardmill::TellOnce(*launch, error); });
  }
  commands.SetJsonErrors();
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
