// Decodes image files of any format that is known, by content and not by name.
//
// PNG and JPEG are decoded here. The other formats need OpenCV, which pulls in some 130
// libraries: it lives in a plug-in beside the program that is opened when it is first needed.
#pragma once

#include <cstdint>
#include <string_view>

#include "reader/base/status.h"
#include "tools/pack/decode/png_fast.h"
#include "tools/pack/source_image.h"

namespace shardmill {

// Keeps its tables and buffers from image to image. One object per thread.
class ImageDecoder {
 public:
  // DataLoss when the file is damaged, cut, animated or of an unknown kind; InvalidArgument when
  // it has more than `max_pixels` pixels. The message does not name the file: the caller does.
  Status Decode(std::string_view file, uint64_t max_pixels, SourceImage* image);

 private:
  Status DecodePngFile(std::string_view file, uint64_t max_pixels, SourceImage* image);

  PngFastDecoder png_;
};

// Height and width as they will be after the orientation is applied. From the header for PNG and
// JPEG, by decoding for the others. Safe for concurrent use.
Result<ImageSize> ProbeImageSize(std::string_view file, uint64_t max_pixels);

}  // namespace shardmill
