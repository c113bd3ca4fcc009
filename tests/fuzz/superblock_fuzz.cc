// Superblock and postscript: any bytes, with the checksum made right so that the checks behind it
// are reached. What decodes must encode to the same bytes; only behind a compatible flag that this
// build does not know may a superblock hold more than it can write again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "reader/shard_format.h"
#include "tests/reader/shard_testing.h"

using namespace shardmill;  // NOLINT: a program of one function

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  bytes.resize(kSuperblockBytes, '\0');
  DecodeSuperblock(bytes).ok();
  DecodePostscript(bytes, size).ok();

  testing_shards::ResealSuperblock(&bytes);
  if (const Result<Superblock> superblock = DecodeSuperblock(bytes); superblock.ok()) {
    SHARDMILL_CHECK(superblock->compat_flags != 0 || EncodeSuperblock(*superblock) == bytes);
  }
  testing_shards::ResealPostscript(&bytes);
  uint64_t file_bytes = 0;
  if (size >= 88) file_bytes = testing_shards::GetU64(80, bytes);
  if (const Result<Postscript> postscript = DecodePostscript(bytes, file_bytes); postscript.ok()) {
    SHARDMILL_CHECK(EncodePostscript(*postscript) == bytes);
  }
  return 0;
}
