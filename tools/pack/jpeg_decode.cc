#include "tools/pack/jpeg_decode.h"

#include <cstddef>
#include <cstdio>
// jpeglib.h needs size_t and FILE declared before it.
#include <jerror.h>
#include <jpeglib.h>

#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

#include "tools/pack/decode/exif_orientation.h"

namespace shardmill {
namespace {

constexpr int kExifMarker = JPEG_APP0 + 1;
constexpr std::string_view kExifPrefix("Exif\0\0", 6);
constexpr unsigned kLongestSegment = 0xFFFF;
// A progressive file may hold scans without end, each as long to decode as the image is large.
constexpr int kMaxScans = 500;

// libjpeg's error state, with what our callbacks add. Errors leave by longjmp, past frames that
// must hold nothing to destroy.
struct ErrorState {
  jpeg_error_mgr manager;
  jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
  char warning[JMSG_LENGTH_MAX];  // the first that matters
  bool stray_bytes;
};

void OnError(j_common_ptr decoder) {
  auto* state = reinterpret_cast<ErrorState*>(decoder->err);
  state->manager.format_message(decoder, state->message);
  longjmp(state->jump, 1);
}

void OnMessage(j_common_ptr decoder, int level) {
  auto* state = reinterpret_cast<ErrorState*>(decoder->err);
  if (level >= 0) return;  // a trace
  if (state->manager.msg_code == JWRN_EXTRANEOUS_DATA) {
    state->stray_bytes = true;  // surplus bytes: every pixel was there
  } else if (state->warning[0] == '\0') {
    state->manager.format_message(decoder, state->warning);
  }
}

void OnProgress(j_common_ptr common) {
  auto* decoder = reinterpret_cast<j_decompress_ptr>(common);
  if (decoder->input_scan_number <= kMaxScans) return;
  auto* state = reinterpret_cast<ErrorState*>(common->err);
  std::snprintf(state->message, sizeof state->message, "more than %d scans", kMaxScans);
  longjmp(state->jump, 1);
}

class JpegReader {
 public:
  explicit JpegReader(std::string_view file) : file_(file) {
    std::memset(&decoder_, 0, sizeof decoder_);
    std::memset(&errors_, 0, sizeof errors_);
    std::memset(&progress_, 0, sizeof progress_);
    decoder_.err = jpeg_std_error(&errors_.manager);
    errors_.manager.error_exit = OnError;
    errors_.manager.emit_message = OnMessage;
    progress_.progress_monitor = OnProgress;
  }
  ~JpegReader() { jpeg_destroy_decompress(&decoder_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  Status ReadHeader();
  Status ReadPixels(uint64_t max_pixels, SourceImage* image);
  ImageSize size() const { return {decoder_.image_height, decoder_.image_width}; }
  int Orientation() const;

 private:
  bool FencedReadHeader();
  bool FencedReadPixels(uint8_t* samples, size_t row_bytes);
  Status CheckColors() const;
  void ConvertInk(const std::vector<uint8_t>& ink, SourceImage* image) const;
  Status Damaged(const char* reason) const {
    return DataLossError(std::string("damaged JPEG: ") + reason);
  }

  std::string_view file_;
  jpeg_decompress_struct decoder_;
  jpeg_progress_mgr progress_;
  ErrorState errors_;
};

bool JpegReader::FencedReadHeader() {
  if (setjmp(errors_.jump) != 0) return false;
  jpeg_create_decompress(&decoder_);
  decoder_.progress = &progress_;
  jpeg_mem_src(&decoder_, reinterpret_cast<const uint8_t*>(file_.data()), file_.size());
  jpeg_save_markers(&decoder_, kExifMarker, kLongestSegment);
  jpeg_read_header(&decoder_, TRUE);
  return true;
}

Status JpegReader::ReadHeader() {
  if (!FencedReadHeader()) return Damaged(errors_.message);
  if (errors_.warning[0] != '\0') return Damaged(errors_.warning);
  return OkStatus();
}

int JpegReader::Orientation() const {
  for (jpeg_saved_marker_ptr marker = decoder_.marker_list; marker != nullptr;
       marker = marker->next) {
    std::string_view segment(reinterpret_cast<const char*>(marker->data), marker->data_length);
    if (marker->marker != kExifMarker || segment.substr(0, kExifPrefix.size()) != kExifPrefix) {
      continue;
    }
    return ExifOrientation(segment.substr(kExifPrefix.size()));
  }
  return 1;
}

Status JpegReader::CheckColors() const {
  int channels = decoder_.num_components;
  if (channels == 1 || channels == 3 || channels == 4) return OkStatus();
  return DataLossError("JPEG with " + std::to_string(channels) +
                       " colour components; 1, 3 and 4 can be read");
}

bool JpegReader::FencedReadPixels(uint8_t* samples, size_t row_bytes) {
  if (setjmp(errors_.jump) != 0) return false;
  if (decoder_.num_components == 1) decoder_.out_color_space = JCS_GRAYSCALE;
  if (decoder_.num_components == 3) decoder_.out_color_space = JCS_RGB;
  if (decoder_.num_components == 4) decoder_.out_color_space = JCS_CMYK;
  jpeg_start_decompress(&decoder_);
  while (decoder_.output_scanline < decoder_.output_height) {
    JSAMPROW row = samples + decoder_.output_scanline * row_bytes;
    jpeg_read_scanlines(&decoder_, &row, 1);
  }
  jpeg_finish_decompress(&decoder_);
  return true;
}

// Files of Adobe's programs store ink as 255 minus its amount; others store the amount.
void JpegReader::ConvertInk(const std::vector<uint8_t>& ink, SourceImage* image) const {
  const bool inverted = decoder_.saw_Adobe_marker != 0;
  for (size_t i = 0, pixels = image->size.pixels(); i < pixels; ++i) {
    const uint8_t* cmyk = &ink[4 * i];
    uint32_t light = inverted ? cmyk[3] : 255u - cmyk[3];
    for (size_t c = 0; c < 3; ++c) {
      uint32_t value = inverted ? cmyk[c] : 255u - cmyk[c];
      image->samples[3 * i + c] = static_cast<uint8_t>((value * light + 127) / 255);
    }
  }
}

Status JpegReader::ReadPixels(uint64_t max_pixels, SourceImage* image) {
  if (size().pixels() > max_pixels) {
    return InvalidArgumentError(DescribeImageSize(size()) + " is more than --max-pixels " +
                                std::to_string(max_pixels));
  }
  RETURN_IF_ERROR(CheckColors());
  image->was_cmyk = decoder_.num_components == 4;
  AllocateSamples(size(), decoder_.num_components == 1 ? PixelLayout::kGray : PixelLayout::kRgb, 1,
                  image);
  std::vector<uint8_t> ink;
  if (image->was_cmyk) ink.resize(size().pixels() * 4);
  const size_t row_bytes = size_t{size().width} * static_cast<size_t>(decoder_.num_components);
  bool read = FencedReadPixels(image->was_cmyk ? ink.data() : image->samples.data(), row_bytes);
  if (!read) return Damaged(errors_.message);
  if (errors_.warning[0] != '\0') return Damaged(errors_.warning);
  if (image->was_cmyk) ConvertInk(ink, image);
  image->had_stray_bytes = errors_.stray_bytes || decoder_.src->bytes_in_buffer > 0;
  return OkStatus();
}

}  // namespace

Status DecodeJpeg(std::string_view file, uint64_t max_pixels, SourceImage* image) {
  JpegReader reader(file);
  RETURN_IF_ERROR(reader.ReadHeader());
  image->stored_bits = 8;
  image->palette.clear();
  image->has_transparency = false;
  image->orientation = reader.Orientation();
  return reader.ReadPixels(max_pixels, image);
}

Result<ImageSize> ProbeJpeg(std::string_view file) {
  JpegReader reader(file);
  RETURN_IF_ERROR(reader.ReadHeader());
  ImageSize size = reader.size();
  if (reader.Orientation() >= 5) std::swap(size.height, size.width);
  return size;
}

}  // namespace shardmill
