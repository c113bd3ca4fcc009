// What the packer stores, field by field: codecs, sizes that vary, wide class ids.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "proto/manifest.pb.h"
#include "reader/verify.h"
#include "tests/tools/pack/field_testing.h"
#include "tools/pack/decode/image_decode.h"
#include "tools/pack/records/codec_choice.h"
#include "tools/pack/records/measure.h"

namespace shardmill {
namespace {

Bytes Samples(const TestImage& image) { return {image.samples.begin(), image.samples.end()}; }

proto::Statistics Measured(const std::vector<Bytes>& images, ImageSize size) {
  proto::Statistics sum;
  for (const Bytes& image : images) {
    proto::Statistics one;
    MeasureImage({size, image.data()}, Region{0, 0, size}, &one);
    sum.set_image_pixels(sum.image_pixels() + one.image_pixels());
    for (int c = 0; c < 3; ++c) {
      if (sum.channel_sum_size() <= c) sum.add_channel_sum();
      sum.mutable_channel_sum(c)->set_low(sum.channel_sum(c).low() + one.channel_sum(c).low());
    }
  }
  return sum;
}

void ExpectSameSums(const proto::Statistics& found, const proto::Statistics& expected) {
  EXPECT_EQ(found.image_pixels(), expected.image_pixels());
  ASSERT_EQ(found.channel_sum_size(), 3);
  for (int c = 0; c < 3; ++c) EXPECT_EQ(found.channel_sum(c).low(), expected.channel_sum(c).low());
}

TEST(CodecChoice, ComesBackFromItsText) {
  for (const char* text :
       {"raw", "zstd", "zstd:19", "zstd-dict", "zstd-dict:7", "jpeg", "jpeg:75"}) {
    const auto choice = ParseCodecChoice(text);
    ASSERT_TRUE(choice.ok()) << text;
    EXPECT_EQ(FormatCodecChoice(*choice), text);
  }
  EXPECT_EQ(ParseCodecChoice("zstd:19")->effort.zstd_level, 19);
  EXPECT_EQ(ParseCodecChoice("jpeg:75")->effort.jpeg_quality, 75);
  EXPECT_EQ(FormatCodecChoice(*ParseCodecChoice("jpeg:90")), "jpeg");
  for (const char* text : {"", "png", "raw:1", "zstd:", "zstd:0", "zstd:23", "zstd:x", "jpeg:101",
                           "jpeg:0", "zstd-dict:-1", "JPEG"}) {
    EXPECT_EQ(ParseCodecChoice(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST_F(PackFieldsTest, ImagesOfSeveralSizesKeepTheirOwn) {
  WriteClasses();
  const ImageSize sizes[] = {{16, 24}, {16, 24}, {20, 24}, {7, 50}};
  for (size_t i = 0; i < 4; ++i) AddScene("s" + std::to_string(i), sizes[i], i);
  for (const LabelEncoding encoding :
       {LabelEncoding::kIndex, LabelEncoding::kOneHotBits, LabelEncoding::kOneHotBytes}) {
    options_.label_encoding = encoding;
    options_.overwrite = true;
    ExpectPacked();
    EXPECT_NE(out_.find("records of 3 sizes, most often 16 high × 24 wide (2 of 4), least often 7 "
                        "high × 50 wide (as train/s3.png)"),
              std::string::npos)
        << out_;
    EXPECT_NE(out_.find("image u8 [? × ? × 3] raw"), std::string::npos) << out_;
    const auto records = ReadAll();
    ASSERT_EQ(records.size(), 4u);
    EXPECT_EQ(Field(0).shape, (std::vector<int64_t>{-1, -1, 3}));
    uint64_t pixels = 0;
    for (size_t i = 0; i < 4; ++i) {
      const auto& record = records.at("train/s" + std::to_string(i) + ".png");
      EXPECT_EQ(record[0].dims, (std::vector<uint32_t>{sizes[i].height, sizes[i].width}));
      EXPECT_EQ(record[1].dims, record[0].dims);
      EXPECT_EQ(record[0].tensor, Samples(Photo(sizes[i], i)));
      const size_t bytes_per_pixel = encoding == LabelEncoding::kOneHotBytes ? 2 : 1;
      EXPECT_EQ(record[1].tensor.size(), sizes[i].pixels() * bytes_per_pixel);
      pixels += sizes[i].pixels();
    }
    EXPECT_EQ(TrainStatistics().image_pixels(), pixels);
    EXPECT_TRUE(Verify(output_.path(), {})->findings.empty());
  }
}

TEST_F(PackFieldsTest, ResizedSizesMayDifferToo) {
  WriteClasses();
  AddScene("a", {20, 30}, 1);
  AddScene("b", {60, 40}, 2);
  options_.resize = ResizeRule{ResizeRule::Kind::kShortSide, {}, 10};
  ExpectPacked();
  const auto records = ReadAll();
  EXPECT_EQ(records.at("train/a.png")[0].dims, (std::vector<uint32_t>{10, 15}));
  EXPECT_EQ(records.at("train/b.png")[0].dims, (std::vector<uint32_t>{15, 10}));
}

TEST_F(PackFieldsTest, ShardsOfSeveralSizesAreCutByTheMeanAndDoNotDependOnJobs) {
  WriteClasses();
  for (uint32_t i = 0; i < 12; ++i) AddScene("s" + std::to_string(i), {10 + i, 20}, i);
  options_.shard_bytes = 4 * 20 * 15 * 4;  // about four records
  options_.jobs = 1;
  ExpectPacked();
  const auto with_one = OutputFiles();
  EXPECT_EQ(with_one.size(), 4u + 2);  // and the manifest and the report
  options_.jobs = 4;
  options_.overwrite = true;
  ExpectPacked();
  EXPECT_EQ(OutputFiles(), with_one);
}

TEST_F(PackFieldsTest, UntouchedJpegsAreKeptByteByByte) {
  const ImageSize size = {30, 41};
  std::vector<std::string> files;
  for (uint64_t i = 0; i < 3; ++i) {
    files.push_back(Jpeg(Photo(size, i), 80));
    source_.Write("train/a/" + std::to_string(i) + ".jpg", files.back());
  }
  source_.Write("train/b/0.jpg",
                Jpeg(MakeImage(size, 1, [](int y, int x, int) { return y + x; }), 80));
  options_.image_codec = Codec::kJpeg;
  ExpectPacked();
  EXPECT_NE(out_.find("the JPEG file is stored as it is, 4 images"), std::string::npos) << out_;
  const auto records = ReadAll();
  EXPECT_EQ(Field(0).codec, Codec::kJpeg);
  std::vector<Bytes> delivered;
  for (const auto& [key, record] : records) delivered.push_back(record[0].tensor);
  for (size_t i = 0; i < 3; ++i) {
    const auto& image = records.at("train/a/" + std::to_string(i) + ".jpg")[0];
    EXPECT_EQ(image.stored_bytes, files[i].size());
    SourceImage decoded;
    ASSERT_TRUE(ImageDecoder().Decode(files[i], 1 << 20, &decoded).ok());
    EXPECT_EQ(image.tensor, decoded.samples);
  }
  ExpectSameSums(TrainStatistics(), Measured(delivered, size));
}

TEST_F(PackFieldsTest, ChangedImagesAreEncodedAsJpegAndMeasuredAsDelivered) {
  const ImageSize size = {30, 41};
  source_.Write("train/a/turned.jpg", WithOrientation(Jpeg(Photo({41, 30}, 1), 80), 6));
  source_.Write("train/a/lossless.png", Png(Photo(size, 2)));
  source_.Write("train/b/kept.jpg", Jpeg(Photo(size, 3), 80));
  options_.image_codec = Codec::kJpeg;
  options_.image_codec.effort.jpeg_quality = 40;
  ExpectPacked();
  EXPECT_NE(out_.find("the JPEG file is stored as it is, 1 image\n"), std::string::npos) << out_;
  const auto records = ReadAll();
  std::vector<Bytes> delivered;
  for (const auto& [key, record] : records) delivered.push_back(record[0].tensor);
  ExpectSameSums(TrainStatistics(), Measured(delivered, size));
  const Bytes photo = Samples(Photo(size, 2));
  const Bytes& found = records.at("train/a/lossless.png")[0].tensor;
  double error = 0;
  for (size_t i = 0; i < photo.size(); ++i) error += std::abs(photo[i] - found[i]);
  EXPECT_NE(found, photo);
  EXPECT_LT(error / static_cast<double>(photo.size()), 8.0);
  EXPECT_EQ(Recipe("image-codec"), "jpeg:40");
}

TEST_F(PackFieldsTest, CroppedJpegsAreEncodedAgainWithoutCountingPadding) {
  source_.Write("train/a/0.jpg", Jpeg(Photo({30, 40}, 1), 95));
  source_.Write("train/b/1.jpg", Jpeg(Photo({50, 60}, 2), 95));
  options_.image_codec = Codec::kJpeg;
  options_.crop = ImageSize{40, 40};
  ExpectPacked();
  const auto records = ReadAll();
  EXPECT_EQ(TrainStatistics().image_pixels(), 30u * 40 + 40 * 40);
  proto::Statistics expected, part;
  MeasureImage({{40, 40}, records.at("train/a/0.jpg")[0].tensor.data()}, Region{5, 0, {30, 40}},
               &expected);
  MeasureImage({{40, 40}, records.at("train/b/1.jpg")[0].tensor.data()}, Region{0, 0, {40, 40}},
               &part);
  for (int c = 0; c < 3; ++c) {
    EXPECT_EQ(TrainStatistics().channel_sum(c).low(),
              expected.channel_sum(c).low() + part.channel_sum(c).low());
  }
}

TEST_F(PackFieldsTest, JpegsOfSeveralSizesAreKeptToo) {
  const ImageSize sizes[] = {{8, 9}, {33, 20}};
  for (size_t i = 0; i < 2; ++i) {
    source_.Write("train/a/" + std::to_string(i) + ".jpg", Jpeg(Photo(sizes[i], i), 85));
  }
  options_.image_codec = Codec::kJpeg;
  ExpectPacked();
  const auto records = ReadAll();
  EXPECT_EQ(records.at("train/a/1.jpg")[0].dims, (std::vector<uint32_t>{33, 20}));
  EXPECT_EQ(records.at("train/a/1.jpg")[0].tensor.size(), 33u * 20 * 3);
  const auto batch = LoadPadded("image");
  ASSERT_EQ(batch.shape, (std::vector<int64_t>{2, 33, 20, 3}));
  for (const auto& [key, record] : records) {
    const std::vector<uint32_t>& dims = record[0].dims;
    const uint64_t row = batch.keys.at(key);
    for (size_t y = 0; y < 33; ++y) {
      for (size_t x = 0; x < 20 * 3; ++x) {
        const bool inside = y < dims[0] && x < dims[1] * 3;
        const uint8_t expected = inside ? record[0].tensor[y * dims[1] * 3 + x] : 0;
        ASSERT_EQ(batch.data[(row * 33 + y) * 60 + x], expected) << key;
      }
    }
  }
  EXPECT_TRUE(Verify(output_.path(), {})->findings.empty());
}

TEST_F(PackFieldsTest, JpegThatReadersWouldRefuseIsAnError) {
  const std::string whole = Jpeg(Photo({30, 41}, 1), 80);
  source_.Write("train/a/cut.jpg", whole.substr(0, whole.size() / 2));
  options_.image_codec = Codec::kJpeg;
  ExpectError(StatusCode::kDataLoss, "damaged JPEG");
}

TEST_F(PackFieldsTest, DictionaryIsTheSameForAllShardsAndJobs) {
  WriteClasses();
  for (uint64_t i = 0; i < 300; ++i) AddScene("s" + std::to_string(i), {12, 16}, i * i);
  options_.shard_bytes = 60 * 12 * 16 * 4;
  options_.jobs = 1;
  ExpectPacked();
  uint64_t plain_bytes = 0;
  const auto plain = ReadAll();
  for (const auto& [key, record] : plain) plain_bytes += record[1].stored_bytes;

  options_.label_codec = Codec::kZstdDictionary;
  options_.overwrite = true;
  ExpectPacked();
  const auto with_one = OutputFiles();
  EXPECT_EQ(with_one.size(), 5u + 2);
  uint64_t bytes = 0;
  for (const auto& [key, record] : ReadAll()) {
    EXPECT_EQ(record[1].tensor, plain.at(key)[1].tensor) << key;
    bytes += record[1].stored_bytes;
  }
  EXPECT_LT(bytes, plain_bytes);
  ASSERT_NE(Field(1).dictionary, nullptr);
  for (const auto& [name, content] : with_one) {
    if (name.find(".shard") == std::string::npos) continue;
    EXPECT_NE(content.find(Field(1).dictionary->bytes), std::string::npos) << name;
  }
  EXPECT_TRUE(Verify(output_.path(), {})->findings.empty());
  options_.jobs = 3;
  ExpectPacked();
  EXPECT_EQ(OutputFiles(), with_one);
}

TEST_F(PackFieldsTest, DictionaryOfTooFewRecordsIsAUsageError) {
  WriteClasses();
  AddScene("only", {4, 4}, 1);
  options_.label_codec = Codec::kZstdDictionary;
  ExpectError(StatusCode::kInvalidArgument, "store it with zstd in place of zstd-dict");
}

TEST_F(PackFieldsTest, ZstdLevelIsOfTheCodecAlone) {
  WriteClasses();
  AddScene("a", {64, 96}, 1);
  options_.label_codec.effort.zstd_level = 19;
  options_.image_codec = Codec::kZstd;
  ExpectPacked();
  ReadAll();
  EXPECT_EQ(Recipe("label-codec"), "zstd:19");
  EXPECT_EQ(Recipe("image-codec"), "zstd");
}

TEST_F(PackFieldsTest, MoreThan256ClassesTakeTwoBytes) {
  std::string classes = "name,r,g,b\n";
  for (int i = 0; i < 700; ++i) {
    classes += "c" + std::to_string(i) + "," + std::to_string(i % 256) + "," +
               std::to_string(i / 256) + ",7\n";
  }
  source_.Write("class_dict.csv", classes);
  const ImageSize size = {10, 70};
  source_.Write("train/a.png", Png(Photo(size, 1)));
  source_.Write("train_labels/a.png", Png(MakeImage(size, 3, [](int y, int x, int c) {
                  const int id = 70 * y + x;
                  return c == 0 ? id % 256 : c == 1 ? id / 256 : 7;
                })));
  ExpectPacked();
  const auto records = ReadAll();
  EXPECT_EQ(Field(1).dtype, DType::kU16);
  const Bytes& label = records.at("train/a.png")[1].tensor;
  ASSERT_EQ(label.size(), 1400u);
  for (size_t i = 0; i < 700; ++i) {
    uint16_t id;
    std::memcpy(&id, label.data() + 2 * i, 2);
    ASSERT_EQ(id, i);
  }
  EXPECT_EQ(TrainStatistics().class_pixels(699), 1u);
}

TEST_F(PackFieldsTest, SixteenBitsOfImagesAreKeptOnRequest) {
  const ImageSize size = {6, 9};
  const TestImage wide = MakeImage(
      size, 3, [](int y, int x, int c) { return (y * 9973 + x * 1237 + c * 40503) & 0xFFFF; });
  source_.Write("train/a/16.png", WidePng(wide));
  source_.Write("train/b/8.png", Png(Photo(size, 1)));
  ExpectPacked();
  EXPECT_NE(out_.find("16 to 8 bits"), std::string::npos) << out_;
  options_.image_type = DType::kU16;
  options_.overwrite = true;
  ExpectPacked();
  EXPECT_EQ(out_.find("16 to 8 bits"), std::string::npos) << out_;
  auto records = ReadAll();
  EXPECT_EQ(Field(0).dtype, DType::kU16);
  EXPECT_EQ(Recipe("image-type"), "u16");
  const auto values = [&](const std::string& key) {
    const Bytes& bytes = records.at(key)[0].tensor;
    std::vector<uint16_t> samples(bytes.size() / 2);
    std::memcpy(samples.data(), bytes.data(), bytes.size());
    return samples;
  };
  EXPECT_EQ(values("train/a/16.png"), wide.samples);
  uint64_t sum = 0;
  unsigned __int128 squares = 0;
  for (const std::string key : {"train/a/16.png", "train/b/8.png"}) {
    const std::vector<uint16_t> samples = values(key);
    for (size_t i = 0; i < samples.size(); i += 3) {
      sum += samples[i];
      squares += uint64_t{samples[i]} * samples[i];
    }
  }
  const TestImage photo = Photo(size, 1);
  for (size_t i = 0; i < photo.samples.size(); ++i) {
    ASSERT_EQ(values("train/b/8.png")[i], photo.samples[i] * 257);
  }
  EXPECT_EQ(TrainStatistics().channel_sum(0).low(), sum);
  EXPECT_EQ(TrainStatistics().channel_sum_sq(0).low(), static_cast<uint64_t>(squares));
  EXPECT_EQ(TrainStatistics().channel_sum_sq(0).high(), static_cast<uint64_t>(squares >> 64));

  // Crop and padding: row 0 of the source is row 2 of the record.
  options_.pad_value = 1;
  ExpectError(StatusCode::kInvalidArgument, "--pad-value is for what lies outside of an image");
  options_.crop = ImageSize{10, 9};
  ExpectPacked();
  records = ReadAll();
  const std::vector<uint16_t> padded = values("train/a/16.png");
  EXPECT_EQ(padded[0], 257);
  EXPECT_EQ(std::vector<uint16_t>(padded.begin() + 54, padded.end() - 54), wide.samples);

  options_.image_codec = Codec::kJpeg;
  ExpectError(StatusCode::kInvalidArgument, "JPEG holds 8 bits");
}

TEST_F(PackFieldsTest, SixteenBitImagesAreResizedLikeTheirEightBitForm) {
  const ImageSize size = {16, 24};
  source_.Write("train/a/0.png", Png(Photo(size, 1)));
  for (const ImageSize target : {ImageSize{7, 11}, ImageSize{33, 40}}) {
    options_.overwrite = true;
    options_.resize = ResizeRule{ResizeRule::Kind::kExact, target, 0};
    options_.image_type = DType::kU8;
    ExpectPacked();
    const Bytes narrow = ReadAll().at("train/a/0.png")[0].tensor;
    options_.image_type = DType::kU16;
    ExpectPacked();
    const Bytes wide = ReadAll().at("train/a/0.png")[0].tensor;
    ASSERT_EQ(wide.size(), 2 * narrow.size());
    for (size_t i = 0; i < narrow.size(); ++i) {
      const int value = wide[2 * i] | wide[2 * i + 1] << 8;
      ASSERT_LE(std::abs(value - 257 * narrow[i]), 129) << i;  // half a level of 8 bits
    }
  }
}

}  // namespace
}  // namespace shardmill
