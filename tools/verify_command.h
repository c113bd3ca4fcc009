// `shardmill verify`: proves that a data set or a shard is intact, or lists all damage.
#pragma once

namespace shardmill {

class CommandLine;

void AddVerifyCommand(CommandLine* commands);

}  // namespace shardmill
