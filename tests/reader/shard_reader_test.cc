#include "reader/shard_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "proto/record_meta.pb.h"
#include "tests/reader/shard_testing.h"

namespace shardmill {
namespace {

using namespace testing_shards;  // NOLINT: the fixture's verbs
namespace fs = std::filesystem;

class ShardReaderTest : public testing::Test {
 protected:
  void Use(const RecordSchema& schema, uint64_t records) {
    folder_ = EmptyFolder("shard_reader_test");
    const auto result = WriteTestShard(folder_, PlanOf("train", 0, 1, 4), schema, records);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    path_ = folder_ + "/" + result->file;
  }
  std::unique_ptr<ShardReader> Open(ChecksumPolicy policy) const {
    auto reader = ShardReader::Open(path_, policy);
    EXPECT_TRUE(reader.ok()) << reader.status().ToString();
    return std::move(reader).value();
  }
  // Changes one byte of the image of a record, in place: readers that are open see it.
  void FlipImage(uint64_t record) const {
    const auto block = Open(ChecksumPolicy::kOff)->block(static_cast<uint32_t>(record / 4));
    std::string bytes = ReadBytes(path_);
    const size_t offset = block.offset + 4096 + record % 4 * kImageBytes + 11;
    FILE* file = std::fopen(path_.c_str(), "r+b");
    std::fseek(file, static_cast<long>(offset), SEEK_SET);
    std::fputc(bytes[offset] ^ 1, file);
    std::fclose(file);
  }
  Status ReadImage(const ShardReader& reader, uint64_t record) {
    return reader.Read(record, 0, image_, sizeof image_, &scratch_);
  }

  static constexpr uint64_t kImageBytes = 4 * 6 * 3;
  std::string folder_;
  std::string path_;
  uint8_t image_[kImageBytes];
  ReadScratch scratch_;
};

TEST_F(ShardReaderTest, BlockOfAnotherSplitIsRefusedAtItsFirstUse) {
  Use(ImageAndLabel(), 6);
  const auto val = WriteTestShard(folder_, PlanOf("val", 0, 1, 4), ImageAndLabel(), 6);
  ASSERT_TRUE(val.ok()) << val.status().ToString();
  // The same data set, shard number, block number and size: only the split tells them apart.
  const auto block = Open(ChecksumPolicy::kOff)->block(0);
  std::string bytes = ReadBytes(path_);
  bytes.replace(block.offset, block.bytes, ReadBytes(folder_ + "/" + val->file), block.offset,
                block.bytes);
  WriteBytes(path_, bytes);
  const auto reader = Open(ChecksumPolicy::kOff);
  const Status status = ReadImage(*reader, 0);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.ToString().find("another split"), std::string::npos) << status.ToString();
  EXPECT_TRUE(ReadImage(*reader, 5).ok());
}

TEST_F(ShardReaderTest, ChecksumPolicySaysWhenDamageIsSeen) {
  Use(ImageAndLabel(), 6);
  const auto off = Open(ChecksumPolicy::kOff);
  const auto first_touch = Open(ChecksumPolicy::kFirstTouch);
  const auto always = Open(ChecksumPolicy::kAlways);
  ASSERT_TRUE(ReadImage(*first_touch, 5).ok());
  ASSERT_TRUE(ReadImage(*always, 5).ok());
  FlipImage(5);
  EXPECT_TRUE(ReadImage(*off, 5).ok());
  EXPECT_TRUE(ReadImage(*first_touch, 5).ok());  // verified before
  EXPECT_EQ(ReadImage(*always, 5).code(), StatusCode::kDataLoss);
  EXPECT_EQ(ReadImage(*Open(ChecksumPolicy::kFirstTouch), 5).code(), StatusCode::kDataLoss);
}

TEST_F(ShardReaderTest, DamageNamesShardBlockRecordAndField) {
  Use(ImageAndLabel(), 6);
  FlipImage(5);
  const Status status = ReadImage(*Open(ChecksumPolicy::kFirstTouch), 5);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find(path_ + ": block 1: record 5: field image: "), std::string::npos)
      << status.ToString();
  const auto reader = Open(ChecksumPolicy::kFirstTouch);
  const uint64_t offset = reader->StoredRange(5, 0)->offset;
  const std::string place = "their checksum differs; 72 bytes at offset " + std::to_string(offset);
  EXPECT_EQ(status.message().substr(status.message().size() - place.size()), place);
  // The others are not affected.
  EXPECT_TRUE(ReadImage(*reader, 4).ok());
}

TEST_F(ShardReaderTest, DamageThatOnlyMemoryHasIsToldFromThatOfTheDisk) {
  Use(ImageAndLabel(), 6);
  const auto reader = Open(ChecksumPolicy::kFirstTouch);
  StoredPlace place;
  ASSERT_TRUE(reader->Find(5, 0, &place).ok());
  ASSERT_TRUE(reader->CopyStored(place, image_, &scratch_).ok());
  image_[7] ^= 1;
  const Status status = reader->CheckStored(place, image_);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  const int direct = ::open(path_.c_str(), O_RDONLY | O_DIRECT);
  if (direct < 0) GTEST_SKIP() << "the file system of " << path_ << " always reads from its cache";
  ::close(direct);
  EXPECT_NE(status.message().find("sound on the disk"), std::string::npos) << status.message();
}

TEST_F(ShardReaderTest, BadArgumentsAreTheCallersErrors) {
  Use(ImageAndLabel(), 6);
  const auto reader = Open(ChecksumPolicy::kFirstTouch);
  EXPECT_EQ(ReadImage(*reader, 6).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(reader->Read(0, 2, image_, kImageBytes, &scratch_).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(reader->Read(0, -1, image_, kImageBytes, &scratch_).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(reader->Read(0, 0, image_, kImageBytes - 1, &scratch_).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(reader->ReadMeta(6).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(reader->VariableDims(0, 9).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(reader->StoredBytes(9, 0).status().code(), StatusCode::kInvalidArgument);
  reader->Prefetch(1000);
}

TEST_F(ShardReaderTest, StoredBytesAddUpToLessThanTheFile) {
  Use(AllKindsOfFields(), 9);
  const auto reader = Open(ChecksumPolicy::kFirstTouch);
  uint64_t total = 0;
  for (uint64_t record = 0; record < reader->records(); ++record) {
    for (size_t f = 0; f < reader->schema().fields.size(); ++f) {
      const FieldSpec& spec = reader->schema().fields[f];
      const uint64_t stored = reader->StoredBytes(record, static_cast<int>(f)).value();
      const auto dims = reader->VariableDims(record, static_cast<int>(f)).value();
      EXPECT_EQ(dims, DimsOf(spec, 0, record));
      if (spec.codec == Codec::kRaw) {
        EXPECT_EQ(stored, *spec.TensorBytes(dims));
      }
      total += stored;
    }
  }
  EXPECT_LT(total, reader->file_bytes());
}

TEST_F(ShardReaderTest, ManyThreadsReadTheSameBlocksForTheFirstTime) {
  Use(AllKindsOfFields(), 13);
  for (int round = 0; round < 5; ++round) {
    const auto reader = Open(ChecksumPolicy::kFirstTouch);
    std::vector<Status> results(4);
    std::vector<std::thread> threads;
    for (Status& result : results) {
      threads.emplace_back([&reader, &result] { result = ReadEverything(*reader); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Status& result : results) EXPECT_TRUE(result.ok()) << result.ToString();
  }
}

class ShardReaderAccess : public ShardReaderTest, public testing::WithParamInterface<FileAccess> {
 protected:
  std::unique_ptr<ShardReader> OpenAs(ChecksumPolicy policy) const {
    auto reader = ShardReader::Open(path_, {policy, GetParam()});
    EXPECT_TRUE(reader.ok()) << reader.status().ToString();
    return std::move(reader).value();
  }
};

TEST_P(ShardReaderAccess, ReadsEveryKindOfField) {
  Use(AllKindsOfFields(), 13);
  const auto reader = OpenAs(ChecksumPolicy::kFirstTouch);
  StoredPlace place;
  reader->WarmFind(0, 0);
  ASSERT_TRUE(reader->Find(0, 0, &place).ok());
  reader->WarmCopy(place);
  reader->WarmCheck(place);
  for (int pass = 0; pass < 2; ++pass) {
    const Status status = ReadEverything(*reader);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
}

TEST_P(ShardReaderAccess, CutWhileOpenIsAnErrorThatNamesTheShard) {
  Use(ImageAndLabel(), 6);
  const auto reader = OpenAs(ChecksumPolicy::kAlways);
  ASSERT_TRUE(ReadEverything(*reader).ok());
  fs::resize_file(path_, reader->block(1).offset + 4096);
  EXPECT_TRUE(ReadImage(*reader, 3).ok());
  for (int i = 0; i < 2; ++i) {
    const Status status = ReadImage(*reader, 4);
    EXPECT_EQ(status.code(), StatusCode::kIo);
    EXPECT_NE(status.message().find(path_), std::string::npos) << status.ToString();
  }
  uint8_t label[24];
  EXPECT_EQ(reader->Read(4, 1, label, sizeof label, &scratch_).code(), StatusCode::kIo);
  EXPECT_EQ(reader->ReadMeta(4).status().code(), StatusCode::kIo);
  EXPECT_EQ(reader->CheckUnchanged().code(), StatusCode::kIo);
}

TEST_P(ShardReaderAccess, ReplacedWhileOpenIsNoticedAndTheOldOneStaysReadable) {
  Use(ImageAndLabel(), 6);
  const auto reader = OpenAs(ChecksumPolicy::kAlways);
  WriteBytes(path_ + ".new", "another file");
  fs::rename(path_ + ".new", path_);
  const Status status = reader->CheckUnchanged();
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_NE(status.message().find(path_), std::string::npos) << status.ToString();
  EXPECT_TRUE(ReadEverything(*reader).ok());
}

TEST_P(ShardReaderAccess, WrittenInPlaceIsCheckedAgain) {
  Use(ImageAndLabel(), 6);
  // An earlier time, since two writes in one tick of the file system's clock look alike.
  fs::last_write_time(path_, fs::last_write_time(path_) - std::chrono::hours(1));
  const auto reader = OpenAs(ChecksumPolicy::kFirstTouch);
  ASSERT_TRUE(ReadEverything(*reader).ok());
  FlipImage(5);
  EXPECT_TRUE(ReadImage(*reader, 5).ok());
  ASSERT_TRUE(reader->CheckUnchanged().ok());
  EXPECT_TRUE(ReadImage(*reader, 4).ok());
  EXPECT_EQ(ReadImage(*reader, 5).code(), StatusCode::kDataLoss);
}

TEST_P(ShardReaderAccess, BlockHeaderWrittenInPlaceIsNoticed) {
  Use(ImageAndLabel(), 6);
  fs::last_write_time(path_, fs::last_write_time(path_) - std::chrono::hours(1));
  const auto reader = OpenAs(ChecksumPolicy::kFirstTouch);
  ASSERT_TRUE(ReadEverything(*reader).ok());
  // A header that is sound, but another one.
  std::string bytes = ReadBytes(path_);
  const uint64_t block = reader->block(0).offset;
  SetU64(block + 88, GetU64(block + 88, bytes) + 1, &bytes);
  ResealBlock(block, &bytes);
  WriteBytes(path_, bytes);
  ASSERT_TRUE(reader->CheckUnchanged().ok());
  const Status status = ReadImage(*reader, 0);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_NE(status.message().find("changed while"), std::string::npos) << status.ToString();
}

INSTANTIATE_TEST_SUITE_P(Access, ShardReaderAccess,
                         testing::Values(FileAccess::kMapped, FileAccess::kPread),
                         [](const testing::TestParamInfo<FileAccess>& info) {
                           return info.param == FileAccess::kMapped ? "Mapped" : "Pread";
                         });

TEST_F(ShardReaderTest, MissingFileIsNotFoundAndFolderIsNoShard) {
  Use(ImageAndLabel(), 1);
  EXPECT_EQ(ShardReader::Open(path_ + "x", ChecksumPolicy::kOff).status().code(),
            StatusCode::kNotFound);
  EXPECT_EQ(ShardReader::Open(folder_, ChecksumPolicy::kOff).status().code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
