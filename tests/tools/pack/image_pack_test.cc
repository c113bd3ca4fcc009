// Image files of all kinds and in all conditions, packed as a user packs them: each becomes a
// record by a conversion that is counted, or an error that names the file.
#include <filesystem>

#include "proto/record_meta.pb.h"
#include "tests/tools/pack/decode/gif_builder.h"
#include "tests/tools/pack/decode/tiff_builder.h"
#include "tests/tools/pack/pack_testing.h"

namespace shardmill {
namespace {

using Values = std::vector<int>;

class ImagePackTest : public PackTest {
 protected:
  ImagePackTest() {
    source_.Write("class_dict.csv", "name\nzero\none\ntwo\n");
    options_.on_error.skip = true;
  }
  void Add(const std::string& name, const std::string& image, ImageSize size = kSize) {
    source_.Write("train/" + name, image);
    source_.Write("train_labels/" + name.substr(0, name.rfind('.')) + ".png",
                  GrayPng(size, {0, 1, 2}));
  }
  // Why an input was left out; empty: it was packed.
  std::string Reason(const std::string& key) {
    ReadLabels();
    for (const proto::Split& split : manifest_.splits()) {
      for (const proto::SkippedInput& skipped : split.skipped()) {
        if (skipped.key() == key) return skipped.reason();
      }
    }
    return "";
  }
  void ExpectConversion(const std::string& text) {
    EXPECT_NE(out_.find("converted: " + text), std::string::npos) << out_;
  }
};

TEST_F(ImagePackTest, EveryKindIsConvertedAndCounted) {
  const TestImage photo = Photo(kSize, 1);
  auto with_channels = [&](int channels) {
    return MakeImage(kSize, channels, [](int y, int x, int c) { return y * 20 + x * 3 + c; });
  };
  Add("rgb.png", Png(photo));
  Add("gray.jpg", Jpeg(with_channels(1), 90));
  Add("alpha.png", Png(with_channels(4)));
  Add("wide.png", WidePng(with_channels(3)));
  Add("palette.png", PalettePng(kSize, std::vector<uint8_t>(24, 1), {0, 0x0A0B0C}));
  Add("turned.jpg", WithOrientation(Jpeg(Photo({6, 4}, 2), 90), 6));
  Add("stray.jpg", Jpeg(photo, 90) + "tail");
  Add("upper.JPG", Jpeg(photo, 90));
  Add("wrong extension.jpg", Png(photo));
  TiffForm tiff;
  tiff.height = kSize.height;
  tiff.width = kSize.width;
  tiff.photometric = 0;
  Add("inverse.tif", WriteTiff({tiff}, [](uint32_t, uint32_t x, int) { return x * 10.0; }));
  Result<int> code = Pack();
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  EXPECT_EQ(*code, 0) << out_;
  EXPECT_EQ(ReadLabels().size(), 10u);
  ExpectConversion("gray to RGB, 2 images");
  ExpectConversion("alpha dropped, 1 image");
  ExpectConversion("16 to 8 bits, 1 image");
  ExpectConversion("palette to RGB, 1 image");
  ExpectConversion("EXIF orientation applied, 1 image");
  ExpectConversion("stray bytes ignored, 1 image");
}

// Nobody can tell how such a picture is turned, but its pixels are sound.
TEST_F(ImagePackTest, BrokenExifIsCounted) {
  const std::string jpeg = Jpeg(Photo(kSize, 1), 90);
  const std::string tagged = WithOrientation(jpeg, 6);
  const size_t exif = tagged.find("Exif");
  ASSERT_NE(exif, std::string::npos);
  Add("no byte order.jpg", std::string(tagged).replace(exif + 6, 2, "XX"));
  Add("no such value.jpg", WithOrientation(jpeg, 9));
  Add("in a png.png", WithChunk(Png(Photo(kSize, 2)), "eXIf", "MM"));
  Add("none.jpg", jpeg);
  Result<int> code = Pack();
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  EXPECT_EQ(*code, 0) << out_;
  ExpectConversion("broken EXIF data ignored, the orientation is not known, 3 images");
  options_.image_codec = Codec::kJpeg;
  options_.overwrite = true;
  code = Pack();
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  ExpectConversion("broken EXIF data ignored, the orientation is not known, 3 images");
  ExpectConversion("nothing, the JPEG file is stored as it is, 3 images");
}

// Stored as they are: RGB has no value for them.
TEST_F(ImagePackTest, PixelsWithoutDataAreCounted) {
  TiffForm tiff;
  tiff.height = kSize.height;
  tiff.width = kSize.width;
  tiff.bands = 3;
  tiff.photometric = 2;
  tiff.no_data = "7";
  const TiffValues equal = [](uint32_t y, uint32_t x, int) { return y * 6.0 + x; };
  const TiffValues unequal = [](uint32_t y, uint32_t x, int band) { return y * 6.0 + x + band; };
  Add("with.tif", WriteTiff({tiff}, equal));
  Add("without.tif", WriteTiff({tiff}, unequal));
  tiff.no_data = "-9999";
  Add("beyond.tif", WriteTiff({tiff}, equal));
  tiff.no_data = "300";
  tiff.bits = 16;
  Add("wide.tif", WriteTiff({tiff}, [](uint32_t, uint32_t x, int) { return x * 100.0; }));
  ExpectPacked();
  ExpectConversion("pixels without data, kept as colours, 2 images");
}

TEST_F(ImagePackTest, TiffLabelsOfALossyCompressionAreRefused) {
  TiffForm form;
  form.height = kSize.height;
  form.width = kSize.width;
  form.jpeg = true;
  const std::string white = WriteTiff({form}, [](uint32_t, uint32_t, int) { return 255.0; });
  source_.Write("class_dict.csv", "name,r,g,b\nblack,0,0,0\nwhite,255,255,255\n");
  source_.Write("train/image.tif", white);  // where it does not matter
  source_.Write("train_labels/image.tif", white);
  options_.on_error.skip = false;
  ExpectError(StatusCode::kDataLoss, "whose compression changes colours and ids");
  options_.layout.label_tolerance = 20;
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/image.tif", 2), (Values{1, 1}));
}

// Masks of older sets are GIF files.
TEST_F(ImagePackTest, GifsOfOnePictureAreImagesAndLabels) {
  GifForm form;
  form.height = kSize.height;
  form.width = kSize.width;
  form.palette = {0x000000, 0xFF0000, 0x00FF00, 0x0000FF};
  form.literal_bits = 2;
  std::vector<uint8_t> rows;
  for (int i = 0; i < 24; ++i) rows.push_back(static_cast<uint8_t>(i % 3));
  source_.Write("train/a.gif", BuildGif(form, rows));
  source_.Write("train_labels/a.gif", BuildGif(form, rows));
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/a.gif", 4), (Values{0, 1, 2, 0}));
  ExpectConversion("palette to RGB, 1 image");
  EXPECT_NE(out_.find("labels read by: palette index (1 file)"), std::string::npos) << out_;
}

TEST_F(ImagePackTest, EveryBrokenFileIsNamedAndTheCountsAddUp) {
  const TestImage photo = Photo(kSize, 1);
  const std::string png = Png(photo), jpeg = Jpeg(photo, 90);
  Add("good.png", png);
  Add("empty.png", "");
  Add("empty.jpg.png", "");
  Add("text.png", "no image at all");
  Add("cut.png", png.substr(0, png.size() - 20));
  Add("half.jpg", jpeg.substr(0, jpeg.size() / 2) + "\xff\xd9");
  GifForm film;
  film.pictures = 3;
  film.palette = {0, 0xFFFFFF};
  Add("film.jpg", BuildGif(film, {1}));
  Add("moving.png", WithChunk(png, "acTL", std::string("\0\0\0\x02\0\0\0\0", 8)));
  // An animated file whose only picture is broken too.
  const std::string broken = WithChunk(png, "acTL", std::string("\0\0\0\x02\0\0\0\0", 8));
  Add("moving broken.png", broken.substr(0, broken.size() - 30));
  TiffForm bands;
  bands.height = kSize.height;
  bands.width = kSize.width;
  bands.bands = 5;
  bands.bits = 32;
  bands.sample_format = 3;
  Add("bands.tif", WriteTiff({bands}, [](uint32_t, uint32_t, int) { return 0.5; }));
  TiffForm near_infrared = bands;
  near_infrared.bands = 4;
  near_infrared.bits = 8;
  near_infrared.sample_format = 1;
  Add("near infrared.tif", WriteTiff({near_infrared}, [](uint32_t, uint32_t, int) { return 1.0; }));
  TiffForm page = bands;
  page.bands = 1;
  page.bits = 8;
  page.sample_format = 1;
  Add("pages.tif", WriteTiff({page, page}, [](uint32_t, uint32_t, int) { return 1.0; }));
  Result<int> code = Pack();
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  EXPECT_EQ(*code, 6);
  EXPECT_EQ(ReadLabels().size(), 1u);
  EXPECT_EQ(manifest_.splits(0).skipped_size(), 11);
  const std::pair<const char*, const char*> reasons[] = {
      {"empty.png", "an empty file"},
      {"empty.jpg.png", "an empty file"},
      {"text.png", "no image file that is known here (it starts with 6e 6f 20 69)"},
      {"cut.png", "it is cut or damaged"},
      {"half.jpg", "damaged JPEG"},
      {"film.jpg", "an animated GIF holds several pictures"},
      {"moving.png", "an animated PNG"},
      {"moving broken.png", "it is cut or damaged"},
      {"bands.tif", "5 bands of 32 bits, floating point"},
      {"bands.tif", "are packed as arrays with --bands"},
      {"near infrared.tif", "4 bands of 8 bits, unsigned"},
      {"near infrared.tif", "are packed as arrays with --bands"},
      {"pages.tif", "several pages"}};
  for (const auto& [name, reason] : reasons) {
    EXPECT_NE(Reason(std::string("train/") + name).find(reason), std::string::npos)
        << name << ": " << Reason(std::string("train/") + name);
  }
}

TEST_F(ImagePackTest, OnePixelAndVeryWideImages) {
  const ImageSize sizes[] = {{1, 1}, {1, 3000}, {3000, 1}};
  for (const ImageSize& size : sizes) {
    const std::string name = std::to_string(size.height) + "x" + std::to_string(size.width);
    Add(name + ".png", Png(Photo(size, 1)), size);
    Add(name + ".jpg.png", Png(Photo(size, 1)), size);
  }
  options_.crop = ImageSize{2, 2};
  Result<int> code = Pack();
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  EXPECT_EQ(*code, 0) << out_;
  // The whole image is kept, in the middle, and the rest is no class.
  EXPECT_EQ(ReadLabels()["train/1x1.png"], (Values{255, 255, 255, 0}));
}

TEST_F(ImagePackTest, NamesAreKeptWhateverTheyHold) {
  const std::string names[] = {"图片/Ünï.png",        "U\xCC\x88.png",      "track 2.0 (clean).png",
                               "a.b.c.png",           "v1.0/22.0/1.1.png",  "siteA/img1.png",
                               "siteB/img1.png",      " leading blank.png", "100%.png",
                               "quote\"and,comma.png"};
  for (const std::string& name : names) Add(name, Png(Photo(kSize, 1)));
  ExpectPacked();
  const Labels labels = ReadLabels();
  EXPECT_EQ(labels.size(), std::size(names));
  for (const std::string& name : names) {
    const std::string key = name == "100%.png" ? "100%25.png" : name;
    EXPECT_EQ(labels.count("train/" + key), 1u) << key;
  }
}

TEST_F(ImagePackTest, WhatDesktopsLeaveBehindIsCounted) {
  Add("a.png", Png(Photo(kSize, 1)));
  source_.Write("train/.DS_Store", "x");
  source_.Write("train/Thumbs.db", "x");
  source_.Write("train_labels/._a.png", "x");
  ExpectPacked();
  EXPECT_EQ(ReadLabels().size(), 1u);
  EXPECT_NE(error_.find("3 hidden files and folders left out"), std::string::npos) << error_;
}

TEST_F(ImagePackTest, FewSamplesAndManyThreads) {
  options_.jobs = 16;
  for (int i = 0; i < 3; ++i) {
    Add(std::to_string(i) + ".png", Png(Photo(kSize, 1)));
    ExpectPacked();
    EXPECT_EQ(ReadLabels().size(), static_cast<size_t>(i) + 1);
  }
}

TEST_F(ImagePackTest, ReportHoldsEveryOrphan) {
  options_.on_error.skip = false;
  Add("both.png", Png(Photo(kSize, 1)));
  for (int i = 0; i < 30; ++i) {
    source_.Write("train/only" + std::to_string(i) + ".png", Png(Photo(kSize, 1)));
  }
  ExpectError(StatusCode::kNotFound, "30 of 31 inputs cannot be packed");
  options_.on_error.skip = true;
  ASSERT_EQ(*Pack(), 6);
  ReadLabels();
  EXPECT_EQ(manifest_.splits(0).skipped_size(), 30);
}

TEST_F(ImagePackTest, LabelTiffWithWhiteAsZeroIsReadRight) {
  options_.on_error.skip = false;
  TiffForm tiff;
  tiff.height = kSize.height;
  tiff.width = kSize.width;
  tiff.photometric = 0;
  source_.Write("class_dict.csv", "name\nground\nobject\n");
  source_.Write("train/a.png", Png(Photo(kSize, 1)));
  // Stored 255 is black, 0 is white: the object.
  source_.Write("train_labels/a.tif",
                WriteTiff({tiff}, [](uint32_t, uint32_t x, int) { return x == 2 ? 0.0 : 255; }));
  options_.layout.map = "binary";
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/a.png", 4), (Values{0, 0, 1, 0}));
  tiff.bits = 1;
  options_.layout.map.reset();
  source_.Write("train_labels/a.tif",
                WriteTiff({tiff}, [](uint32_t, uint32_t x, int) { return x == 2 ? 0.0 : 1; }));
  ExpectPacked();
  EXPECT_EQ(FirstValues("train/a.png", 4), (Values{0, 0, 1, 0}));
}

TEST_F(ImagePackTest, LabelTiffsOfAllFormsHoldTheirIds) {
  options_.on_error.skip = false;
  source_.Write("train/a.png", Png(Photo({20, 20}, 1)));
  for (int bits : {8, 16}) {
    for (uint32_t tile : {0u, 16u}) {
      TiffForm tiff;
      tiff.height = tiff.width = 20;
      tiff.bits = bits;
      tiff.tile = tile;
      source_.Write("train_labels/a.tif", WriteTiff({tiff}, [](uint32_t y, uint32_t x, int) {
                      return (x + y) % 3 * 1.0;
                    }));
      ExpectPacked();
      const Values label = ReadLabels()["train/a.png"];
      for (size_t i = 0; i < label.size(); ++i) {
        ASSERT_EQ(label[i], static_cast<int>((i / 20 + i % 20) % 3)) << bits << " " << tile;
      }
    }
  }
}

}  // namespace
}  // namespace shardmill
