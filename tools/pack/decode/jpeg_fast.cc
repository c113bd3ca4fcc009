#include "tools/pack/decode/jpeg_fast.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "reader/jpeg_session.h"
#include "tools/pack/decode/exif_orientation.h"
#include "tools/pack/decode/jpeg_ink.h"

namespace shardmill {
namespace {

// Columns that are decoded beside the window: chroma is interpolated from its neighbours, and at
// most every fourth column has a chroma sample.
constexpr int64_t kSideMargin = 8;

std::string SizeInWords(int64_t height, int64_t width) {
  return std::to_string(height) + " high × " + std::to_string(width) + " wide";
}

// Where the pixels of a file go. Trivial, so that libjpeg may jump past it.
struct Target {
  JpegWindow window;
  int64_t first_column = 0;  // of the rows that libjpeg gives, in the image
  bool decode_whole = false;
  bool whole_rows = false;  // they are the window's rows, and need no conversion
  bool ink = false;
  InkForm ink_form = InkForm::kAmount;
  int channels = 3;  // of `pixels`
  uint8_t* row = nullptr;
  uint8_t* pixels = nullptr;

  uint8_t* Row(int64_t y) const { return pixels + y * window.width * channels; }

  // One row of the window, from what libjpeg wrote to `row`.
  void Take(int64_t y) const {
    const int64_t skip = window.left - first_column;
    if (ink) {
      ConvertInkToRgb(row + 4 * skip, window.width, ink_form, Row(y));
    } else {
      std::memcpy(Row(y), row + channels * skip, window.width * channels);
    }
  }
};

// A progressive file may end before it has told the last bits of all frequencies. libjpeg then
// smooths over the blocks' borders, which it does right only when it decodes everything.
bool MustDecodeWhole(const jpeg_decompress_struct& decoder) {
  if (decoder.progressive_mode == FALSE || decoder.coef_bits == nullptr) return false;
  for (int component = 0; component < decoder.num_components; ++component) {
    for (int frequency = 0; frequency < DCTSIZE2; ++frequency) {
      if (decoder.coef_bits[component][frequency] != 0) return true;
    }
  }
  return false;
}

void CropColumns(j_decompress_ptr decoder, Target* target) {
  const int64_t width = decoder->output_width;
  const int64_t left = std::max<int64_t>(0, target->window.left - kSideMargin);
  const int64_t right = std::min(width, target->window.left + target->window.width + kSideMargin);
  // Scaled chroma of uncommon samplings comes out wrong behind libjpeg's crop of columns.
  const bool scaled = decoder->scale_denom != decoder->scale_num;
  if (!target->decode_whole && !scaled && (left > 0 || right < width)) {
    auto first = static_cast<JDIMENSION>(left);
    auto columns = static_cast<JDIMENSION>(right - left);
    jpeg_crop_scanline(decoder, &first, &columns);  // moves both outward to whole blocks
    target->first_column = first;
  }
  target->whole_rows = !target->ink && decoder->output_width == target->window.width;
}

// Goes on to row `end`, without pixels.
void SkipRows(j_decompress_ptr decoder, const Target& target, JDIMENSION end) {
  JSAMPROW unused = target.row;
  while (target.decode_whole && decoder->output_scanline < end) {
    jpeg_read_scanlines(decoder, &unused, 1);
  }
  if (decoder->output_scanline < end) jpeg_skip_scanlines(decoder, end - decoder->output_scanline);
}

void ReadWindow(j_decompress_ptr decoder, const Target& target) {
  const auto top = static_cast<JDIMENSION>(target.window.top);
  const auto end = static_cast<JDIMENSION>(target.window.top + target.window.height);
  SkipRows(decoder, target, top);
  while (decoder->output_scanline < end) {
    const int64_t y = decoder->output_scanline - top;
    JSAMPROW row = target.whole_rows ? target.Row(y) : target.row;
    if (jpeg_read_scanlines(decoder, &row, 1) == 1 && !target.whole_rows) target.Take(y);
  }
}

// Up to the end marker. Skipping past the bottom would not look at the data there at all.
void ReadRest(j_decompress_ptr decoder, const Target& target) {
  const JDIMENSION last = decoder->output_height - 1;
  SkipRows(decoder, target, last);
  JSAMPROW unused = target.row;
  if (decoder->output_scanline <= last) jpeg_read_scanlines(decoder, &unused, 1);
  jpeg_finish_decompress(decoder);
}

}  // namespace

JpegFastDecoder::JpegFastDecoder() = default;
JpegFastDecoder::~JpegFastDecoder() = default;
JpegFastDecoder::JpegFastDecoder(JpegFastDecoder&&) noexcept = default;
JpegFastDecoder& JpegFastDecoder::operator=(JpegFastDecoder&&) noexcept = default;

Status JpegFastDecoder::Open(std::string_view file, const JpegOptions& options) {
  session_ = std::make_unique<JpegSession>();
  pixels_read_ = false;
  Status status = session_->Start(file);
  if (status.ok()) status = ReadHeader(options);
  if (!status.ok()) session_.reset();
  return status;
}

Status JpegFastDecoder::ReadHeader(const JpegOptions& options) {
  j_decompress_ptr decoder = session_->decoder();
  header_ = JpegHeader();
  header_.height = decoder->image_height;
  header_.width = decoder->image_width;
  if (header_.height > options.max_pixels / header_.width) {
    return InvalidArgumentError("the JPEG is " + SizeInWords(header_.height, header_.width) +
                                ", more than the limit of " + std::to_string(options.max_pixels) +
                                " pixels");
  }
  const int components = decoder->num_components;
  if (components != 1 && components != 3 && components != 4) {
    return InvalidArgumentError("a JPEG of " + std::to_string(components) +
                                " colour components; 1, 3 and 4 can be read");
  }
  header_.channels = components == 1 ? 1 : 3;
  header_.was_cmyk = components == 4;
  header_.ink_inverted = header_.was_cmyk && decoder->saw_Adobe_marker != 0;
  header_.progressive = decoder->progressive_mode != 0;
  const ExifReading exif = ReadExif(session_->Exif());
  header_.orientation = exif.orientation;
  header_.broken_exif = exif.broken;
  decoder->out_color_space = components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_RGB : JCS_CMYK;
  decoder->scale_num = 1;
  decoder->scale_denom = static_cast<unsigned>(options.scale_denominator);
  RETURN_IF_ERROR(session_->Fenced([decoder] { jpeg_calc_output_dimensions(decoder); }));
  header_.output_height = decoder->output_height;
  header_.output_width = decoder->output_width;
  return OkStatus();
}

Status JpegFastDecoder::ReadPixels(const JpegWindow& window, uint8_t* pixels) {
  SHARDMILL_CHECK(session_ != nullptr && !pixels_read_);
  pixels_read_ = true;
  if (window.top < 0 || window.left < 0 || window.height < 1 || window.width < 1 ||
      window.height > header_.output_height - window.top ||
      window.width > header_.output_width - window.left) {
    return InvalidArgumentError("a window of " + SizeInWords(window.height, window.width) +
                                " at row " + std::to_string(window.top) + ", column " +
                                std::to_string(window.left) + " is not inside the JPEG of " +
                                SizeInWords(header_.output_height, header_.output_width));
  }
  j_decompress_ptr decoder = session_->decoder();
  Target target;
  target.window = window;
  target.ink = header_.was_cmyk;
  target.ink_form = header_.ink_inverted ? InkForm::kInverted : InkForm::kAmount;
  target.channels = header_.channels;
  target.row = row_.Reserve(header_.output_width * decoder->num_components);
  target.pixels = pixels;
  return session_->Fenced([decoder, &target] {
    jpeg_start_decompress(decoder);
    target.decode_whole = MustDecodeWhole(*decoder);
    CropColumns(decoder, &target);
    ReadWindow(decoder, target);
    ReadRest(decoder, target);
  });
}

int64_t JpegFastDecoder::stray_bytes() const { return session_->stray_bytes(); }

}  // namespace shardmill
