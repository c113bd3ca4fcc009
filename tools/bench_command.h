// The command `shardmill bench`.
#pragma once

namespace shardmill {

class CommandLine;

void AddBenchCommand(CommandLine* commands);

}  // namespace shardmill
