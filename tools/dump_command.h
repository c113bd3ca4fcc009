// `shardmill dump`: shows what is inside a data set or a shard.
#pragma once

namespace shardmill {

class CommandLine;

void AddDumpCommand(CommandLine* commands);

}  // namespace shardmill
