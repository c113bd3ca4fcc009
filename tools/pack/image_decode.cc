#include "tools/pack/image_decode.h"

#include <algorithm>
#include <string>

#include "tools/pack/file_format.h"
#include "tools/pack/image_plugin.h"
#include "tools/pack/jpeg_decode.h"
#include "tools/pack/png_decode.h"

namespace shardmill {
namespace {

PixelLayout LayoutOf(PngColorType type) {
  switch (type) {
    case PngColorType::kGray:
      return PixelLayout::kGray;
    case PngColorType::kGrayAlpha:
      return PixelLayout::kGrayAlpha;
    case PngColorType::kPalette:
      return PixelLayout::kPalette;
    case PngColorType::kRgbAlpha:
      return PixelLayout::kRgba;
    case PngColorType::kRgb:
      break;
  }
  return PixelLayout::kRgb;
}

bool HasTransparency(const PngChunks& png) {
  return png.color_type == PngColorType::kGrayAlpha || png.color_type == PngColorType::kRgbAlpha ||
         png.has_transparent_color ||
         std::any_of(png.palette.begin(), png.palette.end(),
                     [](const PngPaletteEntry& entry) { return entry.alpha != 255; });
}

// What the header says, and room for the samples.
void TakeHeader(const PngChunks& png, SourceImage* image) {
  ImageSize size = {static_cast<uint32_t>(png.height), static_cast<uint32_t>(png.width)};
  AllocateSamples(size, LayoutOf(png.color_type), png.bit_depth == 16 ? 2 : 1, image);
  image->stored_bits = png.bit_depth;
  image->has_transparency = HasTransparency(png);
  image->was_cmyk = false;
  image->palette.clear();
  for (const PngPaletteEntry& entry : png.palette) {
    image->palette.push_back(uint32_t{entry.red} << 16 | uint32_t{entry.green} << 8 |
                             uint32_t{entry.blue});
  }
}

Status CheckPixels(ImageSize size, uint64_t max_pixels) {
  if (size.pixels() <= max_pixels) return OkStatus();
  return InvalidArgumentError(DescribeImageSize(size) + " is more than --max-pixels " +
                              std::to_string(max_pixels));
}

// An index beyond the palette has no colour: decoders differ in what they make of it.
Status CheckPaletteIndices(const SourceImage& image) {
  if (image.layout != PixelLayout::kPalette || image.samples.empty()) return OkStatus();
  const uint8_t highest = *std::max_element(image.samples.begin(), image.samples.end());
  if (highest < image.palette.size()) return OkStatus();
  return DataLossError("damaged PNG: a pixel has palette index " + std::to_string(highest) +
                       ", the palette has " + std::to_string(image.palette.size()) + " colours");
}

}  // namespace

Status ImageDecoder::DecodePngFile(std::string_view file, uint64_t max_pixels, SourceImage* image) {
  ASSIGN_OR_RETURN(ImageSize size, ProbePng(file));
  RETURN_IF_ERROR(CheckPixels(size, max_pixels));
  RETURN_IF_ERROR(png_.Open(file, PngFastDecoder::kMaxPixels));
  const PngChunks& png = png_.png();
  if (png.animated) {
    return DataLossError("an animated PNG holds several pictures; save the one that is meant");
  }
  if (png_.NotHandled().empty()) {
    TakeHeader(png, image);
    RETURN_IF_ERROR(png_.ReadPixels(image->samples.data()));
  } else {
    RETURN_IF_ERROR(DecodePng(file, max_pixels, image));
  }
  image->orientation = png.orientation;
  image->had_stray_bytes = png.trailing_bytes > 0;
  return CheckPaletteIndices(*image);
}

Status ImageDecoder::Decode(std::string_view file, uint64_t max_pixels, SourceImage* image) {
  switch (SniffFormat(file)) {
    case FileFormat::kPng:
      return DecodePngFile(file, max_pixels, image);
    case FileFormat::kJpeg:
      return DecodeJpeg(file, max_pixels, image);
    case FileFormat::kBmp:
    case FileFormat::kTiff:
    case FileFormat::kWebp:
    case FileFormat::kPnm:
    case FileFormat::kJpeg2000:
      return DecodeThroughPlugin(file, max_pixels, image);
    case FileFormat::kGif:
      return DataLossError(
          "GIF files may hold several pictures and are not read; convert it to PNG");
    case FileFormat::kUnknown:
      break;
  }
  return DataLossError("this is " + DescribeContent(file));
}

Result<ImageSize> ProbeImageSize(std::string_view file, uint64_t max_pixels) {
  switch (SniffFormat(file)) {
    case FileFormat::kPng:
      return ProbePng(file);
    case FileFormat::kJpeg:
      return ProbeJpeg(file);
    default:
      break;
  }
  SourceImage image;
  ImageDecoder decoder;
  RETURN_IF_ERROR(decoder.Decode(file, max_pixels, &image));
  return image.size;
}

}  // namespace shardmill
