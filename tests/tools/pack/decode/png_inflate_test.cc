#include "tools/pack/decode/png_inflate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/tools/pack/decode/png_builder.h"

namespace shardmill {
namespace {

std::string MakeBytes(size_t size) {
  std::mt19937 random(5);
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i / 50 % 2 ? random() : i / 7);
  return bytes;
}

Result<std::string> Inflate(PngInflater* inflater, const std::string& stream, size_t bytes) {
  ASSIGN_OR_RETURN(const uint8_t* unpacked, inflater->Inflate({stream}, bytes));
  return std::string(reinterpret_cast<const char*>(unpacked), bytes);
}

void ExpectDataLoss(const std::string& stream, size_t bytes, const std::string& words) {
  PngInflater inflater;
  const auto unpacked = Inflate(&inflater, stream, bytes);
  EXPECT_EQ(unpacked.status().code(), StatusCode::kDataLoss) << unpacked.status().ToString();
  EXPECT_THAT(unpacked.status().message(), testing::HasSubstr(words));
}

TEST(PngInflater, AllLevelsAndSizesComeBackFromOneObject) {
  PngInflater inflater;
  for (const int level : {0, 1, 6, 9}) {
    for (const size_t size : {1, 2, 100, 70'000, 300'000, 5}) {
      const std::string bytes = MakeBytes(size);
      const auto unpacked = Inflate(&inflater, ZlibStream(bytes, level), size);
      ASSERT_TRUE(unpacked.ok()) << unpacked.status().ToString();
      EXPECT_EQ(*unpacked, bytes);
    }
  }
}

TEST(PngInflater, PiecesOfAnySizeAreOneStream) {
  const std::string bytes = MakeBytes(3000);
  const std::string stream = ZlibStream(bytes, 6);
  for (const size_t piece_size : {1, 2, 3, 1000}) {
    std::vector<std::string_view> pieces = {""};
    for (size_t i = 0; i < stream.size(); i += piece_size) {
      pieces.push_back(std::string_view(stream).substr(i, piece_size));
      pieces.push_back("");
    }
    PngInflater inflater;
    const auto unpacked = inflater.Inflate(pieces, bytes.size());
    ASSERT_TRUE(unpacked.ok()) << unpacked.status().ToString();
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(*unpacked), bytes.size()), bytes);
  }
}

TEST(PngInflater, WrongAmountOfDataIsDataLoss) {
  const std::string stream = ZlibStream(MakeBytes(1000), 6);
  ExpectDataLoss(stream, 999, "more than the 999 bytes");
  ExpectDataLoss(stream, 1, "more than the 1 bytes");
  ExpectDataLoss(stream, 1001, "less than the 1001 bytes");
  ExpectDataLoss(stream, 5000, "less than the 5000 bytes");
}

TEST(PngInflater, SizeThatNoStreamSoShortCanReachIsRefusedBeforeMemoryIsTaken) {
  ExpectDataLoss(ZlibStream("abc", 6), PngInflater::kMaxBytes, "less than");
}

TEST(PngInflater, BytesBehindTheStreamAreDataLoss) {
  const std::string stream = ZlibStream(MakeBytes(1000), 6);
  ExpectDataLoss(stream + "x", 1000, "");
  ExpectDataLoss(stream + "12345678", 1000, "8 bytes of pixel data behind the end");
}

TEST(PngInflater, EveryCutIsDataLoss) {
  const std::string stream = ZlibStream(MakeBytes(300), 6);
  for (size_t size = 0; size < stream.size(); ++size) {
    ExpectDataLoss(std::string(stream.data(), size), 300, "");
  }
}

TEST(PngInflater, EveryBitFlipIsDataLossOrTheSameBytes) {
  const std::string bytes = MakeBytes(300);
  for (const int level : {0, 6}) {
    const std::string stream = ZlibStream(bytes, level);
    PngInflater inflater;
    for (size_t i = 0; i < stream.size() * 8; ++i) {
      std::string flipped = stream;
      flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ 1 << i % 8);
      const auto unpacked = Inflate(&inflater, flipped, bytes.size());
      if (unpacked.ok()) {
        EXPECT_EQ(*unpacked, bytes) << "bit " << i;
      } else {
        EXPECT_EQ(unpacked.status().code(), StatusCode::kDataLoss);
      }
    }
  }
}

}  // namespace
}  // namespace shardmill
