#include "tools/pack/decode/image_decode.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "tools/pack/decode/bmp_image.h"
#include "tools/pack/decode/image_plugin.h"
#include "tools/pack/decode/jpeg2000_form.h"
#include "tools/pack/decode/png_decode.h"
#include "tools/pack/decode/pnm_image.h"
#include "tools/pack/decode/rgb_convert.h"
#include "tools/pack/decode/tiff_image.h"

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

// Of files without an alpha channel. Bits above those of a sample mean nothing.
void TakeTransparency(const PngChunks& png, SourceImage* image) {
  ClearRareForm(image);
  if (png.color_type == PngColorType::kPalette) {
    for (const PngPaletteEntry& entry : png.palette) image->palette_alpha.push_back(entry.alpha);
  } else if (png.has_transparent_color) {
    image->transparent_value = png.transparent_color;
    for (uint16_t& value : *image->transparent_value) {
      value = static_cast<uint16_t>(value & ((1u << png.bit_depth) - 1));
    }
  }
}

// An index beyond the palette has no colour: decoders differ in what they make of it.
Status CheckPaletteIndices(const SourceImage& image) {
  if (image.layout != PixelLayout::kPalette || image.samples.empty()) return OkStatus();
  const uint8_t highest = *std::max_element(image.samples.begin(), image.samples.end());
  if (highest < image.palette.size()) return OkStatus();
  return DataLossError("damaged file: a pixel has palette index " + std::to_string(highest) +
                       ", the palette has " + std::to_string(image.palette.size()) + " colours");
}

// Of the kinds of JPEG that libjpeg does not decode, and not the user's mistake.
Status AsDataLoss(const Status& status) {
  if (status.code() != StatusCode::kInvalidArgument) return status;
  return DataLossError(status.message());
}

}  // namespace

Status CheckPixels(ImageSize size, uint64_t max_pixels) {
  if (size.pixels() <= max_pixels) return OkStatus();
  return InvalidArgumentError(DescribeImageSize(size) + " is more than --max-pixels " +
                              std::to_string(max_pixels));
}

Result<ImageSize> ImageDecoder::OpenPng() {
  ASSIGN_OR_RETURN(ImageSize size, ProbePng(file_));
  RETURN_IF_ERROR(CheckPixels(size, max_pixels_));
  RETURN_IF_ERROR(png_.Open(file_, PngFastDecoder::kMaxPixels));
  if (png_.png().animated) {
    return DataLossError("an animated PNG holds several pictures; save the one that is meant");
  }
  return UprightSize(size, png_.png().orientation);
}

Status ImageDecoder::ReadPng(SourceImage* image) {
  const PngChunks& png = png_.png();
  if (png_.NotHandled().empty()) {
    TakeHeader(png, image);
    RETURN_IF_ERROR(png_.ReadPixels(image->samples.data()));
  } else {
    RETURN_IF_ERROR(DecodePng(file_, max_pixels_, image));
  }
  TakeTransparency(png, image);
  image->orientation = png.orientation;
  image->had_broken_exif = png.broken_exif;
  image->had_stray_bytes = png.trailing_bytes > 0;
  return CheckPaletteIndices(*image);
}

Result<ImageSize> ImageDecoder::OpenJpeg() {
  JpegOptions options;
  options.max_pixels = std::numeric_limits<int64_t>::max();  // checked here, in the user's words
  RETURN_IF_ERROR(AsDataLoss(jpeg_.Open(file_, options)));
  const JpegHeader& header = jpeg_.header();
  const ImageSize size = {static_cast<uint32_t>(header.height),
                          static_cast<uint32_t>(header.width)};
  RETURN_IF_ERROR(CheckPixels(size, max_pixels_));
  return UprightSize(size, header.orientation);
}

Status ImageDecoder::ReadJpeg(const Region& upright, SourceImage* image) {
  const JpegHeader& header = jpeg_.header();
  const ImageSize whole = {static_cast<uint32_t>(header.output_height),
                           static_cast<uint32_t>(header.output_width)};
  const Region part = StoredRegion(upright, whole, header.orientation);
  AllocateSamples(part.size, header.channels == 1 ? PixelLayout::kGray : PixelLayout::kRgb, 1,
                  image);
  image->stored_bits = 8;
  image->palette.clear();
  image->has_transparency = false;
  image->was_cmyk = header.was_cmyk;
  image->orientation = header.orientation;
  image->had_broken_exif = header.broken_exif;
  const JpegWindow window = {part.y, part.x, part.size.height, part.size.width};
  RETURN_IF_ERROR(AsDataLoss(jpeg_.ReadPixels(window, image->samples.data())));
  image->had_stray_bytes = jpeg_.stray_bytes() > 0;
  return OkStatus();
}

Result<ImageSize> ImageDecoder::OpenGif() {
  ASSIGN_OR_RETURN(gif_, ReadGifHeader(file_));
  const ImageSize size = {gif_.height, gif_.width};
  RETURN_IF_ERROR(CheckPixels(size, max_pixels_));
  return size;
}

Result<ImageSize> ImageDecoder::OpenBmp() {
  ASSIGN_OR_RETURN(bmp_, ReadBmpHeader(file_));
  const ImageSize size = {bmp_.height, bmp_.width};
  RETURN_IF_ERROR(CheckPixels(size, max_pixels_));
  return size;
}

Status ImageDecoder::ReadGif(SourceImage* image) {
  image->size = {gif_.height, gif_.width};
  image->layout = PixelLayout::kPalette;
  image->sample_bytes = 1;
  image->stored_bits = 8;
  image->palette = gif_.palette;
  image->has_transparency = gif_.transparent_index.has_value();
  ClearRareForm(image);
  if (gif_.transparent_index.has_value()) {
    image->palette_alpha.assign(*gif_.transparent_index + size_t{1}, 255);
    image->palette_alpha.back() = 0;
  }
  image->was_cmyk = image->had_broken_exif = false;
  image->had_stray_bytes = gif_.stray_bytes > 0;
  image->orientation = 1;
  RETURN_IF_ERROR(ReadGifIndices(file_, gif_, &image->samples));
  return CheckPaletteIndices(*image);
}

// The plug-in does not read all PNM files by one rule, nor all JPEG 2000 files rightly.
Status ImageDecoder::DecodeWhole() {
  if (format_ == FileFormat::kPnm) return DecodePnm(file_, max_pixels_, &decoded_);
  if (format_ != FileFormat::kJpeg2000) return DecodeThroughPlugin(file_, max_pixels_, &decoded_);
  ASSIGN_OR_RETURN(const int bits, ReadJpeg2000Bits(file_));
  RETURN_IF_ERROR(DecodeThroughPlugin(file_, max_pixels_, &decoded_));
  const bool is_spread = decoded_.sample_bytes == 2 && bits < 16;
  if (is_spread) decoded_.full_level = (1u << bits) - 1;
  return OkStatus();
}

Result<ImageSize> ImageDecoder::Open(std::string_view file, uint64_t max_pixels) {
  file_ = file;
  max_pixels_ = max_pixels;
  format_ = SniffFormat(file);
  form_ = ReadStoredForm(file, format_);
  Result<ImageSize> size = DataLossError("this is " + DescribeContent(file));
  switch (format_) {
    case FileFormat::kPng:
      size = OpenPng();
      break;
    case FileFormat::kJpeg:
      size = OpenJpeg();
      break;
    case FileFormat::kTiff: {
      ASSIGN_OR_RETURN(tiff_, ReadTiffHeader(file));
      ASSIGN_OR_RETURN(const ImageSize stored, TiffSize(tiff_, max_pixels));
      size = UprightSize(stored, tiff_.orientation);
      break;
    }
    case FileFormat::kBmp:
      size = OpenBmp();
      break;
    case FileFormat::kWebp:
    case FileFormat::kPnm:
    case FileFormat::kJpeg2000:
      if (form_.animated) {
        return DataLossError("an animated WebP holds several pictures; save the one that is meant");
      }
      RETURN_IF_ERROR(DecodeWhole());
      decoded_.orientation = form_.exif.orientation;
      decoded_.had_broken_exif = form_.exif.broken;
      size = UprightSize(decoded_.size, decoded_.orientation);
      break;
    case FileFormat::kGif:
      size = OpenGif();
      break;
    case FileFormat::kUnknown:
      break;
  }
  if (size.ok()) upright_ = *size;
  return size;
}

Result<ImageSize> ImageDecoder::Shrink(ImageSize target) {
  if (format_ != FileFormat::kJpeg) return upright_;
  uint32_t denominator = 8;
  auto shrunk = [&](uint32_t side) { return (side + denominator - 1) / denominator; };
  while (denominator > 1 &&
         (shrunk(upright_.height) < target.height || shrunk(upright_.width) < target.width)) {
    denominator /= 2;
  }
  if (denominator == 1) return upright_;
  JpegOptions options;
  options.max_pixels = std::numeric_limits<int64_t>::max();  // it was checked
  options.scale_denominator = static_cast<int>(denominator);
  RETURN_IF_ERROR(AsDataLoss(jpeg_.Open(file_, options)));
  const JpegHeader& header = jpeg_.header();
  upright_ = UprightSize(
      {static_cast<uint32_t>(header.output_height), static_cast<uint32_t>(header.output_width)},
      header.orientation);
  return upright_;
}

Result<Region> ImageDecoder::Read(const Region& needed, SourceImage* image) {
  const Region whole = {0, 0, upright_};
  switch (format_) {
    case FileFormat::kJpeg:
      RETURN_IF_ERROR(ReadJpeg(needed, image));
      return needed;
    case FileFormat::kPng:
      RETURN_IF_ERROR(ReadPng(image));
      return whole;
    case FileFormat::kTiff:
      RETURN_IF_ERROR(DecodeTiffImage(file_, tiff_, image));
      return whole;
    case FileFormat::kGif:
      RETURN_IF_ERROR(ReadGif(image));
      return whole;
    case FileFormat::kBmp:
      RETURN_IF_ERROR(DecodeBmp(file_, bmp_, image));
      return whole;
    default:
      std::swap(*image, decoded_);
      return whole;
  }
}

bool ImageDecoder::IsPlainRgb() const {
  if (format_ != FileFormat::kPng || !png_.NotHandled().empty()) return false;
  const PngChunks& png = png_.png();
  return png.color_type == PngColorType::kRgb && png.bit_depth == 8 && png.orientation == 1 &&
         !png.broken_exif && !HasTransparency(png);
}

Result<bool> ImageDecoder::ReadPlainRgb(const Region& part, std::string* pixels) {
  RETURN_IF_ERROR(png_.ReadWindow({part.y, part.x, part.size.height, part.size.width}, pixels));
  return png_.png().trailing_bytes > 0;
}

bool ImageDecoder::IsUprightJpeg() const {
  return format_ == FileFormat::kJpeg && jpeg_.header().orientation == 1 &&
         !jpeg_.header().was_cmyk;
}

std::string ImageDecoder::DescribeLoss() const {
  if (format_ == FileFormat::kTiff) {
    return tiff_.may_be_lossy ? "a TIFF file of a compression like that of JPEG" : "";
  }
  return IsLossy(file_) ? DescribeContent(file_) : "";
}

Status ImageDecoder::CheckStoredValues() const {
  const bool is_float = format_ == FileFormat::kTiff && tiff_.samples == TiffSamples::kFloat;
  if (is_float || (format_ == FileFormat::kTiff && tiff_.bits > 16)) {
    return DataLossError("this TIFF file holds " +
                         std::string(is_float ? "floating-point numbers" : "integers") + " of " +
                         std::to_string(tiff_.bits) +
                         " bits; labels are class ids of 8 or 16 bits, or colours: convert it");
  }
  if (form_.few_bits) {
    return DataLossError("this is a " + std::string(FileFormatName(format_)) +
                         " file of fewer than 8 bits per pixel, whose values are not kept; convert "
                         "it to a PNG that holds the class ids");
  }
  return OkStatus();
}

Status ImageDecoder::Decode(std::string_view file, uint64_t max_pixels, SourceImage* image) {
  ASSIGN_OR_RETURN(const ImageSize size, Open(file, max_pixels));
  return Read({0, 0, size}, image).status();
}

Result<ImageSize> ProbeImageSize(std::string_view file, uint64_t max_pixels) {
  if (SniffFormat(file) == FileFormat::kPng) {
    const auto read = [file](uint64_t offset, uint64_t bytes) {
      return Result<std::string>(std::string(file.substr(offset, bytes)));
    };
    ASSIGN_OR_RETURN(const ImageSize size, ProbePngFile(file.size(), read));
    RETURN_IF_ERROR(CheckPixels(size, max_pixels));
    return size;
  }
  return ImageDecoder().Open(file, max_pixels);
}

}  // namespace shardmill
