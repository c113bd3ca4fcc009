// The bytes of the fixed structures, by the offsets that proto/FORMAT.md gives.
#include "reader/shard_format.h"

#include <gtest/gtest.h>

#include <string>

#include "reader/base/checksum.h"
#include "reader/block_format.h"
#include "tests/reader/shard_testing.h"

namespace shardmill {
namespace {

using namespace testing_shards;  // NOLINT: the fixture's verbs

uint32_t GetU32(uint64_t offset, const std::string& bytes) {
  return static_cast<uint32_t>(GetU64(offset, bytes));
}

std::string Text(const Digest& digest) { return std::string(digest.begin(), digest.end()); }

TEST(ShardFormat, SuperblockHasItsFieldsWhereTheDocumentSays) {
  Superblock superblock;
  superblock.compat_flags = 5;
  superblock.incompat_flags = 6;
  superblock.dataset_id = Digest128("id");
  superblock.shard_number = 7;
  superblock.shard_count = 9;
  superblock.field_count = 2;
  superblock.records_per_block = 11;
  superblock.first_input = 12;
  superblock.end_input = 13;
  superblock.schema_bytes = 5000;
  superblock.schema_checksum = 15;
  const std::string bytes = EncodeSuperblock(superblock);
  ASSERT_EQ(bytes.size(), 4096u);
  EXPECT_EQ(bytes.substr(0, 8), "\x89\x53\x4D\x49\x4C\x4C\x0D\x0A");
  EXPECT_EQ(GetU32(8, bytes), 1u);
  EXPECT_EQ(GetU32(12, bytes), 4096u);
  std::string zeroed = bytes;
  SetU64(16, 0, &zeroed);
  EXPECT_EQ(GetU64(16, bytes), Checksum64(zeroed.data(), zeroed.size()));
  EXPECT_EQ(GetU64(24, bytes), 5u);
  EXPECT_EQ(GetU64(32, bytes), 6u);
  EXPECT_EQ(bytes.substr(40, 16), Text(superblock.dataset_id));
  EXPECT_EQ(GetU32(56, bytes), 7u);
  EXPECT_EQ(GetU32(60, bytes), 9u);
  EXPECT_EQ(GetU32(64, bytes), 2u);
  EXPECT_EQ(GetU32(68, bytes), 11u);
  EXPECT_EQ(GetU64(72, bytes), 12u);
  EXPECT_EQ(GetU64(80, bytes), 13u);
  EXPECT_EQ(GetU64(88, bytes), 4096u);
  EXPECT_EQ(GetU64(96, bytes), 5000u);
  EXPECT_EQ(GetU64(104, bytes), 15u);
  EXPECT_EQ(superblock.first_block_offset(), 4096u + 8192u);
}

TEST(ShardFormat, FooterHasItsFieldsWhereTheDocumentSays) {
  Footer footer;
  footer.record_count = 5;
  footer.blocks = {{8192, 16384, 0, 3}, {24576, 12288, 3, 2}};
  footer.summary = "summary";
  const std::string bytes = EncodeFooter(footer);
  ASSERT_EQ(bytes.size(), 4096u);
  EXPECT_EQ(bytes.substr(0, 8), "SMFOOTER");
  EXPECT_EQ(GetU64(16, bytes), 64u + 64u + 7u);
  EXPECT_EQ(GetU64(24, bytes), 2u);
  EXPECT_EQ(GetU64(32, bytes), 5u);
  EXPECT_EQ(GetU64(40, bytes), 128u);
  EXPECT_EQ(GetU64(48, bytes), 7u);
  EXPECT_EQ(GetU64(96, bytes), 24576u);
  EXPECT_EQ(GetU64(104, bytes), 12288u);
  EXPECT_EQ(GetU64(112, bytes), 3u);
  EXPECT_EQ(GetU32(120, bytes), 2u);
  EXPECT_EQ(bytes.substr(128, 8), std::string("summary\0", 8));
  const auto decoded = DecodeFooter(bytes);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->summary, "summary");
  EXPECT_TRUE(CheckBlockTable(*decoded, 8192, 36864, 3).ok());
  EXPECT_FALSE(CheckBlockTable(*decoded, 8192, 36864, 4).ok());
  EXPECT_FALSE(CheckBlockTable(*decoded, 8192, 40960, 3).ok());
  EXPECT_FALSE(CheckBlockTable(*decoded, 4096, 36864, 3).ok());
  EXPECT_FALSE(CheckBlockTable(*decoded, 40960, 36864, 3).ok());
}

TEST(ShardFormat, PostscriptHasItsFieldsWhereTheDocumentSays) {
  Postscript postscript;
  postscript.dataset_id = Digest128("id");
  postscript.shard_number = 7;
  postscript.shard_count = 9;
  postscript.footer_offset = 8192;
  postscript.footer_bytes = 4096;
  postscript.footer_checksum = 10;
  postscript.record_count = 0;
  postscript.file_bytes = 16384;
  postscript.digest = Digest128("digest");
  const std::string bytes = EncodePostscript(postscript);
  ASSERT_EQ(bytes.size(), 4096u);
  EXPECT_EQ(bytes.substr(0, 8), "SMPOSTSC");
  EXPECT_EQ(GetU32(16, bytes), 1u);
  EXPECT_EQ(bytes.substr(24, 16), Text(postscript.dataset_id));
  EXPECT_EQ(GetU32(40, bytes), 7u);
  EXPECT_EQ(GetU32(44, bytes), 9u);
  EXPECT_EQ(GetU64(48, bytes), 8192u);
  EXPECT_EQ(GetU64(56, bytes), 4096u);
  EXPECT_EQ(GetU64(64, bytes), 10u);
  EXPECT_EQ(GetU64(80, bytes), 16384u);
  EXPECT_EQ(bytes.substr(88, 16), Text(postscript.digest));
  EXPECT_TRUE(DecodePostscript(bytes, 16384).ok());
  EXPECT_FALSE(DecodePostscript(bytes, 20480).ok());
}

TEST(ShardFormat, DigestIsThatOfTheChecksumsInFileOrder) {
  std::string sums(8 * 5, '\0');
  for (uint64_t i = 0; i < 5; ++i) SetU64(8 * i, 100 + i, &sums);
  ShardDigest digest(100, 101);
  digest.AddBlock(102);
  digest.AddBlock(103);
  EXPECT_EQ(digest.Finish(104), Digest128(sums));
}

// Reads a written shard with nothing but the document: the recipe of its section 8.
TEST(ShardFormat, DocumentAloneIsEnoughToFindARecord) {
  const std::string folder = EmptyFolder("shard_format_test");
  const RecordSchema schema = AllKindsOfFields();
  const auto result = WriteTestShard(folder, PlanOf("train", 0, 1, 5), schema, 12);
  ASSERT_TRUE(result.ok());
  const std::string shard = ReadBytes(folder + "/" + result->file);
  const uint64_t footer = GetU64(shard.size() - 4096 + 48, shard);
  const uint64_t record = 8;
  const uint64_t records_per_block = GetU32(68, shard);
  const uint64_t i = record % records_per_block;
  const uint64_t block = GetU64(footer + 64 + 32 * (record / records_per_block), shard);
  EXPECT_EQ(shard.substr(block, 8), "SMBLOCK1");
  const uint64_t n = GetU32(block + 48, shard);
  const uint64_t fields = GetU32(block + 52, shard);
  ASSERT_EQ(fields, schema.fields.size());
  for (uint64_t f = 0; f < fields; ++f) {
    const FieldSpec& spec = schema.fields[f];
    const uint64_t region = block + GetU64(block + 128 + 32 * f + 8, shard);
    EXPECT_EQ(region % 4096, 0u);
    uint64_t begin = region + i * spec.TensorBytes(DimsOf(spec, 0, record)).value();
    uint64_t end = begin + spec.TensorBytes(DimsOf(spec, 0, record)).value();
    if (!spec.IsDense()) {
      const uint64_t k = static_cast<uint64_t>(spec.VariableDimCount());
      const uint64_t table = (8 * (n + 1) + 4 * n * k + 7) / 8 * 8;
      begin = region + table + GetU64(region + 8 * i, shard);
      end = region + table + GetU64(region + 8 * (i + 1), shard);
    }
    EXPECT_EQ(Checksum64(shard.data() + begin, end - begin),
              GetU64(block + 128 + 32 * fields + 8 * (f * n + i), shard))
        << spec.name;
    if (spec.codec != Codec::kRaw) continue;
    const std::vector<uint8_t> tensor = TensorOf(spec, 0, record);
    EXPECT_EQ(shard.substr(begin, end - begin), std::string(tensor.begin(), tensor.end()));
  }
}

}  // namespace
}  // namespace shardmill
