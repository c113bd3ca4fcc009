// Decodes PNG files through libpng without any expansion: palette indices stay indices, gray
// values of 1, 2 and 4 bits stay unscaled, 16 bits stay 16 bits.
//
// A file that is cut anywhere, or whose image data fails a checksum, is DataLoss. Text, colour
// profiles and the like are skipped whatever their size. Stateless; safe for concurrent use.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "reader/base/status.h"
#include "tools/pack/decode/source_image.h"

namespace shardmill {

// InvalidArgument when the image has more than `max_pixels` pixels.
Status DecodePng(std::string_view file, uint64_t max_pixels, SourceImage* image);

// Height and width as they are stored, from the header alone.
Result<ImageSize> ProbePng(std::string_view file);

// Part of a file; at its end there may be less. The offset is inside the file.
using ReadPart = std::function<Result<std::string>(uint64_t offset, uint64_t bytes)>;

// Height and width of the upright picture. EXIF data may stand behind the pixels, so all chunks are
// stepped over, of which nothing but their first bytes is read.
Result<ImageSize> ProbePngFile(uint64_t file_bytes, const ReadPart& read);

}  // namespace shardmill
