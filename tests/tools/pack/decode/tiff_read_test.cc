#include "tools/pack/decode/tiff_read.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/tools/pack/decode/tiff_builder.h"
#include "tools/pack/decode/image_decode.h"

namespace shardmill {
namespace {

double Ramp(uint32_t y, uint32_t x, int band) { return y * 31 + x * 7 + band * 3; }

double SampleAt(const std::vector<uint8_t>& samples, const TiffHeader& header, size_t place) {
  if (header.samples == TiffSamples::kFloat) {
    float value;
    std::memcpy(&value, &samples[place * 4], sizeof value);
    return static_cast<double>(value);
  }
  if (header.bits <= 8) return samples[place];
  if (header.bits == 16) {
    uint16_t value;
    std::memcpy(&value, &samples[place * 2], sizeof value);
    return value;
  }
  uint32_t value;
  std::memcpy(&value, &samples[place * 4], sizeof value);
  return value;
}

void ExpectRamp(const TiffForm& form) {
  const std::string what = std::to_string(form.bands) + " bands, " + std::to_string(form.bits) +
                           " bits, tile " + std::to_string(form.tile) +
                           (form.separate ? ", separate" : "");
  const std::string file = WriteTiff({form}, Ramp);
  Result<TiffHeader> header = ReadTiffHeader(file);
  ASSERT_TRUE(header.ok()) << what << header.status().ToString();
  EXPECT_EQ(header->bands, form.bands) << what;
  std::vector<uint8_t> samples;
  const Status status = ReadTiffSamples(file, *header, &samples);
  ASSERT_TRUE(status.ok()) << what << status.ToString();
  size_t place = 0;
  for (uint32_t y = 0; y < form.height; ++y) {
    for (uint32_t x = 0; x < form.width; ++x) {
      for (int band = 0; band < form.bands; ++band) {
        const double expected = form.bits == 8   ? std::fmod(Ramp(y, x, band), 256)
                                : form.bits == 1 ? Ramp(y, x, band) != 0
                                                 : Ramp(y, x, band);
        ASSERT_EQ(SampleAt(samples, *header, place++), expected) << what << " " << y << " " << x;
      }
    }
  }
}

TEST(TiffRead, AllFormsGiveTheirSamples) {
  for (bool separate : {false, true}) {
    for (uint32_t tile : {0u, 16u}) {
      for (int bands : {1, 3, 5}) {
        for (int bits : {8, 16, 32}) {
          TiffForm form;
          form.height = 21;
          form.width = 37;
          form.bands = bands;
          form.bits = bits;
          form.sample_format = bits == 32 ? 3 : 1;
          form.photometric = bands == 3 ? 2 : 1;
          form.separate = separate;
          form.tile = tile;
          form.deflate = bits != 16;
          form.big = tile == 16;
          ExpectRamp(form);
        }
      }
      TiffForm bitmap;
      bitmap.height = 19;
      bitmap.width = 21;
      bitmap.bits = 1;
      bitmap.tile = tile;
      ExpectRamp(bitmap);
    }
  }
}

TEST(TiffRead, EveryCutIsFound) {
  TiffForm form;
  form.height = form.width = 20;
  form.deflate = true;
  const std::string file = WriteTiff({form}, Ramp);
  for (size_t bytes = 0; bytes < file.size(); bytes += 7) {
    const std::string cut = file.substr(0, bytes);
    Result<TiffHeader> header = ReadTiffHeader(cut);
    std::vector<uint8_t> samples;
    if (!header.ok()) continue;
    EXPECT_FALSE(ReadTiffSamples(cut, *header, &samples).ok()) << bytes;
  }
}

TEST(TiffRead, FlippedBytesDoNotCrash) {
  for (uint32_t tile : {0u, 16u}) {
    TiffForm form;
    form.height = form.width = 20;
    form.bands = 2;
    form.tile = tile;
    const std::string file = WriteTiff({form}, Ramp);
    for (size_t i = 0; i < file.size(); ++i) {
      for (uint8_t bits : {0x01, 0x80, 0xFF}) {
        std::string damaged = file;
        damaged[i] = static_cast<char>(static_cast<uint8_t>(damaged[i]) ^ bits);
        SourceImage image;
        (void)ImageDecoder().Decode(damaged, 1 << 16, &image);
      }
    }
  }
}

SourceImage Decoded(const TiffForm& form, TiffValues values) {
  SourceImage image;
  const Status status = ImageDecoder().Decode(WriteTiff({form}, values), 1 << 20, &image);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return image;
}

std::string DecodeError(const std::vector<TiffForm>& pages, TiffValues values) {
  SourceImage image;
  const Status status = ImageDecoder().Decode(WriteTiff(pages, values), 1 << 20, &image);
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  return status.message();
}

TEST(TiffImage, WhiteThatIsZeroIsTurnedAround) {
  TiffForm form;
  form.width = 3;
  form.photometric = 0;
  EXPECT_EQ(Decoded(form, [](uint32_t, uint32_t x, int) { return x * 100.0; }).samples,
            (std::vector<uint8_t>{255, 155, 55}));
  form.bits = 1;
  const SourceImage bits =
      Decoded(form, [](uint32_t, uint32_t x, int) { return x == 1 ? 1.0 : 0; });
  EXPECT_EQ(bits.samples, (std::vector<uint8_t>{1, 0, 1}));
  EXPECT_EQ(bits.stored_bits, 1);
  form.bits = 16;
  const SourceImage wide = Decoded(form, [](uint32_t, uint32_t x, int) { return x * 1000.0; });
  uint16_t value;
  std::memcpy(&value, &wide.samples[2], 2);
  EXPECT_EQ(value, 64535);
}

TEST(TiffImage, PaletteStaysIndices) {
  TiffForm form;
  form.width = 3;
  form.photometric = 3;
  for (uint32_t i = 0; i < 256; ++i) form.palette.push_back(i * 0x010203 & 0xFFFFFF);
  const SourceImage image = Decoded(form, [](uint32_t, uint32_t x, int) { return x * 20.0; });
  EXPECT_EQ(image.layout, PixelLayout::kPalette);
  EXPECT_EQ(image.samples, (std::vector<uint8_t>{0, 20, 40}));
  EXPECT_EQ(image.palette[20], 20u * 0x010203);
}

TEST(TiffImage, AlphaAndOrientationAreNoted) {
  TiffForm form;
  form.height = 2;
  form.width = 3;
  form.bands = 4;
  form.photometric = 2;
  form.extra_sample = 2;
  form.orientation = 6;
  const SourceImage image = Decoded(form, Ramp);
  EXPECT_EQ(image.layout, PixelLayout::kRgba);
  EXPECT_TRUE(image.has_transparency);
  EXPECT_EQ(image.orientation, 6);
}

TEST(TiffImage, OrientationThatMeansNothingIsNoted) {
  TiffForm form;
  form.height = 2;
  form.width = 3;
  form.orientation = 6;
  const std::string six("\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00", 10);
  for (const char number : {'\0', '\x09', '\xFF'}) {
    std::string file = WriteTiff({form}, Ramp);
    const size_t place = file.find(six);
    ASSERT_NE(place, std::string::npos);
    file[place + 8] = number;
    SourceImage image;
    const Status status = ImageDecoder().Decode(file, 1 << 20, &image);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_TRUE(image.had_broken_exif);
    EXPECT_EQ(image.orientation, 1);
  }
}

TEST(TiffImage, WhatIsNoImageIsNamed) {
  TiffForm form;
  form.bands = 5;
  form.bits = 32;
  form.sample_format = 3;
  EXPECT_NE(DecodeError({form}, Ramp).find("5 bands of 32 bits, floating point"),
            std::string::npos);
  // Four bands, the fourth of which is no alpha: near infrared.
  form = TiffForm();
  form.bands = 4;
  form.photometric = 2;
  form.extra_sample = 0;
  EXPECT_NE(DecodeError({form}, Ramp).find("4 bands of 8 bits"), std::string::npos);
  form = TiffForm();
  form.bits = 16;
  form.sample_format = 2;
  EXPECT_NE(DecodeError({form}, [](uint32_t, uint32_t, int) { return -1.0; }).find("negative"),
            std::string::npos);
}

TEST(TiffImage, OverviewsAreNoPages) {
  TiffForm page, overview;
  page.height = page.width = 8;
  overview.height = overview.width = 4;
  overview.subfile = 1;
  SourceImage image;
  EXPECT_TRUE(ImageDecoder().Decode(WriteTiff({page, overview}, Ramp), 1 << 20, &image).ok());
  EXPECT_EQ(image.size, (ImageSize{8, 8}));
  EXPECT_NE(DecodeError({page, page}, Ramp).find("several pages"), std::string::npos);
}

// Scanners and cameras store the small copy first.
TEST(TiffImage, PictureBehindItsSmallCopyIsTheOneThatIsRead) {
  TiffForm page, copy, mask;
  page.height = page.width = 8;
  copy.height = copy.width = 4;
  copy.subfile = 1;
  mask.height = mask.width = 8;
  mask.subfile = 4;
  mask.bits = 1;
  SourceImage image, alone;
  ASSERT_TRUE(ImageDecoder().Decode(WriteTiff({page}, Ramp), 1 << 20, &alone).ok());
  for (const std::vector<TiffForm>& pages :
       {std::vector<TiffForm>{copy, page}, {copy, mask, page, copy}, {mask, page}}) {
    ASSERT_TRUE(ImageDecoder().Decode(WriteTiff(pages, Ramp), 1 << 20, &image).ok());
    EXPECT_EQ(image.size, (ImageSize{8, 8}));
    EXPECT_EQ(image.samples, alone.samples);
  }
  EXPECT_NE(DecodeError({copy, copy}, Ramp).find("smaller copies or masks"), std::string::npos);
  EXPECT_NE(DecodeError({copy, page, page}, Ramp).find("several pages"), std::string::npos);
  // Nothing else could be meant.
  EXPECT_TRUE(ImageDecoder().Decode(WriteTiff({copy}, Ramp), 1 << 20, &image).ok());
}

// `file` with another value for a tag of 16 bits.
std::string WithTag(std::string file, uint16_t tag, uint16_t from, uint16_t to) {
  const auto bytes = [](uint16_t value) {
    return std::string{static_cast<char>(value & 255), static_cast<char>(value >> 8)};
  };
  const std::string entry = bytes(tag) + bytes(3) + bytes(1) + bytes(0);
  const size_t place = file.find(entry + bytes(from));
  EXPECT_NE(place, std::string::npos);
  return file.replace(place + entry.size(), 2, bytes(to));
}

TEST(TiffImage, SoundFilesOfOtherKindsAreNotCalledDamaged) {
  constexpr uint16_t kCompression = 259;
  TiffForm form;
  form.height = form.width = 4;
  const auto message = [](const std::string& file) {
    SourceImage image;
    const Status status = ImageDecoder().Decode(file, 1 << 20, &image);
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_EQ(status.message().find("damaged"), std::string::npos) << status.ToString();
    return std::string(status.message());
  };
  EXPECT_NE(message(WithTag(WriteTiff({form}, Ramp), kCompression, 1, 34712)).find("JPEG 2000"),
            std::string::npos);
  EXPECT_NE(message(WithTag(WriteTiff({form}, Ramp), kCompression, 1, 777)).find("number 777"),
            std::string::npos);
  form.bits = 16;
  form.photometric = 3;
  form.palette.assign(65536, 0x123456);
  EXPECT_NE(message(WriteTiff({form}, Ramp)).find("palette for indices"), std::string::npos);
  form.photometric = 1;
  form.palette.clear();
  form.sample_format = 3;
  EXPECT_NE(message(WriteTiff({form}, Ramp)).find("16 bits of floating point"), std::string::npos);
}

// Straight colours, whatever the form of alpha: 60 of 120 is half of the largest value.
TEST(TiffImage, AlphaIsTakenOutOfTheColors) {
  for (int bits : {8, 16}) {
    for (int photometric : {1, 2}) {
      TiffForm form;
      form.height = form.width = 3;
      form.photometric = photometric;
      form.bands = photometric == 2 ? 4 : 2;
      form.bits = bits;
      const int alpha_band = form.bands - 1;
      const auto first_of = [&](int kind, TiffValues values) {
        form.extra_sample = kind;
        SourceImage image;
        const Status status = ImageDecoder().Decode(WriteTiff({form}, values), 1 << 20, &image);
        EXPECT_TRUE(status.ok()) << status.ToString();
        EXPECT_EQ(ChannelsOf(image.layout), alpha_band + 1);
        uint16_t wide = image.samples[0];
        if (bits == 16) std::memcpy(&wide, image.samples.data(), sizeof wide);
        return wide;
      };
      const TiffValues half = [](uint32_t, uint32_t, int band) { return band == 0 ? 60.0 : 120.0; };
      EXPECT_EQ(first_of(1, half), bits == 8 ? 128 : 32768);
      EXPECT_EQ(first_of(2, half), 60);
      // Above its alpha no colour can be that was multiplied with it.
      const TiffValues straight = [](uint32_t y, uint32_t, int band) {
        return band == 0 && y == 2 ? 121.0 : band == 0 ? 60.0 : 120.0;
      };
      EXPECT_EQ(first_of(1, straight), 60);
      EXPECT_EQ(first_of(1, [](uint32_t, uint32_t, int) { return 0.0; }), 0);
    }
  }
}

TEST(TiffImage, LimitOfPixelsIsAUsageError) {
  TiffForm form;
  form.height = form.width = 10;
  SourceImage image;
  EXPECT_EQ(ImageDecoder().Decode(WriteTiff({form}, Ramp), 99, &image).code(),
            StatusCode::kInvalidArgument);
}

TEST(TiffImage, NumbersOf32BitsAreNoLabels) {
  for (int sample_format : {1, 2, 3}) {
    TiffForm form;
    form.bits = 32;
    form.sample_format = sample_format;
    const std::string file = WriteTiff({form}, Ramp);
    ImageDecoder decoder;
    ASSERT_TRUE(decoder.Open(file, 100).ok());
    const Status status = decoder.CheckStoredValues();
    EXPECT_EQ(status.code(), StatusCode::kDataLoss);
    EXPECT_NE(status.message().find(sample_format == 3 ? "floating-point numbers of 32 bits"
                                                       : "integers of 32 bits"),
              std::string::npos)
        << status.message();
  }
  TiffForm form;
  form.bits = 16;
  const std::string file = WriteTiff({form}, Ramp);
  ImageDecoder decoder;
  ASSERT_TRUE(decoder.Open(file, 100).ok());
  EXPECT_TRUE(decoder.CheckStoredValues().ok());
}

}  // namespace
}  // namespace shardmill
