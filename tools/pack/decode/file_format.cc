#include "tools/pack/decode/file_format.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>

namespace shardmill {
namespace {

constexpr std::string_view kExtensions[] = {"png", "jpg", "jpeg", "jpe",  "jfif",
                                            "bmp", "tif", "tiff", "webp", "ppm",
                                            "pgm", "pbm", "pnm",  "jp2",  "gif"};

// Of images that no decoder here reads.
constexpr std::string_view kForeignExtensions[] = {"heic", "heif", "avif", "mpo", "jxl", "jxr",
                                                   "psd",  "dng",  "cr2",  "nef", "arw"};

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool EqualIgnoringCase(std::string_view a, std::string_view lower) {
  return a.size() == lower.size() &&
         std::equal(a.begin(), a.end(), lower.begin(), [](char x, char y) {
           return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
         });
}

bool IsPnm(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' &&
         (bytes[2] == ' ' || bytes[2] == '\n' || bytes[2] == '\r' || bytes[2] == '\t');
}

}  // namespace

FileFormat SniffFormat(std::string_view bytes) {
  using std::string_view_literals::operator""sv;
  if (StartsWith(bytes, "\x89PNG\r\n\x1a\n"sv)) return FileFormat::kPng;
  if (StartsWith(bytes, "\xff\xd8\xff"sv)) return FileFormat::kJpeg;
  if (StartsWith(bytes, "BM"sv)) return FileFormat::kBmp;
  if (StartsWith(bytes, "II*\0"sv) || StartsWith(bytes, "MM\0*"sv)) return FileFormat::kTiff;
  if (StartsWith(bytes, "II+\0"sv) || StartsWith(bytes, "MM\0+"sv)) return FileFormat::kTiff;
  if (StartsWith(bytes, "RIFF"sv) && bytes.substr(std::min<size_t>(8, bytes.size()), 4) == "WEBP") {
    return FileFormat::kWebp;
  }
  if (IsPnm(bytes)) return FileFormat::kPnm;
  if (StartsWith(bytes, "\0\0\0\x0cjP  \r\n"sv)) return FileFormat::kJpeg2000;
  if (StartsWith(bytes, "GIF8"sv)) return FileFormat::kGif;
  return FileFormat::kUnknown;
}

std::string_view FileFormatName(FileFormat format) {
  switch (format) {
    case FileFormat::kUnknown:
      return "unknown";
    case FileFormat::kPng:
      return "PNG";
    case FileFormat::kJpeg:
      return "JPEG";
    case FileFormat::kBmp:
      return "BMP";
    case FileFormat::kTiff:
      return "TIFF";
    case FileFormat::kWebp:
      return "WebP";
    case FileFormat::kPnm:
      return "PNM";
    case FileFormat::kJpeg2000:
      return "JPEG 2000";
    case FileFormat::kGif:
      return "GIF";
  }
  return "unknown";
}

std::string DescribeContent(std::string_view file) {
  if (file.empty()) return "an empty file";
  FileFormat format = SniffFormat(file);
  if (format != FileFormat::kUnknown) return "a " + std::string(FileFormatName(format)) + " file";
  std::string text = "no image file that is known here (it starts with";
  for (char c : file.substr(0, 4)) {
    char byte[8];
    std::snprintf(byte, sizeof byte, " %02x", static_cast<uint8_t>(c));
    text += byte;
  }
  return text + ")";
}

bool IsLossy(std::string_view file) {
  switch (SniffFormat(file)) {
    case FileFormat::kJpeg:
    case FileFormat::kJpeg2000:  // which may be lossless, but does not say so in its header
      return true;
    case FileFormat::kWebp:
      // Behind the container's header; an extended file names its pixels' chunk further on.
      return file.substr(12, 4) == "VP8 " ||
             (file.substr(12, 4) == "VP8X" && file.find("VP8L") == std::string_view::npos);
    default:
      return false;
  }
}

std::string_view WithoutImageExtension(std::string_view name) {
  size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return name;
  std::string_view extension = name.substr(dot + 1);
  for (std::string_view known : kExtensions) {
    if (EqualIgnoringCase(extension, known)) return name.substr(0, dot);
  }
  return name;
}

bool HasForeignExtension(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  return std::any_of(
      std::begin(kForeignExtensions), std::end(kForeignExtensions),
      [&](std::string_view known) { return EqualIgnoringCase(name.substr(dot + 1), known); });
}

bool HasImageExtension(std::string_view name) {
  return WithoutImageExtension(name).size() != name.size();
}

}  // namespace shardmill
