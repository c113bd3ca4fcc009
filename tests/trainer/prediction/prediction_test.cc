// Windows, canvases and pictures of predictions.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "proto/record_meta.pb.h"
#include "reader/png_encode.h"
#include "tests/trainer/shape_dataset.h"
#include "tests/trainer/small_training.h"
#include "trainer/comm/self_communicator.h"
#include "trainer/prediction/pictures.h"
#include "trainer/prediction/prediction_files.h"
#include "trainer/prediction/prediction_writer.h"
#include "trainer/prediction/sliding_window.h"

namespace shardmill {
namespace {

std::string FileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

TEST(WindowStarts, CoverTheSizeAndEndAtTheEdge) {
  using Starts = std::vector<int64_t>;
  EXPECT_EQ(WindowStarts(10, 10, 3), Starts{0});
  EXPECT_EQ(WindowStarts(10, 4, 3), (Starts{0, 3, 6}));
  EXPECT_EQ(WindowStarts(11, 4, 3), (Starts{0, 3, 6, 7}));
  EXPECT_EQ(WindowStarts(5, 4, 4), (Starts{0, 1}));
}

TEST(LogitCanvas, AveragesWhereWindowsOverlapAndLeavesAwayWhatSticksOut) {
  LogitCanvas canvas(1, 4, 2);
  const std::vector<float> first = {1, 0, 1, 0, 1, 0}, second = {0, 3, 0, 3, 0, 3};
  canvas.Add(0, 0, 1, 3, first.data());
  canvas.Add(0, 2, 1, 3, second.data());
  canvas.Average();
  const std::vector<float> logits(canvas.logits(), canvas.logits() + 8);
  EXPECT_EQ(logits, (std::vector<float>{1, 0, 1, 0, 0.5f, 1.5f, 0, 3}));
  EXPECT_EQ(canvas.Classes(), (std::vector<uint16_t>{0, 0, 1, 1}));
  EXPECT_EQ(canvas.UncoveredPixels(), 0u);
  canvas.Clear();
  canvas.Add(-1, -2, 2, 3, std::vector<float>(12, 7).data());
  EXPECT_EQ(canvas.logits()[0], 7);
  EXPECT_EQ(canvas.logits()[2], 0);
  EXPECT_EQ(canvas.Classes(255), (std::vector<uint16_t>{0, 255, 255, 255}));
  EXPECT_EQ(canvas.UncoveredPixels(), 3u);
}

// As many windows as a stride of one pixel puts there.
TEST(LogitCanvas, ManyWindowsOnAPixelAreAveraged) {
  LogitCanvas canvas(1, 1, 1);
  const float one = 1;
  for (int i = 0; i < 65536; ++i) canvas.Add(0, 0, 1, 1, &one);
  canvas.Average();
  EXPECT_EQ(canvas.logits()[0], 1);
  EXPECT_EQ(canvas.UncoveredPixels(), 0u);
}

// A network that looks at single pixels.
ModelSpec OneConvolution(int classes) {
  ModelSpec model;
  model.name = "pixelwise";
  LayerSpec layer;
  layer.name = "head";
  layer.inputs = {"images"};
  layer.channels = classes;
  model.layers = {layer};
  return model;
}

// Of a network that looks at single pixels, windows must give what whole images give.
TEST(SlidingWindow, OfAPixelwiseNetworkEqualsWholeImages) {
  ModelSpec model = OneConvolution(kClasses);
  model.layers.front().bias = true;
  const auto ops = CpuOps();
  const auto graph = MakeGraph(model, ops.get(), PixelOptions());
  Samples samples({2, 13, 17, 3});
  samples.classes[5] = 255;
  const auto alone = CreateSelfCommunicator();
  const BatchRows rows = {samples.images(), samples.labels(), 2};
  ConfusionMatrix whole(kClasses, 255), windows(kClasses, 255);
  const auto whole_engine = CreateRankEngine(graph.get(), alone.get());
  LossOptions loss;
  loss.ignore = 255;
  ASSERT_TRUE(graph->SetLoss(loss).ok());
  const auto expected = (*whole_engine)->Score(rows, false, &whole);
  ASSERT_TRUE(expected.ok());
  WindowOptions options;
  options.height = 6;
  options.width = 30;  // wider than the images
  options.stride_y = 4;
  const auto actual =
      CreateSlidingEngine(graph.get(), alone.get(), options)->Score(rows, false, &windows);
  ASSERT_TRUE(actual.ok()) << actual.status().ToString();
  EXPECT_EQ(windows.counts(), whole.counts());
  EXPECT_EQ(windows.ignored(), 1u);
  EXPECT_EQ(actual->loss.weight_sum, expected->loss.weight_sum);
  EXPECT_NEAR(actual->loss.loss_sum, expected->loss.loss_sum, 1e-3);
}

TEST(SlidingWindow, StridesBeyondTheWindowAreInvalidArgument) {
  EXPECT_TRUE(CheckWindows({8, 8, 8, 0}).ok());
  EXPECT_EQ(CheckWindows({8, 8, 9, 0}).code(), StatusCode::kInvalidArgument);
}

TEST(FileOfKey, KeepsFoldersAndRefusesWaysOut) {
  EXPECT_EQ(FileOfKey("out", "a/b.png"), "out/a/b");
  EXPECT_EQ(FileOfKey("out", "b.jpg#v2"), "out/b.jpg#v2");
  const std::string longest(228, 'x'), too_long = "a/" + longest + "y.png";
  EXPECT_EQ(FileOfKey("out", longest + ".png"), "out/" + longest);
  const std::string shortened = *FileOfKey("out", too_long);
  EXPECT_EQ(shortened.size(), 6 + longest.size());
  EXPECT_EQ(shortened.substr(0, 218), "out/a/" + longest.substr(0, 211) + "~");
  EXPECT_NE(shortened, FileOfKey("out", "a/" + longest + "z.png"));
  for (const char* key : {"", "/a", "a/", "../a", "a/../b", "a//b", "./a"}) {
    EXPECT_FALSE(FileOfKey("out", key)) << key;
  }
}

TEST(Pictures, ClassMapsAreIdsWithAPalette) {
  const std::string path = testing::TempDir() + "/map.png";
  ASSERT_TRUE(WriteClassMap(path, {0, 2, 1, 1}, 2, 2, {0x102030, 0x405060, 0x708090},
                            ClassMapForm::kPalette)
                  .ok());
  const std::vector<uint8_t> pixels = {0, 2, 1, 1};
  PngPicture picture;
  picture.height = picture.width = 2;
  picture.color = PngColor::kPalette;
  picture.pixels = pixels.data();
  picture.palette = {0x102030, 0x405060, 0x708090};
  picture.software = "shardmill-train";
  EXPECT_EQ(FileBytes(path), *EncodePng(picture));
}

TEST(Pictures, ManyClassesAreIdsOfSixteenBits) {
  const std::string path = testing::TempDir() + "/wide.png";
  ASSERT_TRUE(WriteClassMap(path, {299, 2}, 1, 2, std::vector<uint32_t>(300, 0x102030),
                            ClassMapForm::kGray16)
                  .ok());
  const std::vector<uint8_t> pixels = {1, 43, 0, 2};
  PngPicture picture;
  picture.height = 1;
  picture.width = 2;
  picture.color = PngColor::kGray16;
  picture.pixels = pixels.data();
  picture.software = "shardmill-train";
  EXPECT_EQ(FileBytes(path), *EncodePng(picture));
}

TEST(Pictures, OverlayMixesImageAndColours) {
  const std::string path = testing::TempDir() + "/overlay.png";
  ASSERT_TRUE(WriteOverlay(path, {10, 20, 30, 0, 0, 0}, {1, 0}, 1, 2, {0x000000, 0x646464}).ok());
  const std::vector<uint8_t> pixels = {55, 60, 65, 0, 0, 0};
  PngPicture picture;
  picture.height = 1;
  picture.width = 2;
  picture.pixels = pixels.data();
  picture.software = "shardmill-train";
  EXPECT_EQ(FileBytes(path), *EncodePng(picture));
}

TEST(Pictures, ConfusionIsDarkWhereTheLabelGoesAndGrayWithoutLabels) {
  ConfusionMatrix matrix(500, std::nullopt);  // cells of two pixels, without lines
  matrix.AddCount(0, 1, 10);
  const std::string path = testing::TempDir() + "/confusion.png";
  ASSERT_TRUE(WriteConfusion(path, matrix).ok());
  std::vector<uint8_t> pixels(3 * 1000 * 1000, 0xE4);
  for (int y = 0; y < 2; ++y) {
    std::fill_n(pixels.begin() + 3000 * y, 3000, 255);
    for (int x = 2; x < 4; ++x) {
      const uint8_t dark[] = {8, 48, 107};
      std::copy_n(dark, 3, pixels.begin() + 3000 * y + 3 * x);
    }
  }
  PngPicture picture;
  picture.height = picture.width = 1000;
  picture.pixels = pixels.data();
  picture.software = "shardmill-train";
  EXPECT_EQ(FileBytes(path), *EncodePng(picture));
}

TEST(Pictures, MissingColoursAreGeneratedAndDistinct) {
  const std::vector<uint32_t> colors =
      ClassColors({{0, "a", 0x123456}, {1, "b", std::nullopt}, {2, "c", std::nullopt}});
  EXPECT_EQ(colors[0], 0x123456u);
  EXPECT_NE(colors[1], colors[2]);
}

class PredictionWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    auto dataset = Dataset::Open(WriteShapeDataset("predictions", {}));
    ASSERT_TRUE(dataset.ok()) << dataset.status().ToString();
    scorer_.dataset = *dataset;
    scorer_.task = *DescribeTask(scorer_.dataset->schema());
    ops_ = CpuOps();
    scorer_.graph = MakeGraph(OneConvolution(3), ops_.get());
  }

  // Two tiles of 1 × 3 pixels of a source of 1 × 4, the second one pixel further to the right.
  static proto::RecordMeta Tile(int number, const std::string& source = "city/a.png") {
    proto::RecordMeta meta;
    meta.set_key(source + (number == 0 ? "" : "#v" + std::to_string(number)));
    meta.set_variant(static_cast<uint32_t>(number));
    meta.set_source_height(1);
    meta.set_source_width(4);
    meta.set_crop_height(1);
    meta.set_crop_width(3);
    meta.set_crop_x(number);
    return meta;
  }

  std::unique_ptr<OpTable> ops_;
  Scorer scorer_;
};

TEST_F(PredictionWriterTest, TilesOfASourceBecomeOnePicture) {
  PredictionOptions options;
  options.folder = testing::TempDir() + "/stitched";
  options.stitch = true;
  auto writer = PredictionWriter::Create(options, scorer_);
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  const std::vector<uint8_t> pixels = {1, 1, 1, 2, 2, 2, 3, 3, 3};
  ImageBatch images;
  images.data = pixels.data();
  images.shape = {1, 1, 3, 3};
  const std::vector<float> second_class = {0, 1, 0, 0, 1, 0, 0, 1, 0};
  const std::vector<float> third_class = {0, 0, 5, 0, 0, 5, 0, 0, 5};
  LogitCanvas canvas(1, 3, 3);
  canvas.Add(0, 0, 1, 3, second_class.data());
  ASSERT_TRUE((*writer)->Add(Tile(0), images, 0, canvas).ok());
  canvas.Clear();
  canvas.Add(0, 0, 1, 3, third_class.data());
  ASSERT_TRUE((*writer)->Add(Tile(1), images, 0, canvas).ok());
  ASSERT_TRUE((*writer)->Close().ok());
  EXPECT_EQ((*writer)->written(), 1u);
  const std::string expected = testing::TempDir() + "/expected.png";
  ASSERT_TRUE(WriteClassMap(expected, {1, 2, 2, 2}, 1, 4,
                            ClassColors(scorer_.dataset->schema().classes), ClassMapForm::kPalette)
                  .ok());
  EXPECT_EQ(FileBytes(options.folder + "/city/a.png"), FileBytes(expected));
  EXPECT_EQ((*writer)->uncovered().pixels, 0u);
  EXPECT_TRUE(std::filesystem::exists(options.folder + "/city/a.overlay.png"));
}

// "#v" may be part of a name; only what says that it is variant N ends in its number.
TEST_F(PredictionWriterTest, SourcesWithTheSignOfAVariantInTheirNamesStayApart) {
  PredictionOptions options;
  options.folder = testing::TempDir() + "/signs";
  options.stitch = true;
  auto writer = PredictionWriter::Create(options, scorer_);
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  const std::vector<uint8_t> pixels(9);
  ImageBatch images;
  images.data = pixels.data();
  images.shape = {1, 1, 3, 3};
  LogitCanvas canvas(1, 3, 3);
  canvas.Add(0, 0, 1, 3, std::vector<float>(9, 1).data());
  for (const char* source : {"clip#v2/a.png", "clip#v2/b.png", "cam#v1.png"}) {
    for (int tile = 0; tile < 2; ++tile) {
      ASSERT_TRUE((*writer)->Add(Tile(tile, source), images, 0, canvas).ok());
    }
  }
  proto::RecordMeta meta = Tile(0, "x#v7");
  ASSERT_TRUE((*writer)->Add(meta, images, 0, canvas).ok());
  ASSERT_TRUE((*writer)->Close().ok());
  EXPECT_EQ((*writer)->written(), 4u);
  for (const char* name : {"clip#v2/a.png", "clip#v2/b.png", "cam#v1.png", "x#v7.png"}) {
    EXPECT_TRUE(std::filesystem::exists(options.folder + "/" + name)) << name;
  }
}

TEST_F(PredictionWriterTest, WhatNoTileCoversHasTheIgnoreValueAndIsCounted) {
  PredictionOptions options;
  options.folder = testing::TempDir() + "/holes";
  options.stitch = true;
  auto writer = PredictionWriter::Create(options, scorer_);
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  const std::vector<uint8_t> pixels(9, 40);
  ImageBatch images;
  images.data = pixels.data();
  images.shape = {1, 1, 3, 3};
  LogitCanvas canvas(1, 3, 3);
  canvas.Add(0, 0, 1, 3, std::vector<float>{0, 1, 0, 0, 1, 0, 0, 1, 0}.data());
  ASSERT_TRUE((*writer)->Add(Tile(1), images, 0, canvas).ok());
  ASSERT_TRUE((*writer)->Close().ok());
  EXPECT_EQ((*writer)->uncovered().pictures, 1u);
  EXPECT_EQ((*writer)->uncovered().pixels, 1u);
  EXPECT_EQ((*writer)->uncovered().value, 255);
  const std::string expected = testing::TempDir() + "/expected_holes.png";
  ASSERT_TRUE(WriteClassMap(expected, {255, 1, 1, 1}, 1, 4,
                            ClassColors(scorer_.dataset->schema().classes), ClassMapForm::kPalette)
                  .ok());
  EXPECT_EQ(FileBytes(options.folder + "/city/a.png"), FileBytes(expected));
}

class PictureNamesTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.folder = testing::TempDir() + "/names_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(options_.folder);
    std::filesystem::create_directories(options_.folder + "/sub");
  }

  Status Check(const std::vector<std::string>& keys) const {
    PictureNames names(options_);
    for (const std::string& key : keys) {
      proto::RecordMeta meta;
      meta.set_key(key);
      RETURN_IF_ERROR(names.Add(meta));
    }
    return names.Finish();
  }

  void ExpectRefused(const std::vector<std::string>& keys, const std::string& message) const {
    const Status status = Check(keys);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
    EXPECT_NE(status.message().find(message), std::string::npos) << status.ToString();
  }

  PredictionOptions options_;
};

TEST_F(PictureNamesTest, PicturesOfOneNameAreRefused) {
  EXPECT_TRUE(Check({"a.png", "b.jpg", "sub/a.png"}).ok());
  ExpectRefused({"a.png", "a.overlay.png"}, "--no-overlays");
  ExpectRefused({"a.jpg", "a.jpg.png"}, "two predictions would be one file");
  ExpectRefused({"a", "a.png/b"}, "the folder of others");
  options_.overlays = false;
  EXPECT_TRUE(Check({"a.png", "a.overlay.png"}).ok());
}

TEST_F(PictureNamesTest, OnlyEarlierPredictionsAreReplacedAndOnlyWhenAsked) {
  const std::string path = options_.folder + "/sub/a.png";
  ASSERT_TRUE(WriteClassMap(path, {0}, 1, 1, {0}, ClassMapForm::kPalette).ok());
  ExpectRefused({"b.png", "sub/a.png"}, "--overwrite");
  options_.overwrite = true;
  EXPECT_TRUE(Check({"b.png", "sub/a.png"}).ok());
  const uint8_t pixels[3] = {};
  PngPicture photograph;
  photograph.height = photograph.width = 1;
  photograph.pixels = pixels;
  ASSERT_TRUE(WritePng(path, photograph).ok());
  ExpectRefused({"sub/a.png"}, "no prediction of shardmill-train");
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/nowhere", path);
  ExpectRefused({"sub/a.png"}, "no prediction of shardmill-train");
}

TEST_F(PictureNamesTest, WhatAKilledPredictionBeganIsRemoved) {
  const std::string folder = options_.folder + "/sub/";
  for (const char* name : {"a.png.tmp-1", "a.overlay.png.tmp-77-2", "b.png.tmp-1", "a.png.tmp-x"}) {
    std::ofstream(folder + name) << "part";
  }
  EXPECT_TRUE(Check({"sub/a.png"}).ok());
  EXPECT_FALSE(std::filesystem::exists(folder + "a.png.tmp-1"));
  EXPECT_FALSE(std::filesystem::exists(folder + "a.overlay.png.tmp-77-2"));
  EXPECT_TRUE(std::filesystem::exists(folder + "b.png.tmp-1"));
  EXPECT_TRUE(std::filesystem::exists(folder + "a.png.tmp-x"));
}

// An interrupted prediction leaves the table of before.
TEST(PredictionTable, AppearsWholeOrNotAtAll) {
  ShapeDatasetOptions shapes;
  shapes.kind = TaskKind::kClassification;
  auto dataset = Dataset::Open(WriteShapeDataset("table", shapes));
  ASSERT_TRUE(dataset.ok()) << dataset.status().ToString();
  const auto ops = CpuOps();  // outlives the graph
  Scorer scorer;
  scorer.dataset = *dataset;
  scorer.task = *DescribeTask(scorer.dataset->schema());
  scorer.graph = MakeGraph(OneConvolution(3), ops.get());
  PredictionOptions options;
  options.folder = testing::TempDir() + "/table_out";
  std::filesystem::remove_all(options.folder);
  std::filesystem::create_directories(options.folder);
  const std::string path = options.folder + "/predictions.csv";
  proto::RecordMeta meta;
  meta.set_key("a \"b\".png");
  const float logits[] = {0, 0, 1000};
  ASSERT_TRUE(CheckTable(options).ok());
  {
    auto writer = PredictionWriter::Create(options, scorer);
    ASSERT_TRUE(writer.ok()) << writer.status().ToString();
    ASSERT_TRUE((*writer)->AddClass(meta, logits).ok());
    ASSERT_TRUE((*writer)->Close().ok());
  }
  const std::string whole =
      "key,class,name,probability\n\"a \"\"b\"\".png\",2,\"green\",1.000000\n";
  EXPECT_EQ(FileBytes(path), whole);
  EXPECT_EQ(CheckTable(options).code(), StatusCode::kInvalidArgument);
  options.overwrite = true;
  ASSERT_TRUE(CheckTable(options).ok());
  {
    auto writer = PredictionWriter::Create(options, scorer);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->AddClass(meta, logits).ok());
  }
  EXPECT_EQ(FileBytes(path), whole);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(options.folder),
                          std::filesystem::directory_iterator()),
            1);
  std::ofstream(path) << "name,address\n";
  EXPECT_EQ(CheckTable(options).code(), StatusCode::kInvalidArgument);
}

TEST_F(PredictionWriterTest, RecordsThatAreNoTilesCannotBeStitched) {
  PredictionOptions options;
  options.folder = testing::TempDir() + "/not_stitched";
  options.stitch = true;
  auto writer = PredictionWriter::Create(options, scorer_);
  ASSERT_TRUE(writer.ok());
  const std::vector<uint8_t> pixels(9);
  ImageBatch images;
  images.data = pixels.data();
  images.shape = {1, 1, 3, 3};
  const LogitCanvas canvas(1, 3, 3);
  proto::RecordMeta meta = Tile(0);
  meta.set_crop_width(2);
  EXPECT_EQ((*writer)->Add(meta, images, 0, canvas).code(), StatusCode::kInvalidArgument);
  meta = Tile(0);
  meta.clear_source_width();
  EXPECT_EQ((*writer)->Add(meta, images, 0, canvas).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
