// `shardmill sample`: writes a small synthetic data set to try everything with.
#pragma once

namespace shardmill {

class CommandLine;

void AddSampleCommand(CommandLine* commands);

}  // namespace shardmill
