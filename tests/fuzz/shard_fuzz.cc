// A whole shard: a sound one is changed at places that the input chooses, its checksums are made
// right again so that the checks behind them are reached, and everything in it is read.
//
// Input: u8 choice of the parts to re-seal, u8 choice of the base shard, then any number of edits
// {u8 kind, u16 offset, u32 or u64 value}; offsets count in steps of 4 bytes from the start or, in
// the upper half, from the end.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reader/base/checksum.h"
#include "reader/shard_format.h"
#include "reader/shard_reader.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/read_all.h"
#include "tests/golden/golden_sets.h"
#include "tests/reader/shard_testing.h"

using namespace shardmill;                  // NOLINT: a program of few functions
using namespace shardmill::testing_shards;  // NOLINT

namespace {

std::string MakeBase(const RecordSchema& schema) {
  const std::string folder = EmptyFolder("shard_fuzz_base");
  const Result<ShardResult> shard = WriteTestShard(folder, PlanOf("train", 0, 1, 2), schema, 5);
  SHARDMILL_CHECK(shard.ok());
  return ReadBytes(folder + "/" + shard->file);
}

// Two shards of the tests, and the first of each golden set: all codecs, types and encodings.
std::vector<std::string> MakeBases() {
  std::vector<std::string> bases = {MakeBase(ImageAndLabel()), MakeBase(AllKindsOfFields())};
  for (const GoldenSet& set : GoldenSets()) {
    const std::string folder = EmptyFolder("shard_fuzz_base");
    SHARDMILL_CHECK(WriteGoldenSet(set, folder).ok());
    bases.push_back(ReadBytes(folder + "/" + GoldenShardName(set, 0)));
  }
  return bases;
}

const std::vector<std::string>& Bases() {
  static const std::vector<std::string> bases = MakeBases();
  return bases;
}

void Edit(FuzzInput* input, std::string* shard) {
  const uint8_t kind = input->Take<uint8_t>();
  uint64_t offset = uint64_t{input->Take<uint16_t>()} * 4;
  if (offset >= 4 * 32768) offset = shard->size() - (offset - 4 * 32768) - 8;
  if (offset > shard->size() || shard->size() - offset < 8) return;
  if (kind % 2 == 0) {
    SetU32(offset, input->Take<uint32_t>(), shard);
  } else {
    SetU64(offset, input->Take<uint64_t>(), shard);
  }
}

// Makes the checksum of [offset, offset + claimed) right when that is inside the shard; a claim
// that leaves it must be refused before the checksum is looked at.
void Seal(uint64_t offset, uint64_t claimed, uint64_t checksum_offset, std::string* shard) {
  if (offset > shard->size() || claimed > shard->size() - offset) return;
  if (claimed < checksum_offset + 8) return;
  SetU64(offset + checksum_offset, 0, shard);
  SetU64(offset + checksum_offset, Checksum64(shard->data() + offset, claimed), shard);
}

void Reseal(uint8_t parts, const std::vector<uint64_t>& blocks, std::string* shard) {
  const uint64_t postscript = shard->size() - kPostscriptBytes;
  const uint64_t footer = GetU64(postscript + 48, *shard);
  if (parts & 1) {
    for (const uint64_t block : blocks) {
      Seal(block, GetU64(block + 56, *shard), kBlockChecksumOffset, shard);
    }
  }
  if (parts & 2) {
    const uint64_t schema_bytes = GetU64(96, *shard);
    if (schema_bytes < shard->size() - kSchemaOffset) {
      const uint64_t padded = PaddedBytes(schema_bytes);
      SetU64(104, Checksum64(shard->data() + kSchemaOffset, padded), shard);
    }
    ResealSuperblock(shard);
  }
  if (parts & 4) {
    Seal(footer, GetU64(postscript + 56, *shard), kFooterChecksumOffset, shard);
    if (footer < postscript) SetU64(postscript + 64, GetU64(footer + 8, *shard), shard);
  }
  if (parts & 8) ResealPostscript(shard);
}

// The blocks of a sound shard: edits change bytes, not where the blocks begin.
std::vector<uint64_t> BlockOffsets(const std::string& path) {
  const auto reader = ShardReader::Open(path, ChecksumPolicy::kOff);
  SHARDMILL_CHECK(reader.ok());
  std::vector<uint64_t> offsets;
  for (uint32_t i = 0; i < (*reader)->block_count(); ++i) {
    offsets.push_back((*reader)->block(i).offset);
  }
  return offsets;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int descriptor = memfd_create("shard_fuzz", MFD_CLOEXEC);
  SHARDMILL_CHECK(descriptor >= 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  const auto store = [](const std::string& shard) {
    SHARDMILL_CHECK(ftruncate(descriptor, static_cast<off_t>(shard.size())) == 0);
    SHARDMILL_CHECK(pwrite(descriptor, shard.data(), shard.size(), 0) ==
                    static_cast<ssize_t>(shard.size()));
  };

  FuzzInput input(data, size);
  const uint8_t parts = input.Take<uint8_t>();
  const uint8_t choice = input.Take<uint8_t>();
  const size_t number = choice % Bases().size();
  static std::vector<std::vector<uint64_t>> blocks(Bases().size());
  if (blocks[number].empty()) {
    store(Bases()[number]);
    blocks[number] = BlockOffsets(path);
  }
  std::string shard = Bases()[number];
  while (!input.empty()) Edit(&input, &shard);
  Reseal(parts, blocks[number], &shard);
  store(shard);
  for (const ChecksumPolicy policy : {ChecksumPolicy::kFirstTouch, ChecksumPolicy::kOff}) {
    const auto reader = ShardReader::Open(path, policy);
    if (!reader.ok()) continue;
    ReadEverything(**reader).ok();
    ReadAll(**reader);
  }
  return 0;
}
