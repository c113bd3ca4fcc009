// TFRecord framing: records of any bytes one behind the other in a file.
//
// A record is u64 length, u32 checksum of these 8 bytes, the bytes, u32 checksum of the bytes; all
// little-endian. The checksum is CRC-32C, turned right by 15 bits, plus 0xA282EAD8. Pure functions
// but for the reader, which is not for concurrent use.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "reader/base/status.h"

namespace shardmill {

uint32_t Crc32c(std::string_view bytes);
uint32_t MaskedCrc32c(std::string_view bytes);

// The record as it stands in a file.
std::string FrameTfRecord(std::string_view payload);

// The next record of a file; nullopt at its end. DataLoss, with `path` in the message, when a
// record is cut or damaged, or longer than `max_bytes`.
Result<std::optional<std::string>> ReadTfRecord(FILE* file, const std::string& path,
                                                uint64_t max_bytes);

}  // namespace shardmill
