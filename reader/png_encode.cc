#include "reader/png_encode.h"

#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "reader/base/file.h"

namespace shardmill {
namespace {

constexpr int64_t kMaxSide = 1'000'000;         // libpng's own default limit
constexpr int kSmallLevel = 6, kFastLevel = 1;  // of zlib

// What libpng's callbacks need. libpng is C: an error leaves by longjmp, past frames that must
// hold nothing to destroy, so everything with a destructor lives in the caller of EncodeFenced.
struct Sink {
  std::string bytes;
  std::string error;
};

void OnError(png_structp png, png_const_charp message) {
  static_cast<Sink*>(png_get_error_ptr(png))->error = message;
  png_longjmp(png, 1);
}

void OnWarning(png_structp, png_const_charp) {}

void OnWrite(png_structp png, png_bytep data, png_size_t size) {
  static_cast<Sink*>(png_get_io_ptr(png))->bytes.append(reinterpret_cast<char*>(data), size);
}

void OnFlush(png_structp) {}

Status CheckPalette(const PngPicture& picture) {
  const size_t entries = picture.palette.size();
  if (entries == 0 || entries > 256) {
    return InvalidArgumentError("a PNG palette has 1 to 256 colours, not " +
                                std::to_string(entries));
  }
  const uint8_t* end = picture.pixels + picture.height * picture.width;
  const uint8_t highest = *std::max_element(picture.pixels, end);
  if (highest >= entries) {
    return InvalidArgumentError("pixel value " + std::to_string(highest) +
                                " is not in the palette of " + std::to_string(entries) +
                                " colours");
  }
  return OkStatus();
}

Status CheckPicture(const PngPicture& picture) {
  if (picture.height < 1 || picture.height > kMaxSide || picture.width < 1 ||
      picture.width > kMaxSide) {
    return InvalidArgumentError("a PNG is 1 to 1,000,000 pixels high and wide, not " +
                                std::to_string(picture.height) + " high × " +
                                std::to_string(picture.width) + " wide");
  }
  SHARDMILL_CHECK(picture.pixels != nullptr);
  return picture.color == PngColor::kPalette ? CheckPalette(picture) : OkStatus();
}

void SetPalette(const PngPicture& picture, png_structp png, png_infop info) {
  png_color colors[256];
  for (size_t i = 0; i < picture.palette.size(); ++i) {
    const uint32_t color = picture.palette[i];
    colors[i].red = static_cast<png_byte>(color >> 16);
    colors[i].green = static_cast<png_byte>(color >> 8);
    colors[i].blue = static_cast<png_byte>(color);
  }
  png_set_PLTE(png, info, colors, static_cast<int>(picture.palette.size()));
}

int PngColorType(PngColor color) {
  if (color == PngColor::kGray || color == PngColor::kGray16) return PNG_COLOR_TYPE_GRAY;
  return color == PngColor::kRgb ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_PALETTE;
}

int64_t PixelBytes(PngColor color) {
  if (color == PngColor::kRgb) return 3;
  return color == PngColor::kGray16 ? 2 : 1;
}

// libpng copies what it needs.
void SetSoftware(const PngPicture& picture, png_structp png, png_infop info) {
  char key[] = "Software";
  png_text text = {};
  text.compression = PNG_TEXT_COMPRESSION_NONE;
  text.key = key;
  text.text = const_cast<char*>(picture.software.c_str());
  text.text_length = picture.software.size();
  png_set_text(png, info, &text, 1);
}

// The part that libpng may leave by longjmp: trivially destructible locals only.
void WritePicture(const PngPicture& picture, png_structp png, png_infop info) {
  png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width),
               static_cast<png_uint_32>(picture.height),
               picture.color == PngColor::kGray16 ? 16 : 8, PngColorType(picture.color),
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (picture.color == PngColor::kPalette) SetPalette(picture, png, info);
  if (!picture.software.empty()) SetSoftware(picture, png, info);
  png_set_compression_level(png, picture.effort == PngEffort::kFast ? kFastLevel : kSmallLevel);
  png_set_filter(png, PNG_FILTER_TYPE_BASE,
                 picture.color == PngColor::kPalette ? PNG_FILTER_NONE : PNG_ALL_FILTERS);
  png_write_info(png, info);
  const int64_t row_bytes = picture.width * PixelBytes(picture.color);
  for (int64_t y = 0; y < picture.height; ++y) {
    png_write_row(png, picture.pixels + y * row_bytes);
  }
  png_write_end(png, info);
}

bool EncodeFenced(const PngPicture& picture, png_structp png, png_infop info, Sink* sink) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_write_fn(png, sink, OnWrite, OnFlush);
  WritePicture(picture, png, info);
  return true;
}

// True when nothing would be lost by writing to `path`.
bool MayBeReplaced(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) return true;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  if (std::filesystem::file_size(path, error) == 0 && !error) return true;
  unsigned char signature[8] = {};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(signature), sizeof signature);
  return file.good() && png_sig_cmp(signature, 0, sizeof signature) == 0;
}

}  // namespace

Result<std::string> EncodePng(const PngPicture& picture) {
  RETURN_IF_ERROR(CheckPicture(picture));
  Sink sink;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &sink, OnError, OnWarning);
  if (png == nullptr) return InternalError("libpng does not start: " + sink.error);
  png_infop info = png_create_info_struct(png);
  const bool encoded = info != nullptr && EncodeFenced(picture, png, info, &sink);
  png_destroy_write_struct(&png, &info);
  if (!encoded) return InternalError("libpng does not encode the picture: " + sink.error);
  return std::move(sink.bytes);
}

bool HasPngSoftware(const std::string& path, const std::string& software) {
  // It stands between the palette, of at most 768 bytes, and the pixels.
  std::string head(2048, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  if (head.size() < 8 || png_sig_cmp(reinterpret_cast<png_const_bytep>(head.data()), 0, 8) != 0) {
    return false;
  }
  const std::string text = std::string("tEXtSoftware") + '\0' + software;
  const size_t at = head.find(text);
  if (at == std::string::npos || at < 4 || at > head.find("IDAT")) return false;
  // The length of the chunk, so that a longer name that begins alike is another.
  const auto length = static_cast<size_t>(static_cast<uint8_t>(head[at - 1])) |
                      static_cast<size_t>(static_cast<uint8_t>(head[at - 2])) << 8;
  return length == text.size() - 4;
}

Status WritePng(const std::string& path, const PngPicture& picture) {
  if (!MayBeReplaced(path)) {
    return InvalidArgumentError(path + " exists and is no PNG file; give another name");
  }
  ASSIGN_OR_RETURN(const std::string bytes, EncodePng(picture));
  ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  RETURN_IF_ERROR(file.Append(bytes.data(), bytes.size()));
  return file.Commit();
}

}  // namespace shardmill
