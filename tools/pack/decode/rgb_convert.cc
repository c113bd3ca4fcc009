#include "tools/pack/decode/rgb_convert.h"

#include <cstring>

#include "reader/base/status.h"
#include "tools/pack/decode/no_data.h"

namespace shardmill {
namespace {

struct Names {
  std::string_view text, key;
};

constexpr Names kNames[kConversionCount] = {
    {"gray to RGB", "gray_to_rgb"},
    {"palette to RGB", "palette_to_rgb"},
    {"CMYK to RGB", "cmyk_to_rgb"},
    {"alpha dropped", "alpha_dropped"},
    {"16 to 8 bits", "sixteen_to_eight_bits"},
    {"EXIF orientation applied", "orientation_applied"},
    {"broken EXIF data ignored, the orientation is not known", "broken_exif_ignored"},
    {"stray bytes ignored", "stray_bytes_ignored"},
    {"nothing, the JPEG file is stored as it is", "jpeg_kept"},
    {"64-bit to 32-bit numbers", "double_to_float"},
    {"pixels without data filled with 0 and ignored", "no_data_filled"},
    {"NaN or infinite numbers, kept", "not_finite_kept"},
    {"samples that end before all bits spread over them", "levels_spread"},
    {"pixels without data, kept as colours", "no_data_kept"},
};

// What a sample of full brightness is.
uint64_t LargestSample(const SourceImage& image) {
  return image.full_level != 0 ? image.full_level : (uint64_t{1} << image.stored_bits) - 1;
}

// A sample of 0 … `largest`, as 0 … the largest `Out`.
template <typename Out>
Out Spread(uint32_t value, uint64_t largest) {
  return static_cast<Out>((value * uint64_t{static_cast<Out>(~Out{0})} + largest / 2) / largest);
}

// `Sample` is the type in memory.
template <typename Sample, typename Out>
void ExpandSamples(const SourceImage& image, uint8_t* out) {
  const uint8_t* bytes = image.samples.data();
  const uint64_t largest = LargestSample(image);
  auto sample = [&](size_t i) {
    Sample value;
    std::memcpy(&value, bytes + i * sizeof(Sample), sizeof value);
    return Spread<Out>(value, largest);
  };
  const auto channels = static_cast<size_t>(ChannelsOf(image.layout));
  const bool gray = channels <= 2;
  for (size_t i = 0, pixels = image.size.pixels(); i < pixels; ++i) {
    for (size_t c = 0; c < 3; ++c, out += sizeof(Out)) {
      const Out value = sample(channels * i + (gray ? 0 : c));
      std::memcpy(out, &value, sizeof value);
    }
  }
}

void ExpandPalette(const SourceImage& image, uint8_t* out) {
  for (uint8_t index : image.samples) {
    uint32_t color = image.palette[index];
    *out++ = static_cast<uint8_t>(color >> 16);
    *out++ = static_cast<uint8_t>(color >> 8);
    *out++ = static_cast<uint8_t>(color);
  }
}

void DropAlpha(const SourceImage& image, uint8_t* out) {
  const uint8_t* in = image.samples.data();
  for (size_t i = 0, pixels = image.size.pixels(); i < pixels; ++i, in += 4, out += 3) {
    out[0] = in[0];
    out[1] = in[1];
    out[2] = in[2];
  }
}

void Expand(const SourceImage& image, uint8_t* out) {
  if (image.layout == PixelLayout::kPalette) return ExpandPalette(image, out);
  if (image.sample_bytes == 2) return ExpandSamples<uint16_t, uint8_t>(image, out);
  if (image.layout == PixelLayout::kRgba) return DropAlpha(image, out);
  return ExpandSamples<uint8_t, uint8_t>(image, out);
}

void ExpandWide(const SourceImage& image, uint8_t* out) {
  if (image.layout == PixelLayout::kPalette) {
    for (uint8_t index : image.samples) {
      for (int shift = 16; shift >= 0; shift -= 8, out += 2) {
        out[0] = out[1] = static_cast<uint8_t>(image.palette[index] >> shift);  // times 257
      }
    }
  } else if (image.sample_bytes == 2) {
    ExpandSamples<uint16_t, uint16_t>(image, out);
  } else {
    ExpandSamples<uint8_t, uint16_t>(image, out);
  }
}

// How the rows and columns of the picture as stored are walked to make it upright.
struct Turning {
  bool from_bottom, from_right;
  bool transposed;  // a stored column becomes a row
};

Turning TurningOf(int orientation) {
  return {orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7,
          orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8,
          orientation >= 5};
}

}  // namespace

std::string_view ConversionName(Conversion conversion) { return kNames[conversion].text; }
std::string_view ConversionKey(Conversion conversion) { return kNames[conversion].key; }

ImageSize UprightSize(ImageSize stored, int orientation) {
  return orientation >= 5 ? ImageSize{stored.width, stored.height} : stored;
}

// Pixel (y, x) of the result is the pixel of `stored` at first + y * down + x * right.
void TurnUpright(const uint8_t* stored, ImageSize size, size_t pixel_bytes, int orientation,
                 uint8_t* out) {
  const auto height = static_cast<int64_t>(size.height);
  const auto width = static_cast<int64_t>(size.width);
  const auto bytes = static_cast<int64_t>(pixel_bytes);
  const auto [from_bottom, from_right, transposed] = TurningOf(orientation);
  const int64_t row = from_bottom ? -width : width, column = from_right ? -1 : 1;
  const int64_t first = (from_bottom ? (height - 1) * width : 0) + (from_right ? width - 1 : 0);
  const int64_t down = transposed ? column : row, right = transposed ? row : column;
  const ImageSize upright = UprightSize(size, orientation);
  for (int64_t y = 0; y < upright.height; ++y) {
    for (int64_t x = 0; x < upright.width; ++x, out += bytes) {
      std::memcpy(out, stored + bytes * (first + y * down + x * right), pixel_bytes);
    }
  }
}

Region StoredRegion(const Region& upright, ImageSize stored, int orientation) {
  const Turning turning = TurningOf(orientation);
  Region region = upright;
  if (turning.transposed)
    region = {upright.x, upright.y, {upright.size.width, upright.size.height}};
  if (turning.from_bottom) region.y = stored.height - region.y - region.size.height;
  if (turning.from_right) region.x = stored.width - region.x - region.size.width;
  return region;
}

RgbImage RgbConverter::Convert(const SourceImage& image, ConversionCounts* counts,
                               int sample_bytes) {
  SHARDMILL_CHECK(image.orientation >= 1 && image.orientation <= 8);
  RgbImage rgb = {image.size, image.samples.data(), sample_bytes};
  const bool is_gray = ChannelsOf(image.layout) <= 2 && image.layout != PixelLayout::kPalette;
  const bool is_spread = image.full_level != 0 || image.stored_bits != 8 * sample_bytes;
  if (image.layout != PixelLayout::kRgb || is_spread) {
    rgb_.resize(image.size.pixels() * rgb.pixel_bytes());
    sample_bytes == 1 ? Expand(image, rgb_.data()) : ExpandWide(image, rgb_.data());
    rgb.pixels = rgb_.data();
  }
  if (image.orientation != 1) {
    upright_.resize(image.size.pixels() * rgb.pixel_bytes());
    TurnUpright(rgb.pixels, rgb.size, rgb.pixel_bytes(), image.orientation, upright_.data());
    rgb = {UprightSize(image.size, image.orientation), upright_.data(), sample_bytes};
  }
  (*counts)[kGrayToRgb] += is_gray;
  (*counts)[kPaletteToRgb] += image.layout == PixelLayout::kPalette;
  (*counts)[kCmykToRgb] += image.was_cmyk;
  (*counts)[kAlphaDropped] += image.has_transparency;
  (*counts)[kSixteenToEightBits] += image.sample_bytes == 2 && sample_bytes == 1;
  (*counts)[kLevelsSpread] += image.full_level != 0 || image.was_spread;
  (*counts)[kNoDataKept] += NoDataSample(image).has_value();
  (*counts)[kOrientationApplied] += image.orientation != 1;
  (*counts)[kBrokenExifIgnored] += image.had_broken_exif;
  (*counts)[kStrayBytesIgnored] += image.had_stray_bytes;
  return rgb;
}

}  // namespace shardmill
