#include "tests/tools/pack/decode/png_reference.h"

#include <png.h>

#include <csetjmp>
#include <cstring>

namespace shardmill {
namespace {

struct Source {
  const std::string* file;
  size_t at = 0;
};

void OnError(png_structp png, png_const_charp) { png_longjmp(png, 1); }
void OnWarning(png_structp, png_const_charp) {}

void OnRead(png_structp png, png_bytep to, png_size_t bytes) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (bytes > source->file->size() - source->at) png_error(png, "end");
  std::memcpy(to, source->file->data() + source->at, bytes);
  source->at += bytes;
}

// libpng leaves by longjmp: nothing in here has a destructor.
bool ReadFenced(png_structp png, png_infop info, Source* source, ReferencePng* image) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_read_fn(png, source, OnRead);
  png_read_info(png, info);
  image->height = png_get_image_height(png, info);
  image->width = png_get_image_width(png, info);
  image->channels = png_get_channels(png, info);
  image->bit_depth = png_get_bit_depth(png, info);
  png_set_packing(png);  // one byte per sample, values as they are
  png_set_swap(png);     // 16-bit samples to little-endian
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  const size_t row_bytes = png_get_rowbytes(png, info);
  image->samples.resize(image->height * row_bytes);
  for (int64_t y = 0; y < image->height; ++y) {
    png_read_row(png, image->samples.data() + y * row_bytes, nullptr);
  }
  png_read_end(png, nullptr);
  return true;
}

}  // namespace

ReferencePng ReadWithLibpng(const std::string& file) {
  ReferencePng image;
  Source source{&file};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, OnError, OnWarning);
  png_infop info = png_create_info_struct(png);
  image.ok = ReadFenced(png, info, &source, &image);
  png_destroy_read_struct(&png, &info, nullptr);
  return image;
}

}  // namespace shardmill
