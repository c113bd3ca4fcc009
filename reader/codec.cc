#include "reader/codec.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "reader/base/checksum.h"
#include "reader/base/little_endian.h"

namespace shardmill {
namespace {

struct FreeCompressor {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
struct FreeDecompressor {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

Status NoJpegYet(const FieldSpec& spec) {
  return InvalidArgumentError("field " + spec.name +
                              ": the jpeg codec is not supported by this build yet");
}

Status WrongSize(const FieldSpec& spec, uint64_t bytes, uint64_t expected) {
  return DataLossError("field " + spec.name + " decodes to " + std::to_string(bytes) +
                       " bytes, not " + std::to_string(expected));
}

Result<uint64_t> ZstdContentBytes(const FieldSpec& spec, const void* stored,
                                  uint64_t stored_bytes) {
  // zstd itself would pass over a skippable frame as if it were an empty one.
  if (stored_bytes < 4 || LoadU32(static_cast<const uint8_t*>(stored)) != ZSTD_MAGICNUMBER) {
    return DataLossError("field " + spec.name + " holds no zstd frame");
  }
  const unsigned long long content_bytes = ZSTD_getFrameContentSize(stored, stored_bytes);
  if (content_bytes == ZSTD_CONTENTSIZE_ERROR || content_bytes == ZSTD_CONTENTSIZE_UNKNOWN) {
    return DataLossError("field " + spec.name + " holds a zstd frame that does not say its size");
  }
  return uint64_t{content_bytes};
}

// One whole frame that says its own decoded size: what FORMAT.md allows.
Status CheckZstdFrame(const FieldSpec& spec, const void* stored, uint64_t stored_bytes,
                      uint64_t tensor_bytes) {
  ASSIGN_OR_RETURN(const uint64_t content_bytes, ZstdContentBytes(spec, stored, stored_bytes));
  if (content_bytes != tensor_bytes) return WrongSize(spec, content_bytes, tensor_bytes);
  const size_t frame_bytes = ZSTD_findFrameCompressedSize(stored, stored_bytes);
  if (ZSTD_isError(frame_bytes) || frame_bytes != stored_bytes) {
    return DataLossError("field " + spec.name + " does not hold exactly one zstd frame");
  }
  return OkStatus();
}

}  // namespace

struct FieldEncoder::Impl {
  EncodeOptions options;
  std::unique_ptr<ZSTD_CCtx, FreeCompressor> compressor;

  Status EncodeZstd(const FieldSpec& spec, const void* tensor, uint64_t tensor_bytes,
                    std::string* out);
};

Status FieldEncoder::Impl::EncodeZstd(const FieldSpec& spec, const void* tensor,
                                      uint64_t tensor_bytes, std::string* out) {
  if (compressor == nullptr) compressor.reset(ZSTD_createCCtx());
  if (compressor == nullptr) return InternalError("zstd: out of memory");
  // A level outside zstd's range is clamped by it. The frame carries its content size, which a
  // reader insists on, and no checksum, because the record has ours.
  ZSTD_CCtx_setParameter(compressor.get(), ZSTD_c_compressionLevel, options.zstd_level);
  ZSTD_CCtx_setParameter(compressor.get(), ZSTD_c_contentSizeFlag, 1);
  ZSTD_CCtx_setParameter(compressor.get(), ZSTD_c_checksumFlag, 0);
  out->resize(ZSTD_compressBound(tensor_bytes));
  const size_t written =
      ZSTD_compress2(compressor.get(), out->data(), out->size(), tensor, tensor_bytes);
  if (ZSTD_isError(written)) {
    return InternalError("field " + spec.name + ": zstd: " + ZSTD_getErrorName(written));
  }
  out->resize(written);
  out->shrink_to_fit();  // blocks of encoded records wait in memory
  return OkStatus();
}

FieldEncoder::FieldEncoder(EncodeOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
}
FieldEncoder::~FieldEncoder() = default;
FieldEncoder::FieldEncoder(FieldEncoder&&) noexcept = default;
FieldEncoder& FieldEncoder::operator=(FieldEncoder&&) noexcept = default;

Result<EncodedField> FieldEncoder::Encode(const FieldSpec& spec, const void* tensor,
                                          uint64_t tensor_bytes,
                                          std::vector<uint32_t> variable_dims) {
  ASSIGN_OR_RETURN(const uint64_t expected, spec.TensorBytes(variable_dims));
  if (tensor_bytes != expected) {
    return InvalidArgumentError("field " + spec.name + " has " + std::to_string(tensor_bytes) +
                                " bytes, its shape needs " + std::to_string(expected));
  }
  EncodedField field;
  switch (spec.codec) {
    case Codec::kRaw:
      field.bytes.assign(static_cast<const char*>(tensor), tensor_bytes);
      break;
    case Codec::kZstd:
      RETURN_IF_ERROR(impl_->EncodeZstd(spec, tensor, tensor_bytes, &field.bytes));
      break;
    case Codec::kJpeg:
      return NoJpegYet(spec);
  }
  field.checksum = Checksum64(field.bytes.data(), field.bytes.size());
  field.variable_dims = std::move(variable_dims);
  return field;
}

Result<uint64_t> DecodedBytes(const FieldSpec& spec, const void* stored, uint64_t stored_bytes) {
  switch (spec.codec) {
    case Codec::kRaw:
      return stored_bytes;
    case Codec::kZstd:
      return ZstdContentBytes(spec, stored, std::min(stored_bytes, kCodecStartBytes));
    case Codec::kJpeg:
      return NoJpegYet(spec);
  }
  return InternalError("field " + spec.name + " has an unknown codec");
}

struct FieldDecoder::Impl {
  std::unique_ptr<ZSTD_DCtx, FreeDecompressor> decompressor;

  Status DecodeZstd(const FieldSpec& spec, const void* stored, uint64_t stored_bytes, void* tensor,
                    uint64_t tensor_bytes);
};

Status FieldDecoder::Impl::DecodeZstd(const FieldSpec& spec, const void* stored,
                                      uint64_t stored_bytes, void* tensor, uint64_t tensor_bytes) {
  if (decompressor == nullptr) decompressor.reset(ZSTD_createDCtx());
  if (decompressor == nullptr) return InternalError("zstd: out of memory");
  RETURN_IF_ERROR(CheckZstdFrame(spec, stored, stored_bytes, tensor_bytes));
  const size_t written =
      ZSTD_decompressDCtx(decompressor.get(), tensor, tensor_bytes, stored, stored_bytes);
  if (ZSTD_isError(written)) {
    return DataLossError("field " + spec.name + ": zstd: " + ZSTD_getErrorName(written));
  }
  if (written != tensor_bytes) return WrongSize(spec, written, tensor_bytes);
  return OkStatus();
}

FieldDecoder::FieldDecoder() : impl_(std::make_unique<Impl>()) {}
FieldDecoder::~FieldDecoder() = default;
FieldDecoder::FieldDecoder(FieldDecoder&&) noexcept = default;
FieldDecoder& FieldDecoder::operator=(FieldDecoder&&) noexcept = default;

Status FieldDecoder::Decode(const FieldSpec& spec, const void* stored, uint64_t stored_bytes,
                            void* tensor, uint64_t tensor_bytes) {
  switch (spec.codec) {
    case Codec::kRaw:
      if (stored_bytes != tensor_bytes) return WrongSize(spec, stored_bytes, tensor_bytes);
      if (tensor_bytes > 0) std::memcpy(tensor, stored, tensor_bytes);
      return OkStatus();
    case Codec::kZstd:
      return impl_->DecodeZstd(spec, stored, stored_bytes, tensor, tensor_bytes);
    case Codec::kJpeg:
      return NoJpegYet(spec);
  }
  return InternalError("field " + spec.name + " has an unknown codec");
}

}  // namespace shardmill
