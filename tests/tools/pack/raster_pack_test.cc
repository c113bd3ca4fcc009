// TIFF rasters of several bands, packed as a user packs them: what is stored is what the file
// holds, and pixels without data have no class.
#include <cmath>
#include <cstring>
#include <limits>

#include "reader/dataset.h"
#include "tests/tools/pack/decode/tiff_builder.h"
#include "tests/tools/pack/pack_testing.h"
#include "tools/pack/records/raster.h"

namespace shardmill {
namespace {

using Values = std::vector<int>;

class RasterPackTest : public PackTest {
 protected:
  RasterPackTest() {
    source_.Write("class_dict.csv", "name\nwater\nland\n");
    options_.bands.emplace();
  }
  void Add(const std::string& stem, const TiffForm& form, TiffValues values) {
    source_.Write("train/" + stem + ".tif", WriteTiff({form}, values));
    source_.Write("train_labels/" + stem + ".png", GrayPng({form.height, form.width}, {0, 1}));
  }
  static TiffForm Form(int bands, int bits, int sample_format) {
    TiffForm form;
    form.height = 20;
    form.width = 18;
    form.bands = bands;
    form.bits = bits;
    form.sample_format = sample_format;
    form.tile = 16;
    form.deflate = true;
    return form;
  }
  // The image of the first record as numbers.
  template <typename T>
  std::vector<T> ReadImage() {
    auto dataset = Dataset::Open(output_.path());
    EXPECT_TRUE(dataset.ok()) << dataset.status().ToString();
    if (!dataset.ok()) return {};
    manifest_ = (*dataset)->manifest();
    auto [shard, record] = (*(*dataset)->split("train"))->Locate(0);
    std::vector<T> values(shard->schema().fields[0].TensorBytes() / sizeof(T));
    ReadScratch scratch;
    EXPECT_TRUE(shard->Read(record, 0, values.data(), values.size() * sizeof(T), &scratch).ok());
    return values;
  }
};

double Large(uint32_t y, uint32_t x, int band) { return 3000.0 * band + 40 * y + x + 200; }

TEST_F(RasterPackTest, SixteenBitBandsAreStoredAsTheyAre) {
  Add("a", Form(13, 16, 1), Large);
  options_.image_codec = Codec::kZstd;
  ExpectPacked();
  const auto image = ReadImage<uint16_t>();
  ASSERT_EQ(image.size(), 20u * 18 * 13);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < image.size(); ++i) {
    const uint32_t pixel = i / 13;
    ASSERT_EQ(image[i], Large(pixel / 18, pixel % 18, static_cast<int>(i % 13)));
    if (i % 13 == 2) sum += image[i];
  }
  EXPECT_EQ(manifest_.fields(0).dtype(), proto::U16);
  EXPECT_EQ(manifest_.fields(0).shape(2), 13);
  const proto::Statistics& statistics = manifest_.splits(0).statistics();
  ASSERT_EQ(statistics.channel_sum_size(), 13);
  EXPECT_EQ(statistics.channel_sum(2).low(), sum);
  EXPECT_EQ(statistics.image_pixels(), 360u);
}

TEST_F(RasterPackTest, BandsAreChosenInTheirOrder) {
  Add("a", Form(5, 16, 1), Large);
  options_.bands->bands = {5, 1};
  ExpectPacked();
  const auto image = ReadImage<uint16_t>();
  EXPECT_EQ(image.size(), 20u * 18 * 2);
  EXPECT_EQ(image[0], Large(0, 0, 4));
  EXPECT_EQ(image[1], Large(0, 0, 0));
  EXPECT_EQ(RecipeOption("bands"), "5,1");
  options_.bands->bands = {6};
  ExpectError(StatusCode::kDataLoss, "there is no band 6, but 5");
}

TEST_F(RasterPackTest, FloatsWithoutDataAreFilledAndIgnored) {
  Add("a", Form(5, 32, 3), [](uint32_t y, uint32_t x, int band) {
    if (y == 0 && x == 1 && band == 3) return std::numeric_limits<double>::quiet_NaN();
    if (y == 0 && x == 3) return -9999.0;
    return band + 0.25;
  });
  options_.bands->no_data = -9999;
  ExpectPacked();
  const auto image = ReadImage<float>();
  ASSERT_EQ(image.size(), 20u * 18 * 5);
  EXPECT_EQ(image[0 * 5 + 3], 3.25f);
  for (int band = 0; band < 5; ++band) {
    EXPECT_EQ(image[1 * 5 + band], 0.0f);
    EXPECT_EQ(image[3 * 5 + band], 0.0f);
  }
  EXPECT_EQ(FirstValues("train/a.tif", 5), (Values{0, 255, 0, 255, 0}));
  EXPECT_EQ(manifest_.fields(0).dtype(), proto::F32);
  const proto::Statistics& statistics = manifest_.splits(0).statistics();
  EXPECT_EQ(statistics.image_pixels(), 20u * 18);
  EXPECT_EQ(statistics.channel_sum_size(), 0);
  ASSERT_EQ(statistics.channel_value_sum_size(), 5);
  ASSERT_EQ(statistics.channel_value_sum_sq_size(), 5);
  for (int band = 0; band < 5; ++band) {
    const double value = band + 0.25, filled = 20 * 18 - 2, pixels = 20 * 18;
    EXPECT_EQ(statistics.channel_value_sum(band), filled * value);
    const double squares = filled * value * value - filled * value * filled * value / pixels;
    EXPECT_NEAR(statistics.channel_value_sum_sq(band), squares, 1e-9);
  }
  EXPECT_NE(out_.find("mean of train: 0.2486 1.243"), std::string::npos) << out_;
  EXPECT_NE(out_.find("converted: pixels without data filled with 0 and ignored, 1 image"),
            std::string::npos)
      << out_;
}

TEST_F(RasterPackTest, WindowsArePaddedAndKeepTheirPlace) {
  Add("a", Form(2, 16, 1), Large);
  options_.crop = ImageSize{24, 4};
  ExpectPacked();
  const auto image = ReadImage<uint16_t>();
  ASSERT_EQ(image.size(), 24u * 4 * 2);
  EXPECT_EQ(image[0], 0);  // two rows of padding above and below
  EXPECT_EQ(image[(2 * 4 + 0) * 2 + 1], Large(0, 7, 1));
  EXPECT_EQ(image[(21 * 4 + 3) * 2], Large(19, 10, 0));
}

TEST_F(RasterPackTest, FilesOfAnotherFormAreNamed) {
  Add("a", Form(5, 16, 1), Large);
  Add("b", Form(4, 16, 1), Large);
  ExpectError(StatusCode::kDataLoss, "train/b.tif: it has 4 bands of u16, the set 5 bands of u16");
  source_.Write("train/b.tif", Png(Photo({20, 18}, 1)));
  ExpectError(StatusCode::kDataLoss, "--bands is for TIFF files, and this is a PNG file");
}

TEST_F(RasterPackTest, WhatBandsDoNotGoWithIsAUsageError) {
  Add("a", Form(5, 16, 1), Large);
  options_.resize = ResizeRule{ResizeRule::Kind::kExact, ImageSize{4, 4}};
  ExpectError(StatusCode::kInvalidArgument, "--bands goes with neither --resize");
  options_.resize.reset();
  options_.image_codec = Codec::kJpeg;
  ExpectError(StatusCode::kInvalidArgument, "--bands goes with neither --resize");
}

TEST(Raster, BandListsAreParsed) {
  EXPECT_EQ(*ParseBands("all"), std::vector<int>());
  EXPECT_EQ(*ParseBands("4, 3,2"), (std::vector<int>{4, 3, 2}));
  for (const char* bad : {"", "0", "1,", "a", "-1", "99999"}) EXPECT_FALSE(ParseBands(bad).ok());
  EXPECT_EQ(FormatBands({4, 3}), "4,3");
}

}  // namespace
}  // namespace shardmill
