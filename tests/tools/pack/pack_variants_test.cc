// Packs that make several records of an image: tiles, random windows, augmented copies.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "tests/tools/pack/decode/png_builder.h"
#include "tests/tools/pack/pack_fixture.h"
#include "tools/dump/recount.h"
#include "tools/dump/shard_set.h"

namespace shardmill {
namespace {

using PackVariantsTest = PackFixture;

// Tiles of all images, put back where their metadata says, give the images again.
TEST_F(PackVariantsTest, TilesCanBeStitchedTogetherAgain) {
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

TEST_F(PackVariantsTest, VariantsAreOfTrainAloneAndStandTogether) {
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
TEST_F(PackVariantsTest, ShortSideIsResizedInProportion) {
  AddScene("train", "a", {20, 30}, 1);
  AddScene("train", "b", {40, 60}, 2);
  options_.resize = ResizeRule{ResizeRule::Kind::kShortSide, {}, 10};
  ExpectCode(0);
  auto records = Read("train");
  EXPECT_EQ(records["train/b.png"].meta.resized_height(), 10u);
  EXPECT_EQ(records["train/b.png"].meta.resized_width(), 15u);
  EXPECT_EQ(records["train/b.png"].image.size(), 10u * 15 * 3);
}

// Sources hold the classes 0 and 2 alone: a label that was mixed anywhere would hold 1.
TEST_F(PackVariantsTest, NoGeometryMakesNewLabelValues) {
  RandomStream random(8);
  for (uint32_t i = 0; i < 6; ++i) {
    const ImageSize size = {18 + 3 * i, 40 - 4 * i};
    std::vector<uint8_t> ids;
    for (uint64_t k = 0; k < size.pixels(); ++k) ids.push_back(random.Chance(0.5) ? 0 : 2);
    AddPair("train", std::to_string(i) + ".png", Png(Photo(size, i)), Png(ColorLabel(size, ids)));
  }
  options_.overwrite = true;
  options_.augment = *ParseAugments("flip,flip-vertical,crop,scale=2,rotate=180,blur,cutout");
  options_.augment.copies = 2;
  for (const char* resize : {"11x13", "short=30"}) {
    options_.resize = *ParseResize(resize);
    for (CropMode mode :
         {CropMode::kCenter, CropMode::kRandom, CropMode::kCorners, CropMode::kTile}) {
      options_.crop = ImageSize{14, 22};
      options_.crop_mode = mode;
      ExpectCode(0);
      std::set<int> values;
      for (const auto& [key, record] : Read("train")) {
        values.insert(record.label.begin(), record.label.end());
      }
      EXPECT_EQ(values, (std::set<int>{0, 2, 255})) << resize << " " << CropModeName(mode);
    }
  }
}

TEST_F(PackVariantsTest, SmallImagesArePaddedOrRefused) {
  AddScene("train", "large", {30, 30}, 1);
  AddScene("train", "low", {10, 30}, 2);
  options_.crop = ImageSize{16, 16};
  ExpectCode(0);
  EXPECT_EQ(Read("train")["train/low.png"].meta.crop_y(), -3);
  EXPECT_NE(out_.find("padding: 18.75 % of the pixels of all records lie outside"),
            std::string::npos)
      << out_;
  options_.overwrite = true;
  options_.small_images = SmallImages::kRefuse;
  ExpectError(StatusCode::kDataLoss,
              "train/low.png: the image is 10 high × 30 wide, smaller than --crop 16x16");
  options_.on_error = {true, {}};
  ExpectCode(6);
  EXPECT_EQ(Read("train").size(), 1u);
}

// Sums over its side would not fit their type.
TEST_F(PackVariantsTest, ImageOfAGiantSideIsNotResized) {
  PngSpec spec;
  spec.width = kMaxImageSide + 1;
  const auto pixels = static_cast<size_t>(spec.width);
  AddPair("train", "a.png", BuildPng(spec, std::vector<uint8_t>(pixels, 255)),
          BuildPng(spec, std::vector<uint8_t>(pixels)));
  options_.resize = *ParseResize("1x4");
  ExpectError(StatusCode::kDataLoss,
              "1 high × 1048577 wide cannot be resized: a side has more than 1,048,576 pixels");
  options_.resize.reset();
  options_.crop = ImageSize{1, 4};
  ExpectCode(0);
}

// Decoding at a fraction gives nearly the same picture, at the size that was asked for.
TEST_F(PackVariantsTest, FastResizeIsNearTheFullOne) {
  // So steep that a picture moved by one source pixel would differ by more than a level.
  const TestImage photo = MakeImage({160, 240}, 3, [](int y, int x, int c) {
    return c == 0 ? y * 3 / 2 : c == 1 ? x : 255 - x;
  });
  AddPair("train", "a.jpg", Jpeg(photo, 95), Png(GrayLabel(photo.size, RandomIds(photo.size, 1))));
  options_.resize = *ParseResize("37x55");
  ExpectCode(0);
  const auto full = Read("train");
  options_.fast_resize = true;
  options_.overwrite = true;
  ExpectCode(0);
  const auto fast = Read("train");
  const auto& a = full.at("train/a.jpg");
  const auto& b = fast.at("train/a.jpg");
  EXPECT_EQ(a.label, b.label);
  EXPECT_NE(a.image, b.image);
  ASSERT_EQ(a.image.size(), b.image.size());
  double difference = 0;
  for (size_t i = 0; i < a.image.size(); ++i) difference += std::abs(a.image[i] - b.image[i]);
  EXPECT_LT(difference / static_cast<double>(a.image.size()), 0.7);
}

// Everything that augmentation does, on images of many sizes.
TEST_F(PackVariantsTest, AugmentedBytesDoNotDependOnJobs) {
  for (uint32_t i = 0; i < 9; ++i) AddScene("train", "s" + std::to_string(i), {20 + i, 44 - i}, i);
  AddScene("val", "v", {20, 30}, 99);
  options_.crop = ImageSize{16, 20};
  options_.crop_mode = CropMode::kRandom;
  options_.variants = 2;
  options_.augment = *ParseAugments("flip,scale,rotate,brightness,hue,noise,blur,cutout");
  options_.augment.copies = 3;
  options_.shard_bytes = 20000;
  options_.jobs = 1;
  ExpectCode(0);
  const auto with_one = OutputFiles();
  options_.overwrite = true;
  for (int jobs : {3, 5}) {
    options_.jobs = jobs;
    ExpectCode(0);
    EXPECT_EQ(OutputFiles(), with_one) << jobs;
  }
  options_.seed = 2;
  ExpectCode(0);
  EXPECT_NE(OutputFiles(), with_one);
  EXPECT_EQ(Read("train").size(), 9u * 2 * 4);
  EXPECT_EQ(Read("val").size(), 1u);
}

TEST_F(PackVariantsTest, WhatWasDrawnIsStoredWithEachRecord) {
  for (uint64_t i = 0; i < 4; ++i) AddScene("train", "s" + std::to_string(i), {30, 40}, i);
  options_.augment = *ParseAugments(UsualAugments());
  options_.augment.copies = 2;
  ExpectCode(0);
  auto records = Read("train");
  ASSERT_EQ(records.size(), 12u);
  std::set<uint64_t> seeds;
  std::set<int32_t> rotations;
  for (const auto& [key, record] : records) {
    const bool plain = record.meta.variant() == 0;
    EXPECT_EQ(record.meta.has_augmentation(), !plain) << key;
    EXPECT_EQ(record.meta.seed() == 0, plain);
    if (plain) {
      EXPECT_EQ(record.label, RandomIds({30, 40}, std::stoull(key.substr(7)))) << key;
      continue;
    }
    const proto::Augmentation& drawn = record.meta.augmentation();
    ASSERT_EQ(drawn.to_source_size(), 6);
    seeds.insert(record.meta.seed());
    rotations.insert(drawn.rotation_millidegrees());
    // Every pixel is where the stored map says.
    const std::vector<uint8_t> ids = RandomIds({30, 40}, std::stoull(key.substr(7)));
    for (int64_t y = 0; y < 30; ++y) {
      for (int64_t x = 0; x < 40; ++x) {
        const int64_t u =
            (drawn.to_source(0) * x + drawn.to_source(1) * y + drawn.to_source(2)) >> 32;
        const int64_t v =
            (drawn.to_source(3) * x + drawn.to_source(4) * y + drawn.to_source(5)) >> 32;
        const bool inside = u >= 0 && v >= 0 && u < 40 && v < 30;
        ASSERT_EQ(record.label[static_cast<size_t>(y * 40 + x)],
                  inside ? ids[static_cast<size_t>(v * 40 + u)] : 255);
      }
    }
  }
  EXPECT_EQ(seeds.size(), 8u);
  EXPECT_EQ(rotations.size(), 8u);
}

// What was turned out of the image is padding: it counts for nothing.
TEST_F(PackVariantsTest, AugmentedStatisticsAreThoseOfTheRecords) {
  for (uint32_t i = 0; i < 5; ++i) AddScene("train", "s" + std::to_string(i), {20 + i, 30}, i);
  options_.resize = *ParseResize("short=25");
  options_.crop = ImageSize{22, 40};
  options_.augment = *ParseAugments("flip,scale=2,rotate=180,contrast,noise,cutout");
  options_.augment.copies = 4;
  options_.overwrite = true;
  // JPEG changes pixels: those that a reader gets are counted.
  for (Codec codec : {Codec::kRaw, Codec::kJpeg}) {
    options_.image_codec.codec = codec;
    ExpectCode(0);
    auto set = ShardSet::Open(output_.path(), "train");
    ASSERT_TRUE(set.ok()) << set.status().ToString();
    const ShardSet::Split& split = (*set)->splits().front();
    Result<SplitRecount> recount = RecountSplit(**set, split, {});
    ASSERT_TRUE(recount.ok()) << recount.status().ToString();
    const proto::Statistics& stored = (*set)->manifest().splits(0).statistics();
    EXPECT_EQ(CompareStatistics((*set)->schema(), stored, *recount->statistics),
              std::vector<std::string>());
    EXPECT_EQ(stored.records(), 25u);
    EXPECT_LT(stored.image_pixels(), 25u * 22 * 40);
    EXPECT_GT(stored.image_pixels(), 25u * 22 * 40 / 2);
  }
}

TEST_F(PackVariantsTest, RuleThatLeavesNothingIsNoDamage) {
  source_.Write("class_dict.csv", "name\nsky\n");
  AddPair("train", "void.png", Png(Photo({8, 8}, 2)),
          Png(GrayLabel({8, 8}, std::vector<uint8_t>(64, 255))));
  options_.layout.ignore = 255;
  options_.crop = ImageSize{4, 4};
  options_.max_ignore_permille = 500;
  ExpectError(StatusCode::kInvalidArgument,
              "none of the 1 inputs of split train could be packed; the first: train/void.png: too "
              "much of each of its windows is ignored (--max-ignore)");
}

// Half of each image is ignored: windows are moved away from it, tiles on it are left out.
TEST_F(PackVariantsTest, WindowsWithTooMuchIgnoreAreDrawnAgainOrDropped) {
  const ImageSize size = {20, 40};
  std::vector<uint8_t> half(size.pixels(), 255), all(size.pixels(), 255);
  for (size_t i = 0; i < half.size(); ++i) half[i] = i % 40 < 20 ? i % 3 : 255;
  source_.Write("class_dict.csv", "name\nsky\nroad\ntree\n");
  for (int i = 0; i < 8; ++i) {
    AddPair("train", std::to_string(i) + ".png", Png(Photo(size, 1)), Png(GrayLabel(size, half)));
  }
  AddPair("train", "void.png", Png(Photo(size, 2)), Png(GrayLabel(size, all)));
  AddPair("val", "void.png", Png(Photo(size, 2)), Png(GrayLabel(size, all)));
  options_.layout.ignore = 255;
  options_.crop = ImageSize{10, 10};
  options_.crop_mode = CropMode::kTile;
  options_.max_ignore_permille = 500;
  ExpectCode(0);  // what a rule leaves out is no fault
  EXPECT_EQ(Read("train").size(), 8u * 4);
  EXPECT_EQ(Read("val").size(), 1u);  // the rule is for train
  const proto::Split& train = manifest_.splits(0);
  EXPECT_EQ(train.statistics().dropped_records(), 8u * 4 + 8);
  ASSERT_EQ(train.skipped_size(), 1);
  EXPECT_EQ(train.skipped(0).key(), "train/void.png");
  EXPECT_TRUE(train.skipped(0).by_rule());
  EXPECT_NE(out_.find("9 packed + 1 skipped = 10 inputs"), std::string::npos) << out_;
  EXPECT_NE(out_.find("dropped: 40 windows"), std::string::npos) << out_;

  options_.overwrite = true;
  options_.crop_mode = CropMode::kRandom;
  options_.variants = 5;
  ExpectCode(0);
  auto records = Read("train");
  EXPECT_GE(records.size(), 38u);  // a window is misplaced ten times with probability 1e-3
  for (const auto& [key, record] : records) {
    EXPECT_LE(std::count(record.label.begin(), record.label.end(), 255), 50) << key;
  }
  options_.jobs = 7;
  const auto files = OutputFiles();
  ExpectCode(0);
  EXPECT_EQ(OutputFiles(), files);
}

}  // namespace
}  // namespace shardmill
