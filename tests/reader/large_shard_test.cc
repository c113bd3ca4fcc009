// Shards with numbers that no ordinary one has: more than 4 GiB, millions of records in a block.
// Both are mostly holes, which take no room on the disk.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "proto/record_meta.pb.h"
#include "reader/base/checksum.h"
#include "reader/block_format.h"
#include "reader/shard_format.h"
#include "reader/shard_reader.h"
#include "reader/verify.h"
#include "tests/reader/shard_testing.h"

namespace shardmill {
namespace {

using namespace testing_shards;  // NOLINT: the fixture's verbs
namespace fs = std::filesystem;

constexpr uint64_t kFirstBlock = 8192;

class LargeShard : public testing::Test {
 protected:
  void TearDown() override {
    if (descriptor_ >= 0) ::close(descriptor_);
    fs::remove(path_);
  }

  // A shard without records, to go on from.
  void Begin(const RecordSchema& schema, uint32_t records_per_block) {
    const std::string folder = EmptyFolder("large_shard");
    const auto result = WriteTestShard(folder, PlanOf("train", 0, 1, records_per_block), schema, 0);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    path_ = folder + "/" + result->file;
    start_ = ReadBytes(path_).substr(0, kFirstBlock);
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(descriptor_, 0);
    ASSERT_EQ(::ftruncate(descriptor_, kFirstBlock), 0);
    end_ = kFirstBlock;
  }

  bool WriteAt(uint64_t offset, const std::string& bytes) const {
    return ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset)) ==
           static_cast<ssize_t>(bytes.size());
  }

  // A block of one dense field whose tensors are holes, but for the last byte of the last record.
  // False: the file system has no files of that size.
  bool AddBlock(uint32_t records, uint64_t record_bytes, std::vector<uint64_t> sums,
                char last_byte) {
    BlockHeader header;
    header.dataset_id = PlanOf("train", 0, 1, 1).dataset_id;
    header.split_sum = SplitSum("train");
    header.block_number = static_cast<uint32_t>(footer_.blocks.size());
    header.first_record = footer_.record_count;
    header.records = records;
    header.fields = {{static_cast<uint32_t>(Codec::kRaw), 0, records * record_bytes, 0}};
    std::string meta(MetaTableBytes(records), '\0');
    for (uint32_t i = 0; i < records; ++i) {
      proto::RecordMeta message;
      message.set_key(KeyOf("train", 0, header.first_record + i));
      meta += message.SerializeAsString();
      SetU64(8 * (uint64_t{i} + 1), meta.size() - MetaTableBytes(records), &meta);
    }
    header.meta_bytes = meta.size();
    header.meta_checksum = Checksum64(meta.data(), meta.size());
    LayOutBlock(&header);
    const std::string encoded = EncodeBlockHeader(header, sums);
    sums_.push_back(GetU64(kBlockChecksumOffset, encoded));
    const uint64_t heap_end = end_ + header.fields[0].offset + header.fields[0].bytes;
    footer_.blocks.push_back({end_, header.block_bytes, header.first_record, records});
    footer_.record_count += records;
    const uint64_t offset = end_;
    end_ += header.block_bytes;
    return WriteAt(offset, encoded) && WriteAt(heap_end - 1, std::string(1, last_byte)) &&
           WriteAt(offset + header.meta_offset, meta) &&
           ::ftruncate(descriptor_, static_cast<off_t>(end_)) == 0;
  }

  bool Finish() {
    ShardDigest digest(GetU64(kSuperblockChecksumOffset, start_), GetU64(104, start_));
    for (const uint64_t sum : sums_) digest.AddBlock(sum);
    const std::string footer = EncodeFooter(footer_);
    Postscript postscript;
    postscript.dataset_id = PlanOf("train", 0, 1, 1).dataset_id;
    postscript.footer_offset = end_;
    postscript.footer_bytes = footer.size();
    postscript.footer_checksum = GetU64(kFooterChecksumOffset, footer);
    postscript.record_count = footer_.record_count;
    postscript.file_bytes = end_ + footer.size() + kPostscriptBytes;
    postscript.digest = digest.Finish(postscript.footer_checksum);
    return WriteAt(end_, footer + EncodePostscript(postscript));
  }

  std::string path_;
  std::string start_;  // superblock and schema
  int descriptor_ = -1;
  uint64_t end_ = 0;
  Footer footer_;
  std::vector<uint64_t> sums_;  // of the block headers
};

// Offsets of blocks and of records beyond 2^32.
TEST_F(LargeShard, ReadsBehindFourGigabytes) {
  constexpr uint64_t kRecordBytes = uint64_t{64} << 20;
  constexpr uint32_t kPerBlock = 66;
  RecordSchema schema;
  schema.fields = {{"large", DType::kU8, {static_cast<int64_t>(kRecordBytes)}}};
  ASSERT_NO_FATAL_FAILURE(Begin(schema, kPerBlock));
  std::string record(kRecordBytes, '\0');
  std::vector<uint64_t> sums(kPerBlock, Checksum64(record.data(), record.size()));
  record.back() = 7;
  sums.back() = Checksum64(record.data(), record.size());
  if (!AddBlock(kPerBlock, kRecordBytes, sums, 7) || !AddBlock(1, kRecordBytes, {sums.back()}, 7) ||
      !Finish()) {
    GTEST_SKIP() << "the file system has no files of more than 4 GiB";
  }
  struct stat info;
  ASSERT_EQ(::fstat(descriptor_, &info), 0);
  if (info.st_blocks > (1 << 21)) GTEST_SKIP() << "the file system has no holes";
  ASSERT_GT(info.st_size, int64_t{1} << 32);
  for (const FileAccess access : {FileAccess::kMapped, FileAccess::kPread}) {
    const auto reader = ShardReader::Open(path_, {ChecksumPolicy::kAlways, access});
    ASSERT_TRUE(reader.ok()) << reader.status().ToString();
    ReadScratch scratch;
    for (const uint64_t number : {uint64_t{kPerBlock - 1}, uint64_t{kPerBlock}}) {
      const Status status = (*reader)->Read(number, 0, record.data(), kRecordBytes, &scratch);
      ASSERT_TRUE(status.ok()) << status.ToString();
      EXPECT_EQ(record.back(), 7);
      EXPECT_EQ((*reader)->ReadMeta(number)->key(), KeyOf("train", 0, number));
    }
  }
}

// Every record is damaged, and none is worth its own line any more: memory stays bounded.
TEST_F(LargeShard, MillionsOfDamagedRecordsAreGivenUpTogether) {
  constexpr uint32_t kRecords = 1 << 20;
  RecordSchema schema;
  schema.fields = {{"byte", DType::kU8, {1}}};
  ASSERT_NO_FATAL_FAILURE(Begin(schema, kRecords));
  ASSERT_TRUE(AddBlock(kRecords, 1, std::vector<uint64_t>(kRecords, 12345), 0) && Finish());
  const auto report = Verify(path_, {});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->findings.size(), 100001u);
  EXPECT_EQ(report->findings.back().message,
            "948576 more findings about records of this block are not listed; it is given up");
}

}  // namespace
}  // namespace shardmill
