#include "tools/pack/pack_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "reader/dataset.h"
#include "tests/tools/pack/image_files.h"
#include "tools/pack/image_decode.h"
#include "tools/pack/rgb_convert.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

constexpr char kTable[] = "name,r,g,b\nsky,0,0,255\nroad,128,64,128\ntree,0,128,0\n";
constexpr uint32_t kColors[] = {0x0000FF, 0x804080, 0x008000};

// A record as it was read back.
struct ReadRecord {
  proto::RecordMeta meta;
  std::vector<uint8_t> image, label;
};

TestImage ColorLabel(ImageSize size, const std::vector<uint8_t>& ids) {
  return MakeImage(size, 3, [&](int y, int x, int c) {
    uint32_t color = kColors[ids[static_cast<size_t>(y) * size.width + static_cast<size_t>(x)]];
    return static_cast<int>((color >> (16 - 8 * c)) & 255);
  });
}

TestImage GrayLabel(ImageSize size, const std::vector<uint8_t>& ids) {
  return MakeImage(size, 1, [&](int y, int x, int) {
    return ids[static_cast<size_t>(y) * size.width + static_cast<size_t>(x)];
  });
}

std::vector<uint8_t> RandomIds(ImageSize size, uint64_t seed) {
  RandomStream random(seed);
  std::vector<uint8_t> ids;
  for (uint64_t i = 0; i < size.pixels(); ++i) ids.push_back(random.Below(3) & 255);
  return ids;
}

// A source folder in the suite layout, and what packing it gives.
class PackJobTest : public testing::Test {
 protected:
  PackJobTest()
      : name_(testing::UnitTest::GetInstance()->current_test_info()->name()),
        source_(name_ + "-source"),
        output_(name_ + "-output") {
    source_.Write("class_dict.csv", kTable);
    options_.source = source_.path();
    options_.output = output_.path();
    options_.quiet = true;
    options_.jobs = 2;
  }

  void AddPair(const std::string& split, const std::string& stem, const std::string& image,
               const std::string& label) {
    source_.Write(split + "/" + stem, image);
    source_.Write(split + "_labels/" + stem.substr(0, stem.rfind('.')) + ".png", label);
  }
  void AddScene(const std::string& split, const std::string& stem, ImageSize size, uint64_t seed) {
    AddPair(split, stem + ".png", Png(Photo(size, seed)),
            Png(ColorLabel(size, RandomIds(size, seed))));
  }

  // The exit code, or the error; what was printed is in out_ and error_.
  Result<int> Pack() {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Result<int> result = RunPackJob(options_, ReportStyle::kText);
    out_ = testing::internal::GetCapturedStdout();
    error_ = testing::internal::GetCapturedStderr();
    return result;
  }
  void ExpectCode(int code) {
    Result<int> result = Pack();
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    EXPECT_EQ(*result, code) << out_;
  }
  void ExpectError(StatusCode code, const std::string& text) {
    Status status = Pack().status();
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
  }

  std::map<std::string, ReadRecord> Read(const std::string& split) {
    std::map<std::string, ReadRecord> records;
    auto dataset = Dataset::Open(output_.path());
    EXPECT_TRUE(dataset.ok()) << dataset.status().ToString();
    if (!dataset.ok()) return records;
    manifest_ = (*dataset)->manifest();
    const Dataset::Split* opened = *(*dataset)->split(split);
    ReadScratch scratch;
    for (uint64_t i = 0; i < opened->records(); ++i) {
      auto [shard, record] = opened->Locate(i);
      ReadRecord read;
      read.meta = *shard->ReadMeta(record);
      read.image.resize(shard->schema().fields[0].TensorBytes());
      read.label.resize(shard->schema().fields[1].TensorBytes());
      EXPECT_TRUE(shard->Read(record, 0, read.image.data(), read.image.size(), &scratch).ok());
      EXPECT_TRUE(shard->Read(record, 1, read.label.data(), read.label.size(), &scratch).ok());
      records[read.meta.key()] = std::move(read);
    }
    return records;
  }

  std::map<std::string, std::string> OutputFiles() {
    std::map<std::string, std::string> files;
    for (const std::string& file : output_.Files()) files[file] = output_.Read(file);
    return files;
  }

  std::string name_;
  TestFolder source_, output_;
  PackOptions options_;
  proto::Manifest manifest_;
  std::string out_, error_;
};

TEST_F(PackJobTest, PixelsAndIdsComeBackExactly) {
  const ImageSize size = {13, 21};
  for (uint64_t i = 0; i < 9; ++i) AddScene("train", "s" + std::to_string(i), size, i);
  AddScene("val", "v", size, 99);
  options_.shard_bytes = 3000;
  options_.block_bytes = 1500;
  ExpectCode(0);
  auto records = Read("train");
  ASSERT_EQ(records.size(), 9u);
  for (uint64_t i = 0; i < 9; ++i) {
    const ReadRecord& record = records["train/s" + std::to_string(i) + ".png"];
    TestImage photo = Photo(size, i);
    EXPECT_EQ(record.image, std::vector<uint8_t>(photo.samples.begin(), photo.samples.end()));
    EXPECT_EQ(record.label, RandomIds(size, i));
    EXPECT_EQ(record.meta.source_height(), 13u);
    EXPECT_EQ(record.meta.crop_width(), 21u);
    EXPECT_EQ(record.meta.resized_height(), 0u);
  }
  EXPECT_EQ(manifest_.splits(0).name(), "train");
  EXPECT_EQ(manifest_.splits(0).statistics().image_pixels(), 9 * size.pixels());
}

TEST_F(PackJobTest, BytesDoNotDependOnJobs) {
  for (uint64_t i = 0; i < 25; ++i) AddScene("train", "s" + std::to_string(i), {20, 30}, i);
  AddScene("val", "v", {20, 30}, 99);
  options_.crop = ImageSize{16, 16};
  options_.crop_mode = CropMode::kRandom;
  options_.image_codec = Codec::kZstd;
  options_.shard_bytes = 5000;
  options_.block_bytes = 2500;
  options_.jobs = 1;
  ExpectCode(0);
  auto with_one = OutputFiles();
  EXPECT_GT(with_one.size(), 4u);
  options_.overwrite = true;
  for (int jobs : {2, 4, 7}) {
    options_.jobs = jobs;
    ExpectCode(0);
    EXPECT_EQ(OutputFiles(), with_one) << jobs;
  }
}

// Tiles of all images, put back where their metadata says, give the images again.
TEST_F(PackJobTest, TilesCanBeStitchedTogetherAgain) {
  std::map<std::string, ImageSize> sizes;
  for (uint64_t i = 0; i < 6; ++i) {
    const ImageSize size = {static_cast<uint32_t>(9 + 7 * i), static_cast<uint32_t>(40 - 5 * i)};
    sizes["train/s" + std::to_string(i) + ".png"] = size;
    AddScene("train", "s" + std::to_string(i), size, i);
  }
  options_.crop = ImageSize{12, 16};
  options_.crop_mode = CropMode::kTile;
  options_.tile_overlap = 3;
  options_.shard_bytes = 20000;
  ExpectCode(0);
  std::map<std::string, std::vector<int>> stitched;
  uint64_t padded = 0;
  auto records = Read("train");
  for (const auto& [key, record] : records) {
    const std::string source = key.substr(0, key.find('#'));
    EXPECT_EQ(key, record.meta.variant() == 0
                       ? source
                       : source + "#v" + std::to_string(record.meta.variant()));
    const ImageSize size = sizes[source];
    std::vector<int>& image = stitched[source];
    image.resize(size.pixels(), -1);
    for (int at = 0; at < 12 * 16; ++at) {
      const int64_t y = at / 16 + record.meta.crop_y(), x = at % 16 + record.meta.crop_x();
      if (y >= size.height || x >= size.width) {
        ASSERT_EQ(record.label[static_cast<size_t>(at)], 255);
        ++padded;
      } else {
        image[static_cast<size_t>(y * size.width + x)] = record.label[static_cast<size_t>(at)];
      }
    }
  }
  EXPECT_EQ(stitched.size(), 6u);
  EXPECT_GT(padded, 0u);
  for (const auto& [source, image] : stitched) {
    const std::vector<uint8_t> ids = RandomIds(sizes[source], std::stoull(source.substr(7)));
    EXPECT_EQ(image, std::vector<int>(ids.begin(), ids.end())) << source;
  }
  EXPECT_EQ(manifest_.splits(0).records(), records.size());
  EXPECT_EQ(manifest_.splits(0).statistics().image_pixels(), records.size() * 192 - padded);
  EXPECT_GT(manifest_.splits(0).shards_size(), 1);
}

TEST_F(PackJobTest, VariantsAreOfTrainAloneAndStandTogether) {
  for (uint64_t i = 0; i < 5; ++i) {
    AddScene("train", "s" + std::to_string(i), {30, 40}, i);
    AddScene("val", "v" + std::to_string(i), {30, 40}, 50 + i);
  }
  options_.crop = ImageSize{16, 16};
  options_.crop_mode = CropMode::kRandom;
  options_.variants = 3;
  ExpectCode(0);
  EXPECT_NE(out_.find("10 packed + 0 skipped = 10 inputs"), std::string::npos) << out_;
  EXPECT_EQ(Read("val").size(), 5u);
  auto records = Read("train");
  EXPECT_EQ(records.size(), 15u);
  std::set<std::pair<int, int>> windows;
  for (const auto& [key, record] : records) {
    windows.insert({record.meta.crop_y(), record.meta.crop_x()});
  }
  EXPECT_GT(windows.size(), 10u);
  EXPECT_EQ(records.count("train/s3.png#v2"), 1u);
  EXPECT_EQ(records.count("train/s3.png#v3"), 0u);
  auto dataset = Dataset::Open(output_.path());
  const Dataset::Split* train = *(*dataset)->split("train");
  for (uint64_t i = 0; i < 15; ++i) {
    auto [shard, record] = train->Locate(i);
    EXPECT_EQ(shard->ReadMeta(record)->variant(), i % 3);
  }
}

// Images of one size after --resize short=N need no crop.
TEST_F(PackJobTest, ShortSideIsResizedInProportion) {
  AddScene("train", "a", {20, 30}, 1);
  AddScene("train", "b", {40, 60}, 2);
  options_.resize = ResizeRule{ResizeRule::Kind::kShortSide, {}, 10};
  ExpectCode(0);
  auto records = Read("train");
  EXPECT_EQ(records["train/b.png"].meta.resized_height(), 10u);
  EXPECT_EQ(records["train/b.png"].meta.resized_width(), 15u);
  EXPECT_EQ(records["train/b.png"].image.size(), 10u * 15 * 3);
}

// The metadata says exactly which window a record shows, of image and label alike.
TEST_F(PackJobTest, RecordsShowTheWindowThatTheirMetadataSays) {
  std::map<std::string, ImageSize> sizes;
  RandomStream random(1);
  for (uint64_t i = 0; i < 20; ++i) {
    ImageSize size = {static_cast<uint32_t>(random.Below(30) + 4),
                      static_cast<uint32_t>(random.Below(30) + 4)};
    sizes["train/s" + std::to_string(i) + ".png"] = size;
    AddScene("train", "s" + std::to_string(i), size, i);
  }
  options_.crop = ImageSize{12, 18};
  options_.crop_mode = CropMode::kRandom;
  ExpectCode(0);
  auto records = Read("train");
  ASSERT_EQ(records.size(), 20u);
  uint64_t visible = 0;
  for (const auto& [key, record] : records) {
    const ImageSize size = sizes[key];
    const uint64_t seed = std::stoull(key.substr(7));
    TestImage photo = Photo(size, seed);
    std::vector<uint8_t> ids = RandomIds(size, seed);
    EXPECT_NE(record.meta.seed(), 0u);
    for (int y = 0; y < 12; ++y) {
      for (int x = 0; x < 18; ++x) {
        const int64_t v = y + record.meta.crop_y(), u = x + record.meta.crop_x();
        const bool inside = v >= 0 && u >= 0 && v < size.height && u < size.width;
        const size_t at = static_cast<size_t>(y * 18 + x);
        const size_t from = inside ? static_cast<size_t>(v * size.width + u) : 0;
        ASSERT_EQ(record.label[at], inside ? ids[from] : 255);
        ASSERT_EQ(record.image[3 * at + 1], inside ? photo.samples[3 * from + 1] : 0);
        visible += inside;
      }
    }
  }
  const proto::Statistics& statistics = manifest_.splits(0).statistics();
  EXPECT_EQ(statistics.image_pixels(), visible);
  EXPECT_EQ(statistics.ignore_pixels(), 0u);  // padding is no ignored pixel
  EXPECT_EQ(manifest_.ignore(), 255u);
}

// Only the window of a JPEG file is decoded; nobody must see that in the pixels.
TEST_F(PackJobTest, WindowsOfTurnedJpegsHoldThePixelsOfAFullDecode) {
  std::map<std::string, std::string> files;
  for (int i = 0; i < 16; ++i) {
    const int orientation = i % 8 + 1;
    const ImageSize upright = orientation >= 5 ? ImageSize{90, 66} : ImageSize{66, 90};
    const std::string stem = "o" + std::to_string(i);
    files["train/" + stem + ".jpg"] =
        WithOrientation(Jpeg(Photo({66, 90}, static_cast<uint64_t>(i)), 90), orientation);
    AddPair("train", stem + ".jpg", files["train/" + stem + ".jpg"],
            Png(ColorLabel(upright, RandomIds(upright, 3))));
  }
  options_.crop = ImageSize{20, 70};
  options_.crop_mode = CropMode::kRandom;
  ExpectCode(0);
  const auto records = Read("train");
  ASSERT_EQ(records.size(), 16u);
  for (const auto& [key, record] : records) {
    ImageDecoder decoder;
    SourceImage whole;
    RgbConverter converter;
    ConversionCounts counts = {};
    ASSERT_TRUE(decoder.Decode(files[key], uint64_t{1} << 30, &whole).ok());
    const RgbImage picture = converter.Convert(whole, &counts);
    for (int y = 0; y < 20; ++y) {
      for (int x = 0; x < 70; ++x) {
        const int64_t v = y + record.meta.crop_y(), u = x + record.meta.crop_x();
        const bool inside = v >= 0 && u >= 0 && v < picture.size.height && u < picture.size.width;
        for (int c = 0; c < 3; ++c) {
          const int expected = inside ? picture.pixels[3 * (v * picture.size.width + u) + c] : 0;
          ASSERT_EQ(record.image[static_cast<size_t>(3 * (y * 70 + x) + c)], expected) << key;
        }
      }
    }
  }
}

TEST_F(PackJobTest, ResizeComesBeforeCrop) {
  AddScene("train", "a", {30, 40}, 1);
  AddScene("train", "b", {15, 60}, 2);
  options_.resize = ResizeRule{ResizeRule::Kind::kExact, {20, 20}, 0};
  options_.crop = ImageSize{10, 10};
  ExpectCode(0);
  for (const auto& [key, record] : Read("train")) {
    EXPECT_EQ(record.meta.resized_height(), 20u);
    EXPECT_EQ(record.meta.crop_y(), 5);
    for (uint8_t id : record.label) EXPECT_LT(id, 3);
  }
}

TEST_F(PackJobTest, OrientationTurnsTheImageNotTheLabel) {
  // Stored 16 × 24 in blocks of one brightness; the label is drawn over the upright picture.
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const bool turned = orientation >= 5;
    const ImageSize upright = turned ? ImageSize{24, 16} : ImageSize{16, 24};
    std::string jpeg = WithOrientation(Jpeg(Photo({16, 24}, 1), 95), orientation);
    AddPair("train", "o" + std::to_string(orientation) + ".jpg", jpeg,
            Png(ColorLabel(upright, RandomIds(upright, 3))));
  }
  options_.crop = ImageSize{16, 16};
  ExpectCode(0);
  EXPECT_EQ(Read("train").size(), 8u);
  EXPECT_NE(out_.find("EXIF orientation applied, 7 images"), std::string::npos) << out_;
}

TEST_F(PackJobTest, LostOrientationIsCalledOut) {
  AddPair("train", "a.jpg", Jpeg(Photo({16, 24}, 1), 95),
          Png(ColorLabel({24, 16}, RandomIds({24, 16}, 1))));
  ExpectError(StatusCode::kDataLoss,
              "train/a.jpg: the image is 16 high × 24 wide, its label 24 high × 16 wide; the sides "
              "are exchanged: probably one of them lost its EXIF orientation");
}

TEST_F(PackJobTest, LabelOfAnotherSizeIsAnError) {
  AddPair("train", "a.png", Png(Photo({16, 24}, 1)),
          Png(ColorLabel({20, 30}, RandomIds({20, 30}, 1))));
  ExpectError(StatusCode::kDataLoss, "its label 20 high × 30 wide");
}

// Scaled labels hold mixed colours; their size tells what happened.
TEST_F(PackJobTest, SizeOfALabelIsReportedBeforeItsColors) {
  TestImage label = ColorLabel({20, 30}, RandomIds({20, 30}, 1));
  label.samples[0] = 77;
  AddPair("train", "a.png", Png(Photo({16, 24}, 1)), Png(label));
  ExpectError(StatusCode::kDataLoss, "its label 20 high × 30 wide");
}

TEST_F(PackJobTest, PaletteGrayAndRgbLabelsAgree) {
  const ImageSize size = {6, 7};
  std::vector<uint8_t> ids = RandomIds(size, 5);
  std::string image = Png(Photo(size, 1));
  // The palette is in another order than the classes.
  std::vector<uint8_t> indices;
  for (uint8_t id : ids) indices.push_back(static_cast<uint8_t>(2 - id));
  AddPair("train", "palette.png", image,
          PalettePng(size, indices, {kColors[2], kColors[1], kColors[0]}));
  AddPair("train", "rgb.png", image, Png(ColorLabel(size, ids)));
  AddPair("train", "gray.png", image, Png(GrayLabel(size, ids)));
  ExpectError(StatusCode::kInvalidArgument, "say which holds with --palette index");
  options_.layout.palette = PaletteReading::kColor;
  ExpectCode(0);
  for (const auto& [key, record] : Read("train")) EXPECT_EQ(record.label, ids) << key;
  EXPECT_NE(out_.find("gray value (1 file), palette colour (1 file), RGB colour (1 file)"),
            std::string::npos)
      << out_;
}

TEST_F(PackJobTest, UnknownColorsAreCountedOverTheWholeSet) {
  const ImageSize size = {4, 5};
  for (int i = 0; i < 12; ++i) {
    TestImage label = ColorLabel(size, RandomIds(size, 1));
    if (i % 3 == 0) label.samples[0] = 77;  // the first pixel gets a red that no class has
    AddPair("train", "s" + std::to_string(i) + ".png", Png(Photo(size, 1)), Png(label));
  }
  AddScene("val", "v", size, 1);
  std::string first_message;
  for (int jobs : {1, 3}) {
    options_.jobs = jobs;
    Status status = Pack().status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_EQ(status.message().find("4 label files hold 4 pixels"), 0u) << status.message();
    EXPECT_NE(status.message().find("train_labels/s"), std::string::npos);
    if (first_message.empty()) first_message = status.message();
    EXPECT_EQ(status.message(), first_message);
    EXPECT_TRUE(output_.Files().empty());
  }
  options_.on_error.skip = true;
  ExpectCode(6);
  EXPECT_NE(out_.find("9 packed + 4 skipped = 13 inputs"), std::string::npos) << out_;
  EXPECT_NE(error_.find("warning: 4 label files hold 4 pixels"), std::string::npos) << error_;
}

TEST_F(PackJobTest, CountsAddUpWhateverIsBroken) {
  const ImageSize size = {8, 9};
  for (int i = 0; i < 6; ++i) AddScene("train", "good" + std::to_string(i), size, i);
  std::string label = Png(ColorLabel(size, RandomIds(size, 1))), image = Png(Photo(size, 1));
  std::string jpeg = Jpeg(Photo(size, 1), 90);
  AddPair("train", "empty.png", "", label);
  AddPair("train", "cut.png", image.substr(0, image.size() / 2), label);
  AddPair("train", "short.jpg", jpeg.substr(0, jpeg.size() - 20), label);
  AddPair("train", "text.png", "hello", label);
  AddPair("train", "nolabel.png", image, "");
  AddPair("train", "lossy.png", image, jpeg);
  AddPair("train", "sizes.png", image, Png(ColorLabel({9, 8}, RandomIds({9, 8}, 1))));
  source_.Write("train/orphan.png", image);
  source_.Write("train_labels/widow.png", label);
  source_.Write("train/.DS_Store", "x");
  ExpectError(StatusCode::kNotFound, "2 of 15 inputs cannot be packed");
  options_.on_error = {true, 8};
  ExpectCode(6);
  EXPECT_NE(out_.find("6 packed + 9 skipped = 15 inputs"), std::string::npos) << out_;
  for (const char* text :
       {"train/empty.png: this is an empty file",
        "train/cut.png: ", "train/short.jpg: damaged JPEG", "train/text.png: this is no image file",
        "label train_labels/lossy.png: this is a JPEG file", "train/orphan.png: there is no label",
        "train_labels/widow.png: there is no image"}) {
    EXPECT_NE(out_.find(text), std::string::npos) << text << "\n" << out_;
  }
  EXPECT_EQ(Read("train").size(), 6u);
  EXPECT_EQ(manifest_.splits(0).skipped_size(), 9);
  options_.overwrite = true;
  options_.on_error.allowed = 9;
  ExpectCode(0);
}

TEST_F(PackJobTest, StatisticsDoNotDependOnShards) {
  for (uint64_t i = 0; i < 10; ++i) AddScene("train", "s" + std::to_string(i), {10, 11}, i);
  ExpectCode(0);
  Read("train");
  const proto::Statistics one_shard = manifest_.splits(0).statistics();
  uint64_t pixels = 0;
  for (uint64_t count : one_shard.class_pixels()) pixels += count;
  EXPECT_EQ(pixels, 10u * 110);
  options_.overwrite = true;
  options_.shard_bytes = 1;
  ExpectCode(0);
  Read("train");
  EXPECT_EQ(manifest_.splits(0).shards_size(), 10);
  EXPECT_EQ(manifest_.splits(0).statistics().SerializeAsString(), one_shard.SerializeAsString());
}

TEST_F(PackJobTest, OneSampleWithManyThreads) {
  AddScene("train", "only", {5, 5}, 1);
  options_.jobs = 16;
  ExpectCode(0);
  EXPECT_EQ(Read("train").size(), 1u);
}

TEST_F(PackJobTest, ConversionsAreCounted) {
  const ImageSize size = {6, 7};
  std::string label = Png(ColorLabel(size, RandomIds(size, 1)));
  auto value = [](int y, int x, int c) { return 9 * y + x + 50 * c; };
  AddPair("train", "gray.png", Png(MakeImage(size, 1, value)), label);
  AddPair("train", "alpha.png", Png(MakeImage(size, 4, value)), label);
  AddPair("train", "wide.png", WidePng(MakeImage(size, 3, value)), label);
  AddPair("train", "stray.png", Png(MakeImage(size, 3, value)) + "x", label);
  ExpectCode(0);
  for (const char* text : {"gray to RGB, 1 image", "alpha dropped, 1 image",
                           "16 to 8 bits, 1 image", "stray bytes ignored, 1 image"}) {
    EXPECT_NE(out_.find(text), std::string::npos) << text << "\n" << out_;
  }
  EXPECT_EQ(Read("train")["train/alpha.png"].image[2], 100);
}

// What the report of such labels advises.
TEST_F(PackJobTest, BlackAndWhiteLabelsPackByATableOfTheseColors) {
  AddPair("train", "a.png", Png(Photo({1, 2}, 1)),
          Png(MakeImage({1, 2}, 1, [](int, int x, int) { return 255 * x; })));
  source_.Write("class_dict.csv", "name\nback\nfront\n");
  ExpectError(StatusCode::kDataLoss, "--map binary");
  source_.Write("class_dict.csv", "name,r,g,b\nback,0,0,0\nfront,255,255,255\n");
  ExpectCode(0);
  EXPECT_EQ(Read("train")["train/a.png"].label, (std::vector<uint8_t>{0, 1}));
}

TEST_F(PackJobTest, AbsentClassesAreWarnedOf) {
  const ImageSize size = {3, 3};
  AddPair("train", "a.png", Png(Photo(size, 1)), Png(ColorLabel(size, std::vector<uint8_t>(9, 1))));
  ExpectCode(0);
  EXPECT_NE(error_.find("warning: 2 of 3 classes occur in no record: sky, tree"), std::string::npos)
      << error_;
}

TEST_F(PackJobTest, PixelLimitIsKept) {
  AddScene("train", "a", {10, 10}, 1);
  AddScene("train", "b", {10, 10}, 2);
  options_.max_pixels = 99;
  ExpectError(StatusCode::kInvalidArgument, "--max-pixels");
}

// Classification: the class id of the folder, in all encodings.
class PackClassesTest : public PackJobTest {
 protected:
  PackClassesTest() : folder_(name_ + "-classes") {
    for (const char* name : {"cat", "dog", "emu"}) {
      for (int i = 0; i < 3; ++i) {
        folder_.Write("train/" + std::string(name) + "/1" + std::to_string(i) + ".jpg",
                      Jpeg(Photo({8, 8}, i), 90));
      }
    }
    folder_.Write("val/dog/9.png", Png(Photo({8, 8}, 9)));
    options_.source = folder_.path();
  }
  TestFolder folder_;
};

TEST_F(PackClassesTest, IdsFollowTheFolders) {
  ExpectCode(0);
  auto records = Read("train");
  EXPECT_EQ(records.size(), 9u);
  EXPECT_EQ(records["train/cat/10.jpg"].label, std::vector<uint8_t>{0});
  EXPECT_EQ(records["train/emu/12.jpg"].label, std::vector<uint8_t>{2});
  EXPECT_EQ(Read("val")["val/dog/9.png"].label, std::vector<uint8_t>{1});
  EXPECT_EQ(manifest_.splits(0).statistics().class_images(2), 3u);
  EXPECT_EQ(manifest_.fields(1).codec(), proto::RAW);
}

TEST_F(PackClassesTest, OneHotVectors) {
  options_.label_encoding = LabelEncoding::kOneHotBytes;
  ExpectCode(0);
  EXPECT_EQ(Read("train")["train/emu/12.jpg"].label, (std::vector<uint8_t>{0, 0, 1}));
  options_.overwrite = true;
  options_.label_encoding = LabelEncoding::kOneHotBits;
  ExpectCode(0);
  EXPECT_EQ(Read("train")["train/emu/12.jpg"].label, std::vector<uint8_t>{4});
}

TEST_F(PackClassesTest, IgnoreIsAUsageError) {
  options_.layout.ignore = 255;
  ExpectError(StatusCode::kInvalidArgument, "--ignore is for label images");
}

}  // namespace
}  // namespace shardmill
