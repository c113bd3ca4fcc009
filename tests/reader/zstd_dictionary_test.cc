#include "reader/zstd_dictionary.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reader/codec.h"

namespace shardmill {
namespace {

// Small records that share a vocabulary and little else.
std::vector<std::string> Samples(unsigned seed, unsigned count) {
  const std::string words[] = {"sidewalk ", "building ", "pedestrian ", "bicyclist ", "pavement "};
  std::vector<std::string> samples(count);
  unsigned state = seed;
  for (std::string& sample : samples) {
    while (sample.size() < 100) {
      state = state * 1664525 + 1013904223;
      sample += words[state >> 16 & 3] + std::to_string(state >> 24);
    }
    sample.resize(100);
  }
  return samples;
}

class ZstdDictionaryField : public testing::Test {
 protected:
  void SetUp() override {
    auto trained = TrainZstdDictionary(Samples(1, 3000));
    ASSERT_TRUE(trained.ok()) << trained.status().ToString();
    spec_.dictionary = *trained;
  }
  Status Decode(const FieldSpec& spec, const std::string& stored, std::string* out) {
    out->assign(100, 'x');
    return decoder_.Decode(spec, stored.data(), stored.size(), out->data(), out->size());
  }
  FieldSpec spec_ = {"text", DType::kU8, {100}, Codec::kZstdDictionary};
  FieldEncoder encoder_;
  FieldDecoder decoder_;
};

TEST_F(ZstdDictionaryField, SmallRecordsComeBackFromFewerBytes) {
  FieldSpec plain = spec_;
  plain.codec = Codec::kZstd;
  plain.dictionary = nullptr;
  size_t with = 0, without = 0;
  std::string out;
  for (const std::string& sample : Samples(2, 50)) {
    // In turn: neither frame may depend on what came before.
    const auto field = encoder_.Encode(spec_, sample.data(), sample.size());
    const auto plain_field = encoder_.Encode(plain, sample.data(), sample.size());
    ASSERT_TRUE(field.ok() && plain_field.ok());
    EXPECT_EQ(field->bytes, FieldEncoder().Encode(spec_, sample.data(), 100)->bytes);
    EXPECT_EQ(plain_field->bytes, FieldEncoder().Encode(plain, sample.data(), 100)->bytes);
    with += field->bytes.size();
    without += plain_field->bytes.size();
    ASSERT_TRUE(Decode(spec_, field->bytes, &out).ok());
    EXPECT_EQ(out, sample);
    ASSERT_TRUE(Decode(plain, plain_field->bytes, &out).ok());
    EXPECT_EQ(out, sample);
  }
  EXPECT_LT(with, without * 3 / 4);
}

TEST_F(ZstdDictionaryField, TrainingIsRepeatableAndBounded) {
  EXPECT_EQ((*TrainZstdDictionary(Samples(1, 3000)))->bytes, spec_.dictionary->bytes);
  EXPECT_LE(spec_.dictionary->bytes.size(), 3000u);
  EXPECT_EQ(TrainZstdDictionary({}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(TrainZstdDictionary(Samples(1, 2)).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(ZstdDictionaryField, FramesOfAnotherDictionaryAreDataLoss) {
  const std::string sample = Samples(3, 1)[0];
  FieldSpec other = spec_;
  other.dictionary = *TrainZstdDictionary(Samples(9, 3000));
  ASSERT_NE(other.dictionary->bytes, spec_.dictionary->bytes);
  FieldSpec plain = spec_;
  plain.codec = Codec::kZstd;
  plain.dictionary = nullptr;
  const std::string stored = encoder_.Encode(spec_, sample.data(), 100)->bytes;
  std::string out;
  EXPECT_EQ(Decode(other, stored, &out).code(), StatusCode::kDataLoss);
  EXPECT_EQ(Decode(plain, stored, &out).code(), StatusCode::kDataLoss);
  const std::string without = encoder_.Encode(plain, sample.data(), 100)->bytes;
  EXPECT_EQ(Decode(spec_, without, &out).code(), StatusCode::kDataLoss);
  EXPECT_FALSE(CheckStart(other, {}, stored.data(), stored.size()).ok());
  EXPECT_TRUE(CheckStart(spec_, {}, stored.data(), stored.size()).ok());
}

TEST_F(ZstdDictionaryField, EveryCutAndEveryFlippedBitIsSafe) {
  const std::string sample = Samples(4, 1)[0];
  const std::string stored = encoder_.Encode(spec_, sample.data(), 100)->bytes;
  std::string out;
  for (size_t bytes = 0; bytes < stored.size(); ++bytes) {
    EXPECT_EQ(Decode(spec_, stored.substr(0, bytes), &out).code(), StatusCode::kDataLoss) << bytes;
  }
  for (size_t bit = 0; bit < 8 * stored.size(); ++bit) {
    std::string damaged = stored;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const StatusCode code = Decode(spec_, damaged, &out).code();
    EXPECT_TRUE(code == StatusCode::kOk || code == StatusCode::kDataLoss) << bit;
  }
}

}  // namespace
}  // namespace shardmill
