// Reads a part of a file once more, past the page cache: tells damage on the disk from damage that
// only the memory of this machine has. Slow; for what was found to be damaged. Part of
// shard_reader.h.
#pragma once

#include <cstdint>
#include <optional>

#include "reader/base/input_file.h"

namespace shardmill {

// The checksum of the range as it is on the disk. Nothing when the file system does not read past
// its cache, or the path names another file meanwhile.
std::optional<uint64_t> ChecksumOnDisk(const InputFile& file, const FileRange& range);

}  // namespace shardmill
