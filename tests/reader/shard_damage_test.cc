// Every byte of a shard counts: whatever is flipped or cut is found by verification, and reading
// either fails or gives what was written, but never crashes and never gives wrong data.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "proto/schema.pb.h"
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

// Places of the parts of the small shard.
constexpr uint64_t kBlock = 8192;
uint64_t FooterOffset(const std::string& shard) { return GetU64(shard.size() - 4096 + 48, shard); }

// image raw, label zstd, and a field with two variable dimensions.
RecordSchema SmallSchema() {
  RecordSchema schema = ImageAndLabel();
  schema.fields.push_back({"points", DType::kF32, {kVariableDim, 2, kVariableDim}});
  return schema;
}

class ShardDamage : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = EmptyFolder(std::string("damage_") +
                          testing::UnitTest::GetInstance()->current_test_info()->name());
    Use(SmallSchema(), 2, 3);
  }
  void TearDown() override { ::close(descriptor_); }

  // Works on a shard with so many records.
  void Use(const RecordSchema& schema, uint32_t records_per_block, uint64_t records) {
    const auto result =
        WriteTestShard(folder_, PlanOf("train", 0, 1, records_per_block), schema, records);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    path_ = folder_ + "/" + result->file;
    sound_ = ReadBytes(path_);
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(descriptor_, 0);
  }

  void SetByte(uint64_t offset, char value) const {
    ASSERT_EQ(::pwrite(descriptor_, &value, 1, static_cast<off_t>(offset)), 1);
  }
  void Write(const std::string& bytes) const {
    ASSERT_EQ(::ftruncate(descriptor_, 0), 0);
    ASSERT_EQ(::pwrite(descriptor_, bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }

  bool Found() const {
    const auto report = Verify(path_, {});
    return report.ok() && !report->sound();
  }

  // Opens and reads everything that can be read. Damage may show or not (padding is for verify
  // alone), but what is read well must be what was written, and errors name the shard.
  void ReadSafely(ChecksumPolicy policy) const {
    const auto reader = ShardReader::Open(path_, policy);
    const Status status = reader.ok() ? ReadEverything(**reader) : reader.status();
    if (status.ok()) return;
    EXPECT_NE(status.message().find(path_), std::string::npos) << status.ToString();
    EXPECT_NE(status.code(), StatusCode::kInternal) << status.ToString();
  }
  // The same without checksums: anything but a crash.
  void ReadUnchecked() const {
    const auto reader = ShardReader::Open(path_, ChecksumPolicy::kOff);
    if (reader.ok()) (void)ReadEverything(**reader).ok();
  }

  // The digest too, so that only the meaning of a changed number can give it away.
  void SealDigest(std::string* bytes) const {
    std::vector<uint64_t> offsets;
    const uint64_t footer = GetU64(sound_.size() - 4096 + 48, sound_);
    for (uint64_t i = 0; i < GetU64(footer + 24, sound_); ++i) {
      offsets.push_back(GetU64(footer + 64 + 32 * i, sound_));
    }
    ResealDigest(offsets, bytes);
  }

  void ExpectFoundAndSafe(const std::string& bytes, const std::string& what) const {
    Write(bytes);
    EXPECT_TRUE(Found()) << what;
    const auto reader = ShardReader::Open(path_, ChecksumPolicy::kFirstTouch);
    if (reader.ok()) (void)ReadEverything(**reader).ok();
    ReadUnchecked();
  }

  std::string folder_;
  std::string path_;
  std::string sound_;
  int descriptor_ = -1;
};

TEST_F(ShardDamage, SoundShardIsSound) {
  EXPECT_FALSE(Found());
  ReadSafely(ChecksumPolicy::kAlways);
}

TEST_F(ShardDamage, EveryFlippedByteIsFoundAndSafe) {
  Use(SmallSchema(), 4, 3);
  for (uint64_t i = 0; i < sound_.size(); ++i) {
    // Another bit at each place, and all of them now and then.
    const int mask = i % 9 == 8 ? 0xFF : 1 << (i % 9);
    SetByte(i, static_cast<char>(sound_[i] ^ mask));
    EXPECT_TRUE(Found()) << "byte " << i;
    // Reading does not look at padding, so that a sample of it will do.
    if (sound_[i] != 0 || i % 16 == 0) {
      ReadSafely(ChecksumPolicy::kFirstTouch);
      ReadUnchecked();
    }
    SetByte(i, sound_[i]);
  }
  EXPECT_FALSE(Found());
}

TEST_F(ShardDamage, EveryTruncationIsFoundAndSafe) {
  Use(SmallSchema(), 4, 3);
  for (uint64_t bytes = sound_.size(); bytes-- > 0;) {
    ASSERT_EQ(::ftruncate(descriptor_, static_cast<off_t>(bytes)), 0);
    EXPECT_TRUE(Found()) << "length " << bytes;
    EXPECT_FALSE(ShardReader::Open(path_, ChecksumPolicy::kOff).ok()) << "length " << bytes;
  }
}

TEST_F(ShardDamage, RandomDamageIsFoundAndSafe) {
  Use(SmallSchema(), 4, 9);
  std::mt19937_64 random(5);
  for (int round = 0; round < 400; ++round) {
    std::string bytes = sound_;
    for (uint64_t changes = 1 + random() % 6; changes > 0; --changes) {
      const size_t length =
          std::min<size_t>(1 + random() % (round % 2 == 0 ? 16 : 6000), bytes.size());
      const size_t at = random() % (bytes.size() - length + 1);
      const uint64_t kind = random() % 3;
      const size_t from = random() % (bytes.size() - length + 1);
      const std::string source = sound_.substr(from, length);
      for (size_t i = 0; i < length; ++i) {
        bytes[at + i] = kind == 0 ? static_cast<char>(random()) : kind == 1 ? '\0' : source[i];
      }
    }
    if (bytes == sound_) continue;
    Write(bytes);
    EXPECT_TRUE(Found()) << "round " << round;
    ReadSafely(ChecksumPolicy::kFirstTouch);
    ReadUnchecked();
  }
}

// The same numbers, written by a machine of the other byte order that also sums correctly.
TEST_F(ShardDamage, OtherByteOrderIsRefused) {
  const auto reverse = [](std::string* bytes, uint64_t offset, size_t width) {
    std::reverse(bytes->begin() + static_cast<std::ptrdiff_t>(offset),
                 bytes->begin() + static_cast<std::ptrdiff_t>(offset + width));
  };
  std::string superblock = sound_;
  for (const uint64_t offset : {8, 12, 56, 60, 64, 68}) reverse(&superblock, offset, 4);
  for (const uint64_t offset : {72, 80, 88, 96, 104}) reverse(&superblock, offset, 8);
  ResealSuperblock(&superblock);
  std::string footer = sound_;
  const uint64_t at = FooterOffset(sound_);
  for (uint64_t i = 16; i < 64 + 2 * 32; i += 8) reverse(&footer, at + i, 8);
  ResealFooter(&footer);
  std::string block = sound_;
  for (const uint64_t offset : {32, 36, 48, 52}) reverse(&block, kBlock + offset, 4);
  const uint64_t header_bytes = GetU64(kBlock + 56, sound_);
  for (const uint64_t offset : {40, 56, 64, 72, 80, 88}) reverse(&block, kBlock + offset, 8);
  SetU64(kBlock + 8, Checksum64WithZeroedField(block.data() + kBlock, header_bytes, 8), &block);
  SealDigest(&block);
  for (const std::string& bytes : {superblock, footer, block}) ExpectFoundAndSafe(bytes, "order");
}

TEST_F(ShardDamage, CutAtEveryPageAndLengthenedIsFound) {
  const auto result = WriteTestShard(folder_, PlanOf("large", 0, 1, 20), SmallSchema(), 1200);
  ASSERT_TRUE(result.ok());
  path_ = folder_ + "/" + result->file;
  ASSERT_GT(result->bytes, 1u << 20);
  fs::resize_file(path_, result->bytes + 4096);
  EXPECT_TRUE(Found());
  EXPECT_FALSE(ShardReader::Open(path_, ChecksumPolicy::kOff).ok());
  for (uint64_t bytes = result->bytes; bytes > 0;) {
    bytes -= 4096;
    fs::resize_file(path_, bytes);
    EXPECT_TRUE(Found()) << "length " << bytes;
    EXPECT_FALSE(ShardReader::Open(path_, ChecksumPolicy::kOff).ok()) << "length " << bytes;
  }
}

const uint64_t kAbsurd[] = {0,
                            1,
                            2,
                            4095,
                            4096,
                            uint64_t{1} << 31,
                            (uint64_t{1} << 32) - 1,
                            uint64_t{1} << 32,
                            uint64_t{1} << 62,
                            uint64_t{1} << 63,
                            std::numeric_limits<uint64_t>::max()};

// Offsets and dimensions of a field of block 0.
struct Table {
  uint64_t entry = 0;  // of the field, in the block header
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

class AbsurdNumbers : public ShardDamage {
 protected:
  Table FindTable(uint64_t field, uint64_t records, uint64_t variable_dims) const {
    const uint64_t entry = kBlock + 128 + 32 * field;
    return {entry, kBlock + GetU64(entry + 8, sound_), RegionTableBytes(records, variable_dims)};
  }
  void SealTable(const Table& table, std::string* bytes) const {
    SetU64(table.entry + 24, Checksum64(bytes->data() + table.offset, table.bytes), bytes);
    ResealBlock(kBlock, bytes);
    SealDigest(bytes);
  }

  // Puts absurd numbers, 4 and 8 bytes wide, at each multiple of 4 in [begin, end) and makes the
  // checksums right again.
  template <typename Reseal>
  void TryAll(uint64_t begin, uint64_t end, Reseal reseal) {
    for (uint64_t offset = begin; offset < end; offset += 4) {
      for (const uint64_t value : kAbsurd) {
        for (const bool is_wide : {false, true}) {
          if (is_wide && offset % 8 != 0) continue;
          std::string bytes = sound_;
          if (is_wide) {
            SetU64(offset, value, &bytes);
          } else {
            SetU32(offset, static_cast<uint32_t>(value), &bytes);
          }
          reseal(&bytes);
          if (bytes == sound_) continue;
          ExpectFoundAndSafe(
              bytes, "offset " + std::to_string(offset) + " value " + std::to_string(value));
        }
      }
    }
  }
};

TEST_F(AbsurdNumbers, InTheSuperblock) {
  const auto reseal = [this](std::string* bytes) {
    ResealSuperblock(bytes);
    SealDigest(bytes);
  };
  // Compatible flags and the plan range mean nothing to a reader: the digest guards them.
  TryAll(8, 24, reseal);
  TryAll(24, 32, ResealSuperblock);
  TryAll(32, 72, reseal);
  TryAll(72, 88, ResealSuperblock);
  TryAll(88, 128, reseal);
}

TEST_F(AbsurdNumbers, InTheFooter) {
  const uint64_t footer = FooterOffset(sound_);
  TryAll(footer + 8, footer + 64 + 2 * 32, [this](std::string* bytes) {
    ResealFooter(bytes);
    SealDigest(bytes);
  });
}

TEST_F(AbsurdNumbers, InThePostscript) {
  TryAll(sound_.size() - 4096 + 8, sound_.size() - 4096 + 112, ResealPostscript);
}

TEST_F(AbsurdNumbers, InABlockHeader) {
  TryAll(kBlock + 8, kBlock + 128 + 3 * 32, [this](std::string* bytes) {
    // Where the header itself says how long it is, only a possible length can be sealed.
    const uint64_t header_bytes = GetU64(kBlock + 56, *bytes);
    if (header_bytes >= 16 && header_bytes <= bytes->size() - kBlock) ResealBlock(kBlock, bytes);
    SealDigest(bytes);
  });
}

TEST_F(AbsurdNumbers, InOffsets) {
  for (const uint32_t field : {1u, 2u}) {
    const Table table = FindTable(field, 2, field == 2 ? 2 : 0);
    TryAll(table.offset, table.offset + 24, [&](std::string* bytes) { SealTable(table, bytes); });
  }
}

TEST_F(AbsurdNumbers, InDimensions) {
  RecordSchema schema;
  schema.fields = {{"points", DType::kF32, {kVariableDim, 2, kVariableDim}}};
  Use(schema, 4, 4);
  const Table table = FindTable(0, 4, 2);
  for (uint64_t record = 0; record < 4; ++record) {
    // Another way to be empty is a sound record.
    if (TensorOf(schema.fields[0], 0, record).empty()) continue;
    const uint64_t dims = table.offset + VariableDimsOffset(4, 2, record);
    TryAll(dims, dims + 8, [&](std::string* bytes) { SealTable(table, bytes); });
  }
}

TEST_F(AbsurdNumbers, InOffsetsOfTheMetadata) {
  const uint64_t region = kBlock + GetU64(kBlock + 72, sound_);
  const uint64_t region_bytes = GetU64(kBlock + 80, sound_);
  TryAll(region, region + 24, [&](std::string* bytes) {
    SetU64(kBlock + 88, Checksum64(bytes->data() + region, region_bytes), bytes);
    ResealBlock(kBlock, bytes);
    SealDigest(bytes);
  });
}

TEST_F(ShardDamage, AbsurdSchemasAreRefusedWhenOpening) {
  proto::ShardSchema sound;
  ASSERT_TRUE(sound.ParseFromArray(sound_.data() + 4096, static_cast<int>(GetU64(96, sound_))));
  const auto refused = [&](const proto::ShardSchema& schema) {
    const std::string text = schema.SerializeAsString();
    std::string bytes = sound_;
    bytes.replace(4096, 4096, std::string(4096, '\0'));
    bytes.replace(4096, text.size(), text);
    SetU64(96, text.size(), &bytes);
    ResealSchema(&bytes);
    SealDigest(&bytes);
    ExpectFoundAndSafe(bytes, schema.ShortDebugString());
    const Status status = ShardReader::Open(path_, ChecksumPolicy::kOff).status();
    EXPECT_NE(status.message().find(path_), std::string::npos) << status.ToString();
  };
  proto::ShardSchema schema = sound;
  schema.mutable_fields(0)->set_shape(0, int64_t{1} << 62);
  refused(schema);
  schema = sound;
  schema.mutable_fields(0)->set_shape(0, 0);
  refused(schema);
  schema = sound;
  for (int i = 0; i < 100; ++i) schema.mutable_fields(2)->add_shape(-1);
  refused(schema);
  schema = sound;
  schema.mutable_fields(0)->set_codec(static_cast<proto::Codec>(99));
  refused(schema);
  schema = sound;
  schema.mutable_fields(0)->set_codec(proto::ZSTD_DICTIONARY);
  refused(schema);
  schema = sound;
  schema.mutable_fields(0)->set_dtype(static_cast<proto::DType>(99));
  refused(schema);
  schema = sound;
  schema.mutable_fields()->RemoveLast();
  refused(schema);
  schema = sound;
  schema.clear_split();
  refused(schema);
}

// A schema that is sound but not the one that the blocks were written with.
TEST_F(ShardDamage, AnotherSoundSchemaDoesNotFitTheBlocks) {
  proto::ShardSchema sound;
  ASSERT_TRUE(sound.ParseFromArray(sound_.data() + 4096, static_cast<int>(GetU64(96, sound_))));
  for (int change = 0; change < 5; ++change) {
    proto::ShardSchema schema = sound;
    if (change == 0) schema.mutable_fields(0)->set_shape(0, 8);
    if (change == 1) schema.mutable_fields(1)->set_shape(0, 8);
    if (change == 2) schema.mutable_fields(1)->set_shape(0, -1);
    if (change == 3) schema.mutable_fields(0)->set_codec(proto::ZSTD);
    if (change == 4) schema.mutable_fields(0)->set_codec(proto::JPEG);
    const std::string text = schema.SerializeAsString();
    std::string bytes = sound_;
    bytes.replace(4096, 4096, std::string(4096, '\0'));
    bytes.replace(4096, text.size(), text);
    SetU64(96, text.size(), &bytes);
    ResealSchema(&bytes);
    SealDigest(&bytes);
    ExpectFoundAndSafe(bytes, "change " + std::to_string(change));
  }
}

// Each structure, resealed, with one byte of its reserved or padding bytes set.
TEST_F(ShardDamage, PaddingUnderARightChecksumMustBeZero) {
  const uint64_t footer = FooterOffset(sound_);
  const uint64_t end = sound_.size();
  const auto resealed = [&](uint64_t offset, auto reseal) {
    std::string bytes = sound_;
    bytes[offset] = 1;
    reseal(&bytes);
    SealDigest(&bytes);
    ASSERT_TRUE(bytes != sound_);
    ExpectFoundAndSafe(bytes, "offset " + std::to_string(offset));
  };
  for (const uint64_t offset : {uint64_t{112}, uint64_t{4095}}) {
    resealed(offset, ResealSuperblock);
  }
  resealed(8191, ResealSchema);
  const auto reseal_block = [](std::string* bytes) { ResealBlock(kBlock, bytes); };
  for (const uint64_t offset : {96, 127, 128 + 4, 4095}) resealed(kBlock + offset, reseal_block);
  for (const uint64_t offset : {footer + 56, footer + 64 + 28, footer + 4095}) {
    resealed(offset, ResealFooter);
  }
  for (const uint64_t offset : {end - 4096 + 20, end - 4096 + 104, end - 1}) {
    resealed(offset, ResealPostscript);
  }
}

TEST_F(ShardDamage, PaddingOfATableMustBeZero) {
  RecordSchema schema;
  schema.fields = {{"sequence", DType::kF32, {kVariableDim, 2}}};
  Use(schema, 3, 3);
  // Four offsets and three dimensions: the last 4 of 48 bytes are padding.
  const uint64_t entry = kBlock + 128;
  const uint64_t region = kBlock + GetU64(entry + 8, sound_);
  std::string bytes = sound_;
  bytes[region + 47] = 1;
  SetU64(entry + 24, Checksum64(bytes.data() + region, 48), &bytes);
  ResealBlock(kBlock, &bytes);
  SealDigest(&bytes);
  ExpectFoundAndSafe(bytes, "padding of the table");
}

TEST_F(ShardDamage, UnknownFeaturesAreRefusedOrIgnored) {
  std::string bytes = sound_;
  SetU64(32, 1, &bytes);
  ResealSuperblock(&bytes);
  Write(bytes);
  EXPECT_EQ(ShardReader::Open(path_, ChecksumPolicy::kOff).status().code(),
            StatusCode::kInvalidArgument);
  bytes = sound_;
  SetU32(8, 2, &bytes);
  ResealSuperblock(&bytes);
  Write(bytes);
  EXPECT_EQ(ShardReader::Open(path_, ChecksumPolicy::kOff).status().code(),
            StatusCode::kInvalidArgument);
  // A compatible feature may use the reserved bytes of the superblock.
  bytes = sound_;
  SetU64(24, 1, &bytes);
  SetU64(112, 7, &bytes);
  ResealSuperblock(&bytes);
  Write(bytes);
  ReadSafely(ChecksumPolicy::kAlways);
  EXPECT_TRUE(ShardReader::Open(path_, ChecksumPolicy::kOff).ok());
}

TEST_F(ShardDamage, SparseGiantsAreRefusedAtOnce) {
  for (const int exponent : {31, 32, 42}) {
    const uint64_t bytes = uint64_t{1} << exponent;
    Write(sound_);
    // The disk may not support files of this size.
    if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) continue;
    EXPECT_FALSE(ShardReader::Open(path_, ChecksumPolicy::kOff).ok());
    // With a postscript that fits the size and points at a footer of holes.
    std::string postscript = sound_.substr(sound_.size() - 4096);
    SetU64(48, bytes - 4096 - (uint64_t{1} << 20), &postscript);
    SetU64(56, uint64_t{1} << 20, &postscript);
    SetU64(80, bytes, &postscript);
    ResealPostscript(&postscript);
    ASSERT_EQ(::pwrite(descriptor_, postscript.data(), 4096, static_cast<off_t>(bytes - 4096)),
              4096);
    EXPECT_FALSE(ShardReader::Open(path_, ChecksumPolicy::kOff).ok());
    EXPECT_TRUE(Found());
  }
}

}  // namespace
}  // namespace shardmill
