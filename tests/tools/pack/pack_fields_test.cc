// What the packer stores, field by field: codecs, sizes that vary, wide class ids.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proto/record_meta.pb.h"
#include "reader/dataset.h"
#include "reader/verify.h"
#include "tests/tools/pack/npy_builder.h"
#include "tests/tools/pack/pack_testing.h"
#include "tools/pack/codec_choice.h"
#include "tools/pack/image_decode.h"
#include "tools/pack/measure.h"

namespace shardmill {
namespace {

using Bytes = std::vector<uint8_t>;

struct ReadField {
  std::vector<uint32_t> dims;
  Bytes tensor;
  uint64_t stored_bytes = 0;
};

class PackFieldsTest : public PackTest {
 protected:
  // Label ids 0 and 1 in runs, all their own way.
  void AddScene(const std::string& stem, ImageSize size, uint64_t seed) {
    source_.Write("train/" + stem + ".png", Png(Photo(size, seed)));
    source_.Write("train_labels/" + stem + ".png", Label(size, seed));
  }
  static std::string Label(ImageSize size, uint64_t seed) {
    return Png(MakeImage(size, 3, [&](int y, int x, int) {
      return (static_cast<uint64_t>(y) / 2 + static_cast<uint64_t>(x) / 3 + seed) % 3 == 0 ? 255
                                                                                           : 0;
    }));
  }
  void WriteClasses() { source_.Write("class_dict.csv", "name,r,g,b\na,0,0,0\nb,255,255,255\n"); }

  // Every record of the output by key, after verifying the set.
  std::map<std::string, std::vector<ReadField>> ReadAll() {
    std::map<std::string, std::vector<ReadField>> records;
    auto dataset = Dataset::Open(output_.path());
    EXPECT_TRUE(dataset.ok()) << dataset.status().ToString();
    if (!dataset.ok()) return records;
    dataset_ = std::move(*dataset);
    ReadScratch scratch;
    for (const Dataset::Split* split : {*dataset_->split("train")}) {
      for (uint64_t i = 0; i < split->records(); ++i) {
        const auto [shard, record] = split->Locate(i);
        records[shard->ReadMeta(record)->key()] = ReadRecord(*shard, record, &scratch);
      }
    }
    return records;
  }
  static std::vector<ReadField> ReadRecord(const ShardReader& shard, uint64_t record,
                                           ReadScratch* scratch) {
    std::vector<ReadField> fields;
    for (int f = 0; f < static_cast<int>(shard.schema().fields.size()); ++f) {
      ReadField field;
      field.dims = *shard.VariableDims(record, f);
      field.tensor.resize(*shard.schema().fields[static_cast<size_t>(f)].TensorBytes(field.dims));
      const Status status =
          shard.Read(record, f, field.tensor.data(), field.tensor.size(), scratch);
      EXPECT_TRUE(status.ok()) << status.ToString();
      field.stored_bytes = *shard.StoredBytes(record, f);
      fields.push_back(std::move(field));
    }
    return fields;
  }
  std::string Recipe(const std::string& name) {
    for (const auto& option : dataset_->manifest().recipe().options()) {
      if (option.name() == name) return option.value();
    }
    return "(missing)";
  }
  const FieldSpec& Field(size_t index) { return dataset_->schema().fields[index]; }
  const proto::Statistics& TrainStatistics() { return dataset_->manifest().splits(0).statistics(); }
  std::map<std::string, std::string> OutputFiles() {
    std::map<std::string, std::string> files;
    for (const std::string& file : output_.Files()) files[file] = output_.Read(file);
    return files;
  }

  std::shared_ptr<const Dataset> dataset_;
};

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
    EXPECT_NE(out_.find("records of 3 sizes, most often 16 high × 24 wide (2 of 4)"),
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
  for (const int jobs : {2, 5}) {
    options_.jobs = jobs;
    ExpectPacked();
    EXPECT_EQ(OutputFiles(), with_one) << jobs;
  }
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
  options_.crop = ImageSize{10, 9};
  options_.pad_value = 1;
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

// Sequence of `length` steps of three features.
std::vector<float> Sequence(uint32_t length, float start) {
  std::vector<float> values;
  for (uint32_t i = 0; i < 3 * length; ++i) values.push_back(start + 0.25f * static_cast<float>(i));
  return values;
}

Bytes BytesOf(const std::vector<float>& values) {
  Bytes bytes(4 * values.size());
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST_F(PackFieldsTest, ArraysOfSeveralLengthsInFoldersOfTheirClass) {
  for (uint32_t i = 0; i < 4; ++i) {
    source_.Write((i % 2 == 0 ? "train/walk/" : "train/run/") + std::to_string(i) + ".npy",
                  NpyFloats({i, 3}, Sequence(i, static_cast<float>(i))));
  }
  options_.image_codec = Codec::kZstd;
  ExpectPacked();
  EXPECT_NE(out_.find("records of 4 arrays of f32 [0 to 3 × 3], features f32 [? × 3] zstd"),
            std::string::npos)
      << out_;
  const auto records = ReadAll();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(Field(0).name, "features");
  EXPECT_EQ(Field(0).role, Role::kTensor);
  for (uint32_t i = 0; i < 4; ++i) {
    const bool walk = i % 2 == 0;
    const auto& record =
        records.at((walk ? "train/walk/" : "train/run/") + std::to_string(i) + ".npy");
    EXPECT_EQ(record[0].dims, std::vector<uint32_t>{i});
    EXPECT_EQ(record[0].tensor, BytesOf(Sequence(i, static_cast<float>(i))));
    EXPECT_EQ(record[1].tensor, Bytes{walk ? uint8_t{1} : uint8_t{0}});  // run is class 0
  }
  EXPECT_EQ(TrainStatistics().class_images(1), 2u);
  EXPECT_TRUE(Verify(output_.path(), {})->findings.empty());
}

TEST_F(PackFieldsTest, ArraysOfOneShapeAreDense) {
  for (uint32_t i = 0; i < 3; ++i) {
    source_.Write("train/a/" + std::to_string(i) + ".npy", NpyFloats({2, 3}, Sequence(2, 1)));
  }
  ExpectPacked();
  ReadAll();
  EXPECT_TRUE(Field(0).IsDense());
  EXPECT_EQ(Field(0).shape, (std::vector<int64_t>{2, 3}));
}

TEST_F(PackFieldsTest, ArraysByListWithNamesAndNumbers) {
  source_.Write("data/a.npy", NpyFloats({1, 3}, Sequence(1, 0)));
  source_.Write("data/b, c.npy", NpyFloats({2, 3}, Sequence(2, 0)));
  source_.Write("data/unlisted.npy", NpyFloats({2, 3}, Sequence(2, 0)));
  source_.Write("train.csv", "file,label\r\ndata/a.npy,zebra\r\n\"data/b, c.npy\",ant\r\n");
  ExpectPacked();
  EXPECT_NE(error_.find("1 .npy files are in no list"), std::string::npos) << error_;
  auto records = ReadAll();
  EXPECT_EQ(records.at("data/a.npy")[1].tensor, Bytes{1});
  EXPECT_EQ(records.at("data/b, c.npy")[1].tensor, Bytes{0});

  source_.Write("train.csv", "data/a.npy,3\ndata/b, c.npy,0\n");
  ExpectError(StatusCode::kInvalidArgument, "train.csv line 2: 3 fields");
  source_.Write("train.csv", "data/a.npy,3\ndata/none.npy,0\n");
  ExpectError(StatusCode::kNotFound, "data/none.npy: the listed file does not exist");
  source_.Write("train.csv", "data/a.npy,3\ndata/unlisted.npy,0\n");
  options_.overwrite = true;
  ExpectPacked();
  records = ReadAll();
  EXPECT_EQ(dataset_->schema().classes.size(), 4u);
  EXPECT_EQ(records.at("data/a.npy")[1].tensor, Bytes{3});
}

TEST_F(PackFieldsTest, ArraysOfDifferentFormsAreListedOrLeftOut) {
  source_.Write("train/a/0.npy", NpyFloats({2, 3}, Sequence(2, 0)));
  source_.Write("train/a/1.npy", NpyFloats({1, 3}, Sequence(1, 0)));
  source_.Write("train/a/2.npy",
                NpyFileOf(NpyDictionary("<i4", false, {1, 3}), std::string(12, 1)));
  source_.Write("train/a/3.npy", "no array");
  ExpectError(StatusCode::kInvalidArgument, "1 array of i32 [1 × 3], for example train/a/2.npy");
  options_.on_error.skip = true;
  Result<int> code = Pack();
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  EXPECT_EQ(*code, 6);
  EXPECT_EQ(ReadAll().size(), 2u);
  EXPECT_NE(out_.find("train/a/2.npy: an array of i32 with 2 dimensions"), std::string::npos)
      << out_;
  EXPECT_NE(out_.find("train/a/3.npy: this is no .npy file"), std::string::npos) << out_;
}

TEST_F(PackFieldsTest, DoublesAreRoundedAndCounted) {
  const double values[2] = {0.1, -2.5};
  std::string data(16, '\0');
  std::memcpy(data.data(), values, 16);
  source_.Write("train/a/0.npy", NpyFileOf(NpyDictionary("<f8", false, {2}), data));
  ExpectPacked();
  EXPECT_NE(out_.find("64-bit to 32-bit numbers, 1 "), std::string::npos) << out_;
  EXPECT_EQ(ReadAll().at("train/a/0.npy")[0].tensor, BytesOf({0.1f, -2.5f}));
  options_.crop = ImageSize{2, 2};
  ExpectError(StatusCode::kInvalidArgument, "are for images");
}

}  // namespace
}  // namespace shardmill
