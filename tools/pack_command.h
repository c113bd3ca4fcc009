// `shardmill pack`: turns a folder of images into shards.
#pragma once

namespace shardmill {

class CommandLine;

void AddPackCommand(CommandLine* commands);

}  // namespace shardmill
