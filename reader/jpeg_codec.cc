#include "reader/jpeg_codec.h"

#include <jerror.h>

#include <cstring>
#include <string_view>

#include "reader/base/exception_status.h"
#include "reader/jpeg_session.h"

namespace shardmill {
namespace {

constexpr size_t kFirstOutputBytes = size_t{64} << 10;
constexpr int kFullColorQuality = 90;

std::string Words(const JpegShape& shape) {
  return std::to_string(shape.height) + " high × " + std::to_string(shape.width) + " wide × " +
         std::to_string(shape.channels);
}

// libjpeg's state of one file in the making. An error leaves by longjmp, past frames that must
// hold nothing to destroy.
class JpegWriter {
 public:
  explicit JpegWriter(std::string* out) {
    std::memset(&encoder_, 0, sizeof encoder_);
    encoder_.err = jpeg_std_error(&errors_.manager);
    errors_.manager.error_exit = OnError;
    output_.out = out;
    output_.manager.init_destination = StartOutput;
    output_.manager.empty_output_buffer = GrowOutput;
    output_.manager.term_destination = EndOutput;
  }
  ~JpegWriter() { jpeg_destroy_compress(&encoder_); }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  Status Write(const uint8_t* pixels, const JpegShape& shape, int quality) {
    if (setjmp(errors_.jump) != 0) {
      if (errors_.manager.msg_code == JERR_OUT_OF_MEMORY) return OutOfMemoryError("libjpeg");
      return InternalError(std::string("libjpeg: ") + errors_.message);
    }
    jpeg_create_compress(&encoder_);
    encoder_.dest = &output_.manager;
    Configure(shape, quality);
    jpeg_start_compress(&encoder_, TRUE);
    const size_t row_bytes = size_t{shape.width} * shape.channels;
    while (encoder_.next_scanline < shape.height) {
      auto* row = const_cast<uint8_t*>(pixels + encoder_.next_scanline * row_bytes);
      jpeg_write_scanlines(&encoder_, &row, 1);
    }
    jpeg_finish_compress(&encoder_);
    return OkStatus();
  }

 private:
  struct Errors {
    jpeg_error_mgr manager;  // first: libjpeg knows only this part
    jmp_buf jump;
    char message[JMSG_LENGTH_MAX];
  };
  struct Output {
    jpeg_destination_mgr manager;  // first, likewise
    std::string* out;
  };

  void Configure(const JpegShape& shape, int quality) {
    encoder_.image_height = shape.height;
    encoder_.image_width = shape.width;
    encoder_.input_components = static_cast<int>(shape.channels);
    encoder_.in_color_space = shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&encoder_);
    jpeg_set_quality(&encoder_, quality, TRUE);
    encoder_.optimize_coding = TRUE;
    const int sampling = shape.channels == 1 || quality >= kFullColorQuality ? 1 : 2;
    encoder_.comp_info[0].h_samp_factor = sampling;
    encoder_.comp_info[0].v_samp_factor = sampling;
  }

  static void OnError(j_common_ptr common) {
    auto* errors = reinterpret_cast<Errors*>(common->err);
    errors->manager.format_message(common, errors->message);
    longjmp(errors->jump, 1);
  }

  static Output* OutputOf(j_compress_ptr encoder) {
    return reinterpret_cast<Output*>(encoder->dest);
  }
  static void OfferRoom(Output* output, size_t used, size_t size) {
    output->out->resize(size);
    output->manager.next_output_byte = reinterpret_cast<uint8_t*>(output->out->data() + used);
    output->manager.free_in_buffer = size - used;
  }
  static void StartOutput(j_compress_ptr encoder) {
    OfferRoom(OutputOf(encoder), 0, kFirstOutputBytes);
  }
  // Called when all the room is used, whatever the numbers in the manager say.
  static boolean GrowOutput(j_compress_ptr encoder) {
    Output* output = OutputOf(encoder);
    OfferRoom(output, output->out->size(), 2 * output->out->size());
    return TRUE;
  }
  static void EndOutput(j_compress_ptr encoder) {
    Output* output = OutputOf(encoder);
    output->out->resize(output->out->size() - output->manager.free_in_buffer);
  }

  jpeg_compress_struct encoder_;
  Errors errors_;
  Output output_;
};

// Kinds of JPEG that libjpeg may be built without are damage here: no writer stores them.
Status AsDataLoss(const Status& status) {
  return status.code() == StatusCode::kInvalidArgument ? DataLossError(status.message()) : status;
}

// Reads the headers; nothing has been allocated for the pixels yet.
Status Open(const void* file, uint64_t bytes, const JpegShape& shape, JpegSession* session) {
  const std::string_view view(static_cast<const char*>(file), bytes);
  RETURN_IF_ERROR(AsDataLoss(session->Start(view)));
  const jpeg_decompress_struct& decoder = *session->decoder();
  const auto components = static_cast<uint32_t>(decoder.num_components);
  const bool same_colors = components == shape.channels || (components == 1 && shape.channels == 3);
  if (decoder.image_height != shape.height || decoder.image_width != shape.width || !same_colors) {
    return DataLossError("the JPEG is " +
                         Words({decoder.image_height, decoder.image_width, components}) +
                         ", the record " + Words(shape));
  }
  if (decoder.arith_code != FALSE || decoder.data_precision != 8) {
    return DataLossError("the JPEG is not Huffman coded, or not of 8 bits");
  }
  return OkStatus();
}

}  // namespace

Status EncodeJpeg(const uint8_t* pixels, const JpegShape& shape, int quality, std::string* out) {
  const bool fits = shape.height >= 1 && shape.height <= kMaxJpegSide && shape.width >= 1 &&
                    shape.width <= kMaxJpegSide && (shape.channels == 1 || shape.channels == 3);
  if (!fits || quality < 1 || quality > 100) {
    return InvalidArgumentError("no JPEG can be " + Words(shape) + " of quality " +
                                std::to_string(quality) + "; sides are 1 to " +
                                std::to_string(kMaxJpegSide));
  }
  RETURN_IF_ERROR(JpegWriter(out).Write(pixels, shape, quality));
  out->shrink_to_fit();  // blocks of encoded records wait in memory
  return OkStatus();
}

Status CheckJpegHeader(const void* file, uint64_t bytes, const JpegShape& shape) {
  JpegSession session;
  return Open(file, bytes, shape, &session);
}

Status DecodeJpeg(const void* file, uint64_t bytes, const JpegShape& shape, uint8_t* pixels) {
  JpegSession session;
  RETURN_IF_ERROR(Open(file, bytes, shape, &session));
  j_decompress_ptr decoder = session.decoder();
  const size_t row_bytes = size_t{shape.width} * shape.channels;
  return AsDataLoss(session.Fenced([&] {
    decoder->out_color_space = shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    // Stated, not left to the library's defaults: these two decide the values of pixels.
    decoder->dct_method = JDCT_ISLOW;
    decoder->do_fancy_upsampling = TRUE;
    jpeg_start_decompress(decoder);
    while (decoder->output_scanline < shape.height) {
      JSAMPROW row = pixels + decoder->output_scanline * row_bytes;
      jpeg_read_scanlines(decoder, &row, 1);
    }
    jpeg_finish_decompress(decoder);
  }));
}

}  // namespace shardmill
