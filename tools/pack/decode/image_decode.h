// Decodes image files of any format that is known, by content and not by name.
//
// WebP and JPEG 2000 need OpenCV, which pulls in some 130 libraries: it lives in a plug-in beside
// the program that is opened when it is first needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "reader/base/status.h"
#include "tools/pack/decode/bmp_header.h"
#include "tools/pack/decode/file_format.h"
#include "tools/pack/decode/gif_read.h"
#include "tools/pack/decode/jpeg_fast.h"
#include "tools/pack/decode/png_fast.h"
#include "tools/pack/decode/source_image.h"
#include "tools/pack/decode/stored_form.h"
#include "tools/pack/decode/tiff_read.h"

namespace shardmill {

// Keeps its tables and buffers from image to image. One object per thread.
//
// DataLoss when the file is damaged, cut, animated, of several pages or of an unknown kind;
// InvalidArgument when it has more than `max_pixels` pixels. Messages do not name the file: the
// caller does.
class ImageDecoder {
 public:
  // Height and width of the upright picture. `file` must stay alive until it is read.
  Result<ImageSize> Open(std::string_view file, uint64_t max_pixels);

  // Decodes the file that was opened, once: at least the part `needed` of the upright picture,
  // which must not be empty. The result says which part `image` holds, in the upright picture.
  // Whatever the part, damage anywhere in the file is found.
  Result<Region> Read(const Region& needed, SourceImage* image);

  // After Open(), for JPEG files: lets Read() decode the picture at a half, a quarter or an eighth
  // of its sides, the smallest that is not below `target`, from the lower frequencies alone. That
  // is fast, but not what resizing all pixels gives. Returns the size that Read() will give, which
  // is the whole one for all other files; parts are then counted in it.
  Result<ImageSize> Shrink(ImageSize target);

  // After Open(): an upright PNG file of 8-bit RGB without transparency, which needs no conversion.
  bool IsPlainRgb() const;
  // In place of Read(), for such a file: the pixels of `part` alone, dense rows. The result says
  // whether there were stray bytes.
  Result<bool> ReadPlainRgb(const Region& part, std::string* pixels);

  // Both, for the whole picture.
  Status Decode(std::string_view file, uint64_t max_pixels, SourceImage* image);

  // After Open(): a JPEG file that holds its picture upright, in gray or in colours, not in ink.
  bool IsUprightJpeg() const;
  // After IsUprightJpeg(): whether that is only because its EXIF data are broken.
  bool HasBrokenExif() const { return jpeg_.header().broken_exif; }

  // After Open(): by what the compression of the file may have changed its pixels, as "a JPEG
  // file"; empty: it keeps them.
  std::string DescribeLoss() const;

  // DataLoss when the samples of the file that was opened are not the values that it stores, or
  // those are no numbers that classes have: such a file shows a picture, but is no label.
  Status CheckStoredValues() const;

 private:
  Result<ImageSize> OpenPng();
  Result<ImageSize> OpenJpeg();
  Result<ImageSize> OpenGif();
  Result<ImageSize> OpenBmp();
  Status DecodeWhole();
  Status ReadPng(SourceImage* image);
  Status ReadGif(SourceImage* image);
  Status ReadJpeg(const Region& upright, SourceImage* image);

  std::string_view file_;
  FileFormat format_ = FileFormat::kUnknown;
  StoredForm form_;
  uint64_t max_pixels_ = 0;
  ImageSize upright_;
  PngFastDecoder png_;
  JpegFastDecoder jpeg_;
  TiffHeader tiff_;
  GifHeader gif_;
  BmpHeader bmp_;
  SourceImage decoded_;  // of formats whose size is known only then
};

// InvalidArgument for more than `max_pixels`.
Status CheckPixels(ImageSize size, uint64_t max_pixels);

// Height and width as they will be after the orientation is applied. From the header for PNG,
// JPEG, TIFF, GIF and BMP, by decoding for the others. Safe for concurrent use.
Result<ImageSize> ProbeImageSize(std::string_view file, uint64_t max_pixels);

}  // namespace shardmill
