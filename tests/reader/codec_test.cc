#include "reader/codec.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <string>
#include <vector>

#include "reader/base/checksum.h"

namespace shardmill {
namespace {

FieldSpec Spec(Codec codec) { return {"label", DType::kU8, {100, 10}, codec}; }

std::string Tensor() {
  std::string tensor(1000, '\0');
  for (size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<char>(i / 37 % 5);
  return tensor;
}

std::string ZstdFrame(const std::string& content) {
  std::string frame(ZSTD_compressBound(content.size()), '\0');
  frame.resize(ZSTD_compress(frame.data(), frame.size(), content.data(), content.size(), 3));
  return frame;
}

TEST(Codec, RawAndZstdComeBack) {
  for (const Codec codec : {Codec::kRaw, Codec::kZstd}) {
    FieldEncoder encoder;
    FieldDecoder decoder;
    const std::string tensor = Tensor();
    // Twice: the contexts are used again.
    for (int i = 0; i < 2; ++i) {
      const auto field = encoder.Encode(Spec(codec), tensor.data(), tensor.size());
      ASSERT_TRUE(field.ok()) << field.status().ToString();
      EXPECT_EQ(field->checksum, Checksum64(field->bytes.data(), field->bytes.size()));
      std::string out(tensor.size(), 'x');
      const Status status = decoder.Decode(Spec(codec), field->bytes.data(), field->bytes.size(),
                                           out.data(), out.size());
      EXPECT_TRUE(status.ok()) << status.ToString();
      EXPECT_EQ(out, tensor);
      if (codec == Codec::kZstd) {
        EXPECT_LT(field->bytes.size(), tensor.size() / 4);
      }
    }
  }
}

TEST(Codec, OwnedTensorIsEncodedAsAnyOther) {
  for (const Codec codec : {Codec::kRaw, Codec::kZstd}) {
    FieldEncoder encoder;
    const std::string tensor = Tensor();
    const auto owned = encoder.EncodeOwned(Spec(codec), tensor);
    ASSERT_TRUE(owned.ok()) << owned.status().ToString();
    const auto field = encoder.Encode(Spec(codec), tensor.data(), tensor.size());
    EXPECT_EQ(owned->bytes, field->bytes);
    EXPECT_EQ(owned->checksum, field->checksum);
    EXPECT_EQ(encoder.EncodeOwned(Spec(codec), tensor + "x").status().code(),
              StatusCode::kInvalidArgument);
  }
}

TEST(Codec, EqualTensorsGiveEqualBytesWhateverCameBefore) {
  const std::string tensor = Tensor();
  FieldEncoder fresh;
  FieldEncoder used;
  const std::string other(1000, 'o');
  ASSERT_TRUE(used.Encode(Spec(Codec::kZstd), other.data(), other.size()).ok());
  EXPECT_EQ(fresh.Encode(Spec(Codec::kZstd), tensor.data(), tensor.size())->bytes,
            used.Encode(Spec(Codec::kZstd), tensor.data(), tensor.size())->bytes);
}

TEST(Codec, EncoderRefusesWrongSizes) {
  FieldEncoder encoder;
  const std::string tensor = Tensor();
  EXPECT_EQ(encoder.Encode(Spec(Codec::kRaw), tensor.data(), 999).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(encoder.Encode(Spec(Codec::kRaw), tensor.data(), 1000, {1}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(encoder.Encode(Spec(Codec::kJpeg), tensor.data(), 1000).status().code(),
            StatusCode::kInvalidArgument);  // no picture
}

class ZstdDecode : public testing::Test {
 protected:
  StatusCode Decode(const std::string& stored, uint64_t tensor_bytes = 1000) {
    // Exactly as much memory as allowed, so that the sanitizer sees a byte too many.
    std::vector<char> out(tensor_bytes);
    const std::vector<char> in(stored.begin(), stored.end());
    return decoder_.Decode(Spec(Codec::kZstd), in.data(), in.size(), out.data(), out.size()).code();
  }
  FieldDecoder decoder_;
};

TEST_F(ZstdDecode, WholeFrameOfTheRightSizeOnly) {
  const std::string frame = ZstdFrame(Tensor());
  EXPECT_EQ(Decode(frame), StatusCode::kOk);
  EXPECT_EQ(Decode(frame, 999), StatusCode::kDataLoss);
  EXPECT_EQ(Decode(frame, 1001), StatusCode::kDataLoss);
  EXPECT_EQ(Decode(frame + '\0'), StatusCode::kDataLoss);
  EXPECT_EQ(Decode(frame + ZstdFrame("")), StatusCode::kDataLoss);
  EXPECT_EQ(Decode(""), StatusCode::kDataLoss);
  EXPECT_EQ(Decode("no frame at all"), StatusCode::kDataLoss);
}

TEST_F(ZstdDecode, SkippableFrameAndFrameWithoutSizeAreRefused) {
  EXPECT_EQ(Decode(std::string("\x50\x2A\x4D\x18\x00\x00\x00\x00", 8), 0), StatusCode::kDataLoss);
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  std::string frame(2000, '\0');
  const std::string tensor = Tensor();
  frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), tensor.data(), tensor.size()));
  ZSTD_freeCCtx(context);
  EXPECT_EQ(Decode(frame), StatusCode::kDataLoss);
}

TEST_F(ZstdDecode, EveryCutAndEveryFlippedBitIsSafe) {
  const std::string frame = ZstdFrame(Tensor());
  for (size_t bytes = 0; bytes < frame.size(); ++bytes) {
    EXPECT_EQ(Decode(frame.substr(0, bytes)), StatusCode::kDataLoss) << bytes;
  }
  for (size_t bit = 0; bit < 8 * frame.size(); ++bit) {
    std::string damaged = frame;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const StatusCode code = Decode(damaged);  // a flipped literal decodes, to other bytes
    EXPECT_TRUE(code == StatusCode::kOk || code == StatusCode::kDataLoss) << bit;
  }
}

TEST(Codec, HigherLevelsOfZstdTakeFewerBytes) {
  std::string tensor(1 << 16, '\0');
  for (size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<char>(i * i / 97 % 23);
  const FieldSpec spec = {"field", DType::kU8, {1 << 16}, Codec::kZstd};
  FieldEncoder fast(EncodeOptions{1, 90});
  FieldEncoder slow(EncodeOptions{19, 90});
  const auto large = fast.Encode(spec, tensor.data(), tensor.size());
  const auto small = slow.Encode(spec, tensor.data(), tensor.size());
  ASSERT_TRUE(large.ok() && small.ok());
  EXPECT_LT(small->bytes.size(), large->bytes.size());
  std::string out(tensor.size(), 'x');
  ASSERT_TRUE(FieldDecoder()
                  .Decode(spec, small->bytes.data(), small->bytes.size(), out.data(), out.size())
                  .ok());
  EXPECT_EQ(out, tensor);
}

TEST(Codec, DecoderRefusesRawOfAnotherSizeAndJpegOfAnotherShape) {
  FieldDecoder decoder;
  std::string out(1000, '\0');
  const std::string tensor = Tensor();
  EXPECT_EQ(decoder.Decode(Spec(Codec::kRaw), tensor.data(), 999, out.data(), 1000).code(),
            StatusCode::kDataLoss);
  EXPECT_EQ(decoder.Decode(Spec(Codec::kJpeg), tensor.data(), 1000, out.data(), 1000).code(),
            StatusCode::kDataLoss);
}

}  // namespace
}  // namespace shardmill
