#include "reader/codec.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "reader/base/checksum.h"
#include "reader/jpeg_codec.h"

namespace shardmill {
namespace {

Status WrongSize(const FieldSpec& spec, uint64_t bytes, uint64_t expected) {
  return DataLossError("field " + spec.name + " decodes to " + std::to_string(bytes) +
                       " bytes, not " + std::to_string(expected));
}

Status UnknownCodec(const FieldSpec& spec) {
  return InternalError("field " + spec.name + " has an unknown codec");
}

Status CheckTensorSize(const FieldSpec& spec, uint64_t bytes,
                       const std::vector<uint32_t>& variable_dims) {
  ASSIGN_OR_RETURN(const uint64_t expected, spec.TensorBytes(variable_dims));
  if (bytes == expected) return OkStatus();
  return InvalidArgumentError("field " + spec.name + " has " + std::to_string(bytes) +
                              " bytes, its shape needs " + std::to_string(expected));
}

// The shape with its variable dimensions filled in. InvalidArgument when no JPEG can have it; the
// caller has checked how many variable dimensions there are.
Result<JpegShape> JpegShapeOf(const FieldSpec& spec, const std::vector<uint32_t>& variable_dims) {
  uint32_t dims[3] = {};
  size_t next = 0;
  if (spec.shape.size() != 3 || DTypeBytes(spec.dtype) != 1) {
    return InvalidArgumentError("field " + spec.name + " is no picture");
  }
  for (size_t i = 0; i < 3; ++i) {
    const bool varies = spec.shape[i] == kVariableDim;
    if (varies && next == variable_dims.size()) {
      return InvalidArgumentError("field " + spec.name + " lacks a variable dimension");
    }
    const int64_t dim = varies ? int64_t{variable_dims[next++]} : spec.shape[i];
    if (dim < 1 || dim > kMaxJpegSide) {
      return InvalidArgumentError("field " + spec.name + " has a side of " + std::to_string(dim) +
                                  ", which no JPEG has");
    }
    dims[i] = static_cast<uint32_t>(dim);
  }
  return JpegShape{dims[0], dims[1], dims[2]};
}

// For stored bytes: a shape that no JPEG has is damage there.
Result<JpegShape> StoredJpegShape(const FieldSpec& spec,
                                  const std::vector<uint32_t>& variable_dims) {
  Result<JpegShape> shape = JpegShapeOf(spec, variable_dims);
  return shape.ok() ? shape : DataLossError(shape.status().message());
}

Status DecodeJpegField(const FieldSpec& spec, const void* stored, uint64_t stored_bytes,
                       const std::vector<uint32_t>& variable_dims, void* tensor,
                       uint64_t tensor_bytes) {
  ASSIGN_OR_RETURN(const JpegShape shape, StoredJpegShape(spec, variable_dims));
  const uint64_t bytes = uint64_t{shape.height} * shape.width * shape.channels;
  if (bytes != tensor_bytes) return WrongSize(spec, bytes, tensor_bytes);
  return DecodeJpeg(stored, stored_bytes, shape, static_cast<uint8_t*>(tensor))
      .WithContext("field " + spec.name);
}

}  // namespace

EncodedField MakeEncodedField(std::string bytes, std::vector<uint32_t> variable_dims) {
  EncodedField field;
  field.checksum = Checksum64(bytes.data(), bytes.size());
  field.bytes = std::move(bytes);
  field.variable_dims = std::move(variable_dims);
  return field;
}

FieldEncoder::FieldEncoder(EncodeOptions options) : options_(options), zstd_(options.zstd_level) {}
FieldEncoder::~FieldEncoder() = default;
FieldEncoder::FieldEncoder(FieldEncoder&&) noexcept = default;
FieldEncoder& FieldEncoder::operator=(FieldEncoder&&) noexcept = default;

Result<EncodedField> FieldEncoder::Encode(const FieldSpec& spec, const void* tensor,
                                          uint64_t tensor_bytes,
                                          std::vector<uint32_t> variable_dims) {
  RETURN_IF_ERROR(CheckTensorSize(spec, tensor_bytes, variable_dims));
  std::string bytes;
  switch (spec.codec) {
    case Codec::kRaw:
      bytes.assign(static_cast<const char*>(tensor), tensor_bytes);
      break;
    case Codec::kZstd:
    case Codec::kZstdDictionary:
      RETURN_IF_ERROR(zstd_.Compress(spec, tensor, tensor_bytes, &bytes));
      break;
    case Codec::kJpeg: {
      ASSIGN_OR_RETURN(const JpegShape shape, JpegShapeOf(spec, variable_dims));
      RETURN_IF_ERROR(
          EncodeJpeg(static_cast<const uint8_t*>(tensor), shape, options_.jpeg_quality, &bytes)
              .WithContext("field " + spec.name));
      break;
    }
  }
  return MakeEncodedField(std::move(bytes), std::move(variable_dims));
}

Result<EncodedField> FieldEncoder::EncodeOwned(const FieldSpec& spec, std::string tensor,
                                               std::vector<uint32_t> variable_dims) {
  if (spec.codec != Codec::kRaw) {
    return Encode(spec, tensor.data(), tensor.size(), std::move(variable_dims));
  }
  RETURN_IF_ERROR(CheckTensorSize(spec, tensor.size(), variable_dims));
  return MakeEncodedField(std::move(tensor), std::move(variable_dims));
}

uint64_t CodecStartBytes(const FieldSpec& spec, uint64_t stored_bytes) {
  if (spec.codec == Codec::kRaw) return 0;
  return spec.codec == Codec::kJpeg ? stored_bytes : std::min(stored_bytes, kZstdStartBytes);
}

Status CheckStart(const FieldSpec& spec, const std::vector<uint32_t>& variable_dims,
                  const void* start, uint64_t stored_bytes) {
  const Result<uint64_t> tensor_bytes = spec.TensorBytes(variable_dims);
  if (!tensor_bytes.ok()) return DataLossError(tensor_bytes.status().message());
  uint64_t decoded_bytes = stored_bytes;
  switch (spec.codec) {
    case Codec::kRaw:
      break;
    case Codec::kZstd:
    case Codec::kZstdDictionary: {
      ASSIGN_OR_RETURN(decoded_bytes,
                       ZstdContentBytes(spec, start, CodecStartBytes(spec, stored_bytes)));
      break;
    }
    case Codec::kJpeg: {
      ASSIGN_OR_RETURN(const JpegShape shape, StoredJpegShape(spec, variable_dims));
      return CheckJpegHeader(start, stored_bytes, shape);
    }
  }
  if (decoded_bytes == *tensor_bytes) return OkStatus();
  return DataLossError("the stored bytes are of a tensor of " + std::to_string(decoded_bytes) +
                       " bytes, the shape needs " + std::to_string(*tensor_bytes));
}

Status CheckDictionaries(const RecordSchema& schema) {
  for (const FieldSpec& field : schema.fields) {
    if (field.dictionary == nullptr) continue;
    RETURN_IF_ERROR(CheckZstdDictionary(*field.dictionary).WithContext("field " + field.name));
  }
  return OkStatus();
}

Status FieldDecoder::Decode(const FieldSpec& spec, const void* stored, uint64_t stored_bytes,
                            void* tensor, uint64_t tensor_bytes,
                            const std::vector<uint32_t>& variable_dims) {
  switch (spec.codec) {
    case Codec::kRaw:
      if (stored_bytes != tensor_bytes) return WrongSize(spec, stored_bytes, tensor_bytes);
      if (tensor_bytes > 0) std::memcpy(tensor, stored, tensor_bytes);
      return OkStatus();
    case Codec::kZstd:
    case Codec::kZstdDictionary:
      return zstd_.Decompress(spec, stored, stored_bytes, tensor, tensor_bytes);
    case Codec::kJpeg:
      return DecodeJpegField(spec, stored, stored_bytes, variable_dims, tensor, tensor_bytes);
  }
  return UnknownCodec(spec);
}

}  // namespace shardmill
