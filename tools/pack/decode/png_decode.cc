#include "tools/pack/decode/png_decode.h"

#include <png.h>

#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <string>

#include "reader/base/exception_status.h"
#include "tools/pack/decode/exif_orientation.h"
#include "tools/pack/decode/rgb_convert.h"

namespace shardmill {
namespace {

constexpr size_t kHeaderBytes = 33;  // signature and the IHDR chunk

// What libpng's callbacks need. libpng is C: an error leaves by longjmp, past frames that must
// hold nothing to destroy, so everything with a destructor lives outside the fenced functions.
struct Source {
  std::string_view left;
  std::string error;
  bool out_of_memory = false;
};

void OnError(png_structp png, png_const_charp message) {
  static_cast<Source*>(png_get_error_ptr(png))->error = message;
  png_longjmp(png, 1);
}

void OnWarning(png_structp, png_const_charp) {}

// libpng says "damaged" of a file for which there is no memory, as it does of others.
png_voidp OnAllocate(png_structp png, png_alloc_size_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory == nullptr) static_cast<Source*>(png_get_mem_ptr(png))->out_of_memory = true;
  return memory;
}

void OnFree(png_structp, png_voidp memory) { std::free(memory); }

void OnRead(png_structp png, png_bytep out, png_size_t size) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (size > source->left.size()) png_error(png, "the file ends too early");
  std::memcpy(out, source->left.data(), size);
  source->left.remove_prefix(size);
}

PixelLayout LayoutOf(int color_type) {
  switch (color_type) {
    case PNG_COLOR_TYPE_GRAY:
      return PixelLayout::kGray;
    case PNG_COLOR_TYPE_GRAY_ALPHA:
      return PixelLayout::kGrayAlpha;
    case PNG_COLOR_TYPE_PALETTE:
      return PixelLayout::kPalette;
    case PNG_COLOR_TYPE_RGB_ALPHA:
      return PixelLayout::kRgba;
    default:
      return PixelLayout::kRgb;
  }
}

// One PNG being read. The Fenced… functions contain libpng's jumps.
class PngReader {
 public:
  explicit PngReader(std::string_view file) {
    source_.left = file;
    png_ = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &source_, OnError, OnWarning, &source_,
                                    OnAllocate, OnFree);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  Status ReadHeader(uint64_t max_pixels, SourceImage* image);
  Status ReadPixels(SourceImage* image);

 private:
  bool FencedReadHeader();
  bool FencedReadPixels(uint8_t* samples, size_t row_bytes, uint32_t height);
  void TakePalette(SourceImage* image);
  Status Damaged() const {
    if (source_.out_of_memory) return OutOfMemoryError("libpng");
    return DataLossError("damaged PNG: " + source_.error);
  }

  Source source_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

bool PngReader::FencedReadHeader() {
  if (setjmp(png_jmpbuf(png_)) != 0) return false;
  png_set_read_fn(png_, &source_, OnRead);
  // All chunks but those that make the pixels are skipped, so their size needs no limit.
  png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_chunk_malloc_max(png_, 0);
  png_set_user_limits(png_, kMaxImageSide, kMaxImageSide);
  png_read_info(png_, info_);
  png_set_packing(png_);
  if (png_get_bit_depth(png_, info_) == 16) png_set_swap(png_);
  png_set_interlace_handling(png_);
  png_read_update_info(png_, info_);
  return true;
}

Status PngReader::ReadHeader(uint64_t max_pixels, SourceImage* image) {
  if (source_.out_of_memory) return OutOfMemoryError("libpng");
  if (info_ == nullptr) return InternalError("libpng does not start: " + source_.error);
  if (!FencedReadHeader()) return Damaged();
  ImageSize size = {png_get_image_height(png_, info_), png_get_image_width(png_, info_)};
  if (size.pixels() > max_pixels) {
    return InvalidArgumentError(DescribeImageSize(size) + " is more than --max-pixels " +
                                std::to_string(max_pixels));
  }
  PixelLayout layout = LayoutOf(png_get_color_type(png_, info_));
  AllocateSamples(size, layout, png_get_bit_depth(png_, info_) == 16 ? 2 : 1, image);
  image->has_transparency = layout == PixelLayout::kRgba || layout == PixelLayout::kGrayAlpha ||
                            png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
  TakePalette(image);
  return OkStatus();
}

void PngReader::TakePalette(SourceImage* image) {
  image->palette.clear();
  png_colorp colors = nullptr;
  int count = 0;
  if (image->layout != PixelLayout::kPalette) return;
  if (png_get_PLTE(png_, info_, &colors, &count) == 0) return;
  for (int i = 0; i < count; ++i) {
    image->palette.push_back(uint32_t{colors[i].red} << 16 | uint32_t{colors[i].green} << 8 |
                             uint32_t{colors[i].blue});
  }
}

bool PngReader::FencedReadPixels(uint8_t* samples, size_t row_bytes, uint32_t height) {
  if (setjmp(png_jmpbuf(png_)) != 0) return false;
  const int passes =
      png_get_interlace_type(png_, info_) == PNG_INTERLACE_NONE ? 1 : PNG_INTERLACE_ADAM7_PASSES;
  for (int pass = 0; pass < passes; ++pass) {
    for (uint32_t y = 0; y < height; ++y) {
      png_read_row(png_, samples + y * row_bytes, nullptr);
    }
  }
  png_read_end(png_, nullptr);
  return true;
}

Status PngReader::ReadPixels(SourceImage* image) {
  const size_t row_bytes = png_get_rowbytes(png_, info_);
  SHARDMILL_CHECK(row_bytes * image->size.height == image->samples.size());
  if (!FencedReadPixels(image->samples.data(), row_bytes, image->size.height)) return Damaged();
  image->had_stray_bytes = !source_.left.empty();
  return OkStatus();
}

uint32_t BigEndian32(std::string_view bytes) {
  auto byte = [&](size_t i) { return uint32_t{static_cast<uint8_t>(bytes[i])}; };
  return byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
}

}  // namespace

Result<ImageSize> ProbePng(std::string_view file) {
  if (file.size() < kHeaderBytes || file.substr(12, 4) != "IHDR") {
    return DataLossError("damaged PNG: it has no header");
  }
  ImageSize size = {BigEndian32(file.substr(20)), BigEndian32(file.substr(16))};
  if (size.height == 0 || size.width == 0) return DataLossError("damaged PNG: its size is 0");
  return size;
}

Result<ImageSize> ProbePngFile(uint64_t file_bytes, const ReadPart& read) {
  constexpr uint64_t kSignatureBytes = 8, kLengthAndType = 8, kFrameBytes = 12;
  ASSIGN_OR_RETURN(const std::string header, read(0, kHeaderBytes));
  ASSIGN_OR_RETURN(const ImageSize stored, ProbePng(header));
  int orientation = 1;
  // A file that is cut has no upright size to speak of: decoding it fails.
  for (uint64_t chunk = kSignatureBytes; chunk + kFrameBytes <= file_bytes;) {
    ASSIGN_OR_RETURN(const std::string start, read(chunk, kLengthAndType));
    if (start.size() < kLengthAndType || start.substr(4) == "IEND") break;
    const uint64_t bytes = BigEndian32(start);
    if (bytes > file_bytes - chunk - kFrameBytes) break;
    if (start.substr(4) == "eXIf") {
      ASSIGN_OR_RETURN(const std::string exif, read(chunk + kLengthAndType, bytes));
      orientation = ExifOrientation(exif);
    }
    chunk += kFrameBytes + bytes;
  }
  return UprightSize(stored, orientation);
}

Status DecodePng(std::string_view file, uint64_t max_pixels, SourceImage* image) {
  RETURN_IF_ERROR(ProbePng(file).status());
  PngReader reader(file);
  RETURN_IF_ERROR(reader.ReadHeader(max_pixels, image));
  image->stored_bits = static_cast<uint8_t>(file[24]);  // of the header: the reader unpacks to 8
  image->was_cmyk = false;
  image->orientation = 1;
  return reader.ReadPixels(image);
}

}  // namespace shardmill
