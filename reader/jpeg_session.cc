#include "reader/jpeg_session.h"

#include <jerror.h>

#include <cstring>

#include "reader/base/exception_status.h"

namespace shardmill {
namespace {

constexpr int kExifMarker = JPEG_APP0 + 1;
constexpr unsigned kLongestSegment = 0xffff;
constexpr std::string_view kExifPrefix("Exif\0\0", 6);
// A progressive file can have scans without end, each as long to decode as the image is large.
constexpr int kMaxScans = 500;

// Not damage: a kind of JPEG that this libjpeg does not decode.
bool IsUnsupported(int code) {
  switch (code) {
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_SOF_UNSUPPORTED:
      return true;
    default:
      return false;
  }
}

}  // namespace

JpegSession::JpegSession() {
  std::memset(&decoder_, 0, sizeof decoder_);
  std::memset(&progress_, 0, sizeof progress_);
  std::memset(&errors_, 0, sizeof errors_);
  decoder_.err = jpeg_std_error(&errors_.manager);
  errors_.manager.error_exit = OnError;
  errors_.manager.emit_message = OnMessage;
  progress_.progress_monitor = OnProgress;
}

Status JpegSession::Start(std::string_view file) {
  if (file.empty()) return DataLossError("the JPEG file is empty");
  return Fenced([&] {
    jpeg_create_decompress(&decoder_);
    decoder_.progress = &progress_;
    jpeg_mem_src(&decoder_, reinterpret_cast<const uint8_t*>(file.data()), file.size());
    jpeg_save_markers(&decoder_, kExifMarker, kLongestSegment);
    jpeg_read_header(&decoder_, TRUE);
  });
}

JpegSession::~JpegSession() { jpeg_destroy_decompress(&decoder_); }

void JpegSession::OnError(j_common_ptr decoder) {
  auto* errors = reinterpret_cast<Errors*>(decoder->err);
  errors->manager.format_message(decoder, errors->message);
  longjmp(errors->jump, 1);
}

void JpegSession::OnMessage(j_common_ptr decoder, int level) {
  if (level >= 0) return;  // a trace, no warning
  auto* errors = reinterpret_cast<Errors*>(decoder->err);
  if (errors->manager.msg_code != JWRN_EXTRANEOUS_DATA) OnError(decoder);
  errors->stray_bytes += errors->manager.msg_parm.i[0];
}

void JpegSession::OnProgress(j_common_ptr common) {
  auto* decoder = reinterpret_cast<j_decompress_ptr>(common);
  if (decoder->input_scan_number <= kMaxScans) return;
  auto* errors = reinterpret_cast<Errors*>(common->err);
  std::snprintf(errors->message, sizeof errors->message, "more than %d scans", kMaxScans);
  longjmp(errors->jump, 1);
}

Status JpegSession::Failure() const {
  if (errors_.manager.msg_code == JERR_OUT_OF_MEMORY) return OutOfMemoryError("libjpeg");
  if (IsUnsupported(errors_.manager.msg_code)) {
    return InvalidArgumentError(std::string("a kind of JPEG that cannot be read here: ") +
                                errors_.message);
  }
  return DataLossError(std::string("damaged JPEG: ") + errors_.message);
}

std::string_view JpegSession::Exif() const {
  for (const jpeg_marker_struct* marker = decoder_.marker_list; marker != nullptr;
       marker = marker->next) {
    const std::string_view segment(reinterpret_cast<const char*>(marker->data),
                                   marker->data_length);
    if (marker->marker == kExifMarker && segment.substr(0, kExifPrefix.size()) == kExifPrefix) {
      return segment.substr(kExifPrefix.size());
    }
  }
  return {};
}

int64_t JpegSession::stray_bytes() const {
  const int64_t behind =
      decoder_.src == nullptr ? 0 : static_cast<int64_t>(decoder_.src->bytes_in_buffer);
  return errors_.stray_bytes + behind;
}

}  // namespace shardmill
