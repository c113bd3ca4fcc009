// What a file is, by its first bytes; and what its name says it might be.
//
// Free functions without state; safe from any thread.
#pragma once

#include <string>
#include <string_view>

namespace shardmill {

enum class FileFormat { kUnknown, kPng, kJpeg, kBmp, kTiff, kWebp, kPnm, kJpeg2000, kGif };

FileFormat SniffFormat(std::string_view first_bytes);
std::string_view FileFormatName(FileFormat format);  // "PNG", …

// "an empty file", "a GIF file", "no image file that is known here (it starts with 7f 45 4c 46)"
std::string DescribeContent(std::string_view file);

// True when the format of the file changes pixels to save room.
bool IsLossy(std::string_view file);

// True for names that end in the extension of an image, in any case of letters.
bool HasImageExtension(std::string_view name);
// True for the extensions of image formats that cannot be read here, as "x.HEIC".
bool HasForeignExtension(std::string_view name);
// The name without its last extension when that is one of an image; dots before it stay.
std::string_view WithoutImageExtension(std::string_view name);

}  // namespace shardmill
