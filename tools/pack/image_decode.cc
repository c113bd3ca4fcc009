#include "tools/pack/image_decode.h"

#include <string>

#include "tools/pack/file_format.h"
#include "tools/pack/image_plugin.h"
#include "tools/pack/jpeg_decode.h"
#include "tools/pack/png_decode.h"

namespace shardmill {

Status DecodeImage(std::string_view file, uint64_t max_pixels, SourceImage* image) {
  switch (SniffFormat(file)) {
    case FileFormat::kPng:
      return DecodePng(file, max_pixels, image);
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
  RETURN_IF_ERROR(DecodeImage(file, max_pixels, &image));
  return image.size;
}

}  // namespace shardmill
