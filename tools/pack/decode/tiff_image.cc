#include "tools/pack/decode/tiff_image.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace shardmill {
namespace {

std::string DescribeBands(const TiffHeader& header) {
  const char* type = header.samples == TiffSamples::kFloat    ? "floating point"
                     : header.samples == TiffSamples::kSigned ? "signed"
                                                              : "unsigned";
  return std::to_string(header.bands) + (header.bands == 1 ? " band of " : " bands of ") +
         std::to_string(header.bits) + " bits, " + type;
}

Status CheckForm(const TiffHeader& header) {
  const int colors = header.bands - (header.last_band_is_alpha ? 1 : 0);
  const bool usual = header.colors == TiffColors::kRgb ? colors == 3 : colors == 1;
  if (usual && header.samples != TiffSamples::kFloat && header.bits <= 16) return OkStatus();
  return DataLossError("this TIFF file holds " + DescribeBands(header) +
                       "; images have one gray or three RGB bands of 8 or 16 bits. Rasters of "
                       "other bands are packed as arrays with --bands");
}

// Values as unsigned: negative ones have no place in an image.
Status CheckSigns(const TiffHeader& header, const SourceImage& image) {
  if (header.samples != TiffSamples::kSigned) return OkStatus();
  const auto step = static_cast<size_t>(image.sample_bytes);
  for (size_t i = step - 1; i < image.samples.size(); i += step) {
    if ((image.samples[i] & 0x80) != 0) {
      return DataLossError("this TIFF file holds negative values");
    }
  }
  return OkStatus();
}

// The bytes of little-endian 16-bit samples can be inverted one by one.
void Invert(SourceImage* image) {
  const auto largest =
      static_cast<uint8_t>(image->stored_bits < 8 ? (1 << image->stored_bits) - 1 : 255);
  for (uint8_t& sample : image->samples) sample = static_cast<uint8_t>(largest - sample);
}

// Divides the colours by their alpha. Programs that call alpha so although it is not in the colours
// leave some above their alpha: then nothing is done.
template <typename Sample>
void TakeAlphaOut(SourceImage* image) {
  const auto bands = static_cast<size_t>(ChannelsOf(image->layout));
  const size_t samples = image->size.pixels() * bands;
  constexpr uint64_t kMost = static_cast<Sample>(~Sample{0});
  const auto at = [&](size_t i) {
    Sample value;
    std::memcpy(&value, &image->samples[i * sizeof value], sizeof value);
    return uint64_t{value};
  };
  for (size_t i = 0; i < samples; ++i) {
    if (at(i) > at(i - i % bands + bands - 1)) return;
  }
  for (size_t i = 0; i < samples; ++i) {
    const uint64_t alpha = at(i - i % bands + bands - 1);
    if (alpha == 0 || i % bands == bands - 1) continue;
    const auto value = static_cast<Sample>((at(i) * kMost + alpha / 2) / alpha);
    std::memcpy(&image->samples[i * sizeof value], &value, sizeof value);
  }
}

PixelLayout LayoutOf(const TiffHeader& header) {
  if (header.colors == TiffColors::kPalette) return PixelLayout::kPalette;
  if (header.colors == TiffColors::kRgb) {
    return header.bands == 4 ? PixelLayout::kRgba : PixelLayout::kRgb;
  }
  return header.bands == 2 ? PixelLayout::kGrayAlpha : PixelLayout::kGray;
}

}  // namespace

Result<ImageSize> TiffSize(const TiffHeader& header, uint64_t max_pixels) {
  if (header.height > kMaxImageSide || header.width > kMaxImageSide) {
    return InvalidArgumentError("this TIFF file has a side of more than " +
                                std::to_string(kMaxImageSide) + " pixels");
  }
  const ImageSize size = {header.height, header.width};
  // Four bands take about the room of a pixel.
  const uint64_t layers = (static_cast<uint64_t>(header.bands) + 3) / 4;
  if (size.pixels() * layers <= max_pixels) return size;
  return InvalidArgumentError(DescribeImageSize(size) + " with " + DescribeBands(header) +
                              " is more than --max-pixels " + std::to_string(max_pixels));
}

Status DecodeTiffImage(std::string_view file, const TiffHeader& header, SourceImage* image) {
  RETURN_IF_ERROR(CheckForm(header));
  if (header.colors == TiffColors::kPalette && header.bits > 8) {
    return DataLossError("this TIFF file has a palette for indices of " +
                         std::to_string(header.bits) + " bits, which is not read; convert it");
  }
  image->size = {header.height, header.width};
  image->layout = LayoutOf(header);
  image->sample_bytes = TiffSampleBytes(header);
  image->stored_bits = header.bits;
  image->palette = header.palette;
  image->has_transparency = header.last_band_is_alpha;
  ClearRareForm(image);
  image->was_cmyk = image->had_stray_bytes = false;
  image->orientation = header.orientation;
  image->no_data = header.no_data;
  image->had_broken_exif = header.broken_orientation;
  RETURN_IF_ERROR(ReadTiffSamples(file, header, &image->samples));
  RETURN_IF_ERROR(CheckSigns(header, *image));
  if (header.colors == TiffColors::kInverseGray) {
    Invert(image);
    const auto most = static_cast<double>((uint64_t{1} << header.bits) - 1);
    if (image->no_data.has_value()) image->no_data = most - *image->no_data;
  }
  const bool has_alpha =
      image->layout == PixelLayout::kRgba || image->layout == PixelLayout::kGrayAlpha;
  if (header.alpha_is_in_colors && has_alpha && header.bits >= 8) {
    image->sample_bytes == 1 ? TakeAlphaOut<uint8_t>(image) : TakeAlphaOut<uint16_t>(image);
  }
  if (image->layout != PixelLayout::kPalette) return OkStatus();
  if (image->sample_bytes == 1 && image->palette.size() > 0) return OkStatus();
  return DataLossError("the palette of this TIFF file is damaged");
}

}  // namespace shardmill
