#include "tools/pack/pack_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include "proto/manifest.pb.h"
#include "proto/record_meta.pb.h"
#include "reader/dataset.h"
#include "tests/tools/pack/image_files.h"
#include "tests/tools/pack/pack_fixture.h"
#include "tools/pack/decode/image_decode.h"
#include "tools/pack/decode/rgb_convert.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

using PackJobTest = PackFixture;

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

// Without a crop the size of the set comes from a look at the files, which must turn them as
// decoding does, wherever the EXIF data stand; a large file is not read whole for it.
TEST_F(PackJobTest, SizesAreUprightWhateverTheFormat) {
  const ImageSize stored = {200, 300}, upright = {300, 200};
  const std::string png = Png(Photo(stored, 1));
  ASSERT_GT(png.size(), size_t{64} << 10);
  const std::string label = Png(ColorLabel(upright, RandomIds(upright, 3)));
  AddPair("train", "a.png", WithChunk(png, "eXIf", ExifOf(6)), label);
  AddPair("train", "b.png", WithLateChunk(png, "eXIf", ExifOf(8)), label);
  AddPair("train", "c.jpg", WithOrientation(Jpeg(Photo(stored, 1), 90), 5), label);
  AddPair("train", "d.png", Png(Photo(upright, 1)), label);
  ExpectCode(0);
  EXPECT_EQ(Read("train").size(), 4u);
  EXPECT_NE(out_.find("EXIF orientation applied, 3 images"), std::string::npos) << out_;
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
  // A limit of none is one: the set is kept.
  options_.on_error = {true, 0};
  options_.crop = ImageSize{8, 8};
  options_.quiet = true;
  ExpectCode(6);
  EXPECT_NE(error_.find("9 inputs were skipped, --on-error skip=0 allows 0"), std::string::npos)
      << error_;
  EXPECT_EQ(Read("train").begin()->second.image.size(), 8u * 9 * 3);
  // Without a limit what is left replaces it, and -q does not hide why the code is 6.
  options_.on_error = {true, std::nullopt};
  ExpectCode(6);
  EXPECT_NE(
      error_.find("9 inputs were skipped, --on-error skip allows 0 before the exit code is 6"),
      std::string::npos)
      << error_;
  EXPECT_EQ(Read("train").begin()->second.image.size(), 8u * 8 * 3);
  options_.on_error.limit = 9;
  options_.crop.reset();
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

TEST_F(PackJobTest, ReportOfSomebodyIsNotReplacedUnasked) {
  AddScene("train", "a", {8, 8}, 1);
  output_.Write("pack-report.html", "of somebody");
  ExpectError(StatusCode::kInvalidArgument, "no data set that it tells of; move it away");
  EXPECT_EQ(output_.Files(), std::vector<std::string>{"pack-report.html"});
  EXPECT_EQ(output_.Read("pack-report.html"), "of somebody");
  options_.overwrite = true;
  ExpectCode(0);
  EXPECT_NE(output_.Read("pack-report.html"), "of somebody");
}

TEST_F(PackJobTest, OutputThatCanBeNoFolderIsToldWithTheNextStep) {
  AddScene("train", "a", {8, 8}, 1);
  output_.Write("file", "");
  for (const std::string& path : {output_.At("file"), output_.At("file/below")}) {
    options_.output = path;
    const Status status = RunPackJob(options_, ReportStyle::kText).status();
    EXPECT_EQ(status.code(), StatusCode::kIo) << status.ToString();
    EXPECT_NE(status.message().find("; choose another one for -o"), std::string::npos);
  }
  options_.output = output_.At("missing");
  options_.finish = true;
  const Status status = RunPackJob(options_, ReportStyle::kText).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound) << status.ToString();
  EXPECT_NE(status.message().find("; make the shards first"), std::string::npos);
  EXPECT_FALSE(output_.Has("missing"));
}

// A program that reads stdout gets one object in each case.
TEST_F(PackJobTest, FailureIsAnObjectToo) {
  AddScene("train", "a", {8, 8}, 1);
  AddScene("train", "b", {8, 8}, 2);
  source_.Write("train/a.png", "cut");
  const auto print = [this] {
    testing::internal::CaptureStdout();
    const Status status = RunPackJob(options_, ReportStyle::kJson).status();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    return testing::internal::GetCapturedStdout();
  };
  std::string out = print();
  EXPECT_NE(
      out.find("\"status\": \"DataLoss\",\n  \"exit_code\": 4,\n  \"error\": \"train/a.png: "),
      std::string::npos)
      << out;
  // The plan tells of the problems itself.
  options_.dry_run = true;
  out = print();
  EXPECT_NE(out.find("\"dry_run\": true"), std::string::npos) << out;
  EXPECT_EQ(out.find("\"error\""), std::string::npos) << out;
}

// Headers, tables and padding are most of such small shards.
TEST_F(PackJobTest, SetIsNoLargerThanWasTold) {
  for (uint64_t i = 0; i < 6; ++i) AddScene("train", "s" + std::to_string(i), {8, 8}, i);
  options_.shard_bytes = 500;
  options_.block_bytes = 250;
  options_.quiet = false;
  ExpectCode(0);
  const size_t number = error_.find("at most ");
  ASSERT_NE(error_.find(" KiB in all"), std::string::npos) << error_;
  const double told = std::stod(error_.substr(number + 8)) * 1024;
  double bytes = 0;
  for (const std::string& file : output_.Files()) {
    if (file.find(".shard") != std::string::npos) {
      bytes += static_cast<double>(std::filesystem::file_size(output_.At(file)));
    }
  }
  EXPECT_GE(told, bytes);
  EXPECT_LE(told, 2 * bytes);
}

}  // namespace
}  // namespace shardmill
