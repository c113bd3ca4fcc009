#include "tools/pack/inputs/npy_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/tools/pack/inputs/npy_builder.h"

namespace shardmill {
namespace {

std::string Bytes(const std::vector<int>& values) { return {values.begin(), values.end()}; }

Result<NpyHeader> Parse(const std::string& file) { return ParseNpyHeader(file, file.size()); }

template <typename T>
std::vector<T> Values(const std::string& file) {
  const auto header = Parse(file);
  EXPECT_TRUE(header.ok()) << header.status().ToString();
  if (!header.ok()) return {};
  std::vector<uint8_t> out;
  CopyNpyArray(*header, file, &out);
  std::vector<T> values(out.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), out.data(), out.size());
  return values;
}

TEST(NpyFile, HeadersOfAllVersionsAreRead) {
  for (const int version : {1, 2, 3}) {
    const std::string file =
        NpyFileOf(NpyDictionary("<f4", false, {2, 3}), std::string(24, 0), version);
    const auto header = Parse(file);
    ASSERT_TRUE(header.ok()) << header.status().ToString();
    EXPECT_EQ(header->shape, (std::vector<uint32_t>{2, 3}));
    EXPECT_EQ(header->dtype(), DType::kF32);
    EXPECT_EQ(header->data_offset + 24, file.size());
  }
  EXPECT_EQ(Parse(NpyFileOf(NpyDictionary("<f4", false, {}), "abcd"))->shape,
            std::vector<uint32_t>{1});
  EXPECT_EQ(Parse(NpyFileOf(NpyDictionary("|u1", false, {0, 7}), ""))->elements(), 0u);
  // As Python 2 and other programs write it.
  EXPECT_EQ(
      Parse(NpyFileOf("{\"shape\":(2L,),\"descr\":\"|b1\",\"fortran_order\":False}", "ab"))->shape,
      std::vector<uint32_t>{2});
}

TEST(NpyFile, EveryTypeBecomesOneOfShards) {
  const auto one = [](const std::string& descr, const std::vector<int>& bytes) {
    return NpyFileOf(NpyDictionary(descr, false, {1}), Bytes(bytes));
  };
  EXPECT_EQ(Values<uint8_t>(one("|b1", {5})), std::vector<uint8_t>{1});
  EXPECT_EQ(Values<int32_t>(one("|i1", {0xFE})), std::vector<int32_t>{-2});
  EXPECT_EQ(Values<uint8_t>(one("|u1", {0xFE})), std::vector<uint8_t>{254});
  EXPECT_EQ(Values<int32_t>(one("<i2", {0xFE, 0xFF})), std::vector<int32_t>{-2});
  EXPECT_EQ(Values<int32_t>(one(">i2", {0xFF, 0xFE})), std::vector<int32_t>{-2});
  EXPECT_EQ(Values<uint16_t>(one(">u2", {1, 2})), std::vector<uint16_t>{258});
  EXPECT_EQ(Values<int32_t>(one(">i4", {1, 2, 3, 4})), std::vector<int32_t>{0x01020304});
  EXPECT_EQ(Values<int64_t>(one("<u4", {0xFF, 0xFF, 0xFF, 0xFF})),
            std::vector<int64_t>{4294967295});
  EXPECT_EQ(Values<int64_t>(one(">i8", {0x80, 0, 0, 0, 0, 0, 0, 1})),
            std::vector<int64_t>{INT64_MIN + 1});
  EXPECT_EQ(Values<uint16_t>(one(">f2", {0x3C, 0x01})), std::vector<uint16_t>{0x3C01});
  EXPECT_EQ(Values<float>(one(">f4", {0x40, 0x49, 0x0F, 0xDB})), std::vector<float>{3.14159274f});
  EXPECT_EQ(Values<float>(one("<f8", {0, 0, 0, 0, 0, 0, 0xF8, 0xBF})), std::vector<float>{-1.5f});
}

TEST(NpyFile, FortranOrderIsTransposed) {
  // Element (i, j, k) of [2, 3, 4] is 100 i + 10 j + k.
  std::vector<int> in_file;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) in_file.push_back(100 * i + 10 * j + k);
    }
  }
  const auto values =
      Values<uint8_t>(NpyFileOf(NpyDictionary("|u1", true, {2, 3, 4}), Bytes(in_file)));
  ASSERT_EQ(values.size(), 24u);
  for (size_t at = 0; at < 24; ++at) {
    EXPECT_EQ(values[at], 100 * (at / 12) + 10 * (at / 4 % 3) + at % 4);
  }
}

TEST(NpyFile, DamageAndOtherThingsAreRefused) {
  const std::string sound = NpyFloats({2, 2}, {1, 2, 3, 4});
  ASSERT_TRUE(Parse(sound).ok());
  const auto code = [](const std::string& file) { return Parse(file).status().code(); };
  EXPECT_EQ(code(sound.substr(0, sound.size() - 1)), StatusCode::kDataLoss);
  EXPECT_EQ(code(sound + "x"), StatusCode::kDataLoss);
  EXPECT_EQ(code(""), StatusCode::kDataLoss);
  EXPECT_EQ(code("no array"), StatusCode::kDataLoss);
  EXPECT_EQ(code(NpyFileOf(NpyDictionary("<f4", false, {1}), "abcd", 4)), StatusCode::kDataLoss);
  for (const char* text :
       {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<u8', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': 'f4', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2000000000, 2000000000, 4), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1", "{'descr': '<f4'}", "{", "[]",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } + more",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}"}) {
    EXPECT_EQ(code(NpyFileOf(text, "abcd")), StatusCode::kDataLoss) << text;
  }
}

TEST(NpyFile, EveryCutOfTheHeaderIsSafe) {
  const std::string file = NpyFloats({2, 2}, {1, 2, 3, 4});
  for (size_t bytes = 0; bytes < 128; ++bytes) {
    EXPECT_FALSE(Parse(file.substr(0, bytes)).ok()) << bytes;
    const Status status =
        ParseNpyHeader(std::string_view(file).substr(0, bytes), file.size()).status();
    EXPECT_FALSE(status.ok()) << bytes;
  }
}

}  // namespace
}  // namespace shardmill
