// One block of a sound shard is overwritten from its header on, and the header's checksum is made
// right so that the checks behind it are reached. Whatever the block says then, reading and
// verifying must give errors and no more.
//
// Input: u8 choice of the golden shard, then the bytes to write over its first block.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/checksum.h"
#include "reader/block_format.h"
#include "reader/shard_reader.h"
#include "reader/verify.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/read_all.h"
#include "tests/golden/golden_sets.h"
#include "tests/reader/shard_testing.h"

using namespace shardmill;                  // NOLINT: a program of few functions
using namespace shardmill::testing_shards;  // NOLINT

namespace {

struct Base {
  std::string bytes;
  uint64_t block_offset = 0;
  uint64_t block_bytes = 0;
};

std::vector<Base> MakeBases() {
  std::vector<Base> bases;
  for (const GoldenSet& set : GoldenSets()) {
    const std::string folder = EmptyFolder("block_fuzz_base");
    SHARDMILL_CHECK(WriteGoldenSet(set, folder).ok());
    const std::string path = folder + "/" + GoldenShardName(set, 0);
    const auto reader = ShardReader::Open(path, ChecksumPolicy::kOff);
    SHARDMILL_CHECK(reader.ok());
    bases.push_back({ReadBytes(path), (*reader)->block(0).offset, (*reader)->block(0).bytes});
  }
  return bases;
}

void SealHeader(const Base& base, std::string* shard) {
  const uint64_t header_bytes = GetU64(base.block_offset + 56, *shard);
  if (header_bytes < kBlockHeaderFixedBytes || header_bytes > base.block_bytes) return;
  const char* header = shard->data() + base.block_offset;
  SetU64(base.block_offset + kBlockChecksumOffset,
         Checksum64WithZeroedField(header, header_bytes, kBlockChecksumOffset), shard);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<Base> bases = MakeBases();
  static const int descriptor = memfd_create("block_fuzz", MFD_CLOEXEC);
  SHARDMILL_CHECK(descriptor >= 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(descriptor);

  FuzzInput input(data, size);
  const Base& base = bases[input.Take<uint8_t>() % bases.size()];
  std::string shard = base.bytes;
  const std::string block = input.TakeRest();
  const uint64_t bytes = std::min<uint64_t>(block.size(), base.block_bytes);
  shard.replace(base.block_offset, bytes, block, 0, bytes);
  SealHeader(base, &shard);
  SHARDMILL_CHECK(ftruncate(descriptor, static_cast<off_t>(shard.size())) == 0);
  SHARDMILL_CHECK(pwrite(descriptor, shard.data(), shard.size(), 0) ==
                  static_cast<ssize_t>(shard.size()));
  for (const ChecksumPolicy policy : {ChecksumPolicy::kFirstTouch, ChecksumPolicy::kOff}) {
    const auto reader = ShardReader::Open(path, policy);
    if (reader.ok()) ReadAll(**reader);
  }
  Verify(path, {}).ok();
  return 0;
}
