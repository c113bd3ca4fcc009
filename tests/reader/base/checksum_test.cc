#include "reader/base/checksum.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace shardmill {
namespace {

// Published values of XXH3 with seed 0 (xxHash's own sanity checks use the empty input too).
TEST(Checksum, EmptyInputHasThePublishedValues) {
  EXPECT_EQ(Checksum64("", 0), 0x2D06800538D394C2u);
  EXPECT_EQ(DigestToHex(Digest128("")), "99aa06d3014798d86001c324468d497f");
}

TEST(Checksum, EachByteOfALongInputCounts) {
  std::string data(5000, 'a');
  const uint64_t before = Checksum64(data.data(), data.size());
  for (const size_t i : {size_t{0}, size_t{239}, size_t{240}, size_t{1024}, data.size() - 1}) {
    data[i] ^= 1;
    EXPECT_NE(Checksum64(data.data(), data.size()), before) << i;
    data[i] ^= 1;
  }
  EXPECT_EQ(Checksum64(data.data(), data.size()), before);
}

TEST(Checksum, ZeroedFieldEqualsThePlainSumOfTheZeroedBytes) {
  for (const size_t bytes : {size_t{8}, size_t{16}, size_t{300}, size_t{4096}, size_t{100000}}) {
    std::string data(bytes, 'x');
    for (const size_t field : {size_t{0}, bytes / 2 - 4, bytes - 8}) {
      std::string zeroed = data;
      std::memset(&zeroed[field], 0, 8);
      EXPECT_EQ(Checksum64WithZeroedField(data.data(), bytes, field),
                Checksum64(zeroed.data(), bytes))
          << bytes << " " << field;
    }
  }
}

TEST(Digest, StreamOfPiecesEqualsTheWhole) {
  const std::string data(70000, 'q');
  DigestStream stream;
  stream.Update(data.data(), 1);
  stream.Update(data.data() + 1, 40000);
  stream.Update(data.data() + 40001, data.size() - 40001);
  EXPECT_EQ(stream.Value(), Digest128(data));
}

TEST(Digest, HexGoesBothWaysAndRefusesEverythingElse) {
  const Digest digest = Digest128("abc");
  EXPECT_EQ(DigestFromHex(DigestToHex(digest)), digest);
  EXPECT_FALSE(DigestFromHex("").has_value());
  EXPECT_FALSE(DigestFromHex("99AA06d3014798d86001c324468d497f").has_value());
  EXPECT_FALSE(DigestFromHex("99aa06d3014798d86001c324468d497").has_value());
  EXPECT_FALSE(DigestFromHex("99aa06d3014798d86001c324468d497g").has_value());
}

}  // namespace
}  // namespace shardmill
