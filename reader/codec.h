// Field codecs: tensor bytes to stored bytes of one record and back.
//
// The contexts that zstd needs are kept from call to call: one encoder or decoder per thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"
#include "reader/zstd_codec.h"

namespace shardmill {

// One field of one record as it is stored.
struct EncodedField {
  std::string bytes;
  uint64_t checksum = 0;                // XXH3-64 of `bytes`
  std::vector<uint32_t> variable_dims;  // in the order of the -1 dimensions of the shape
};

// Fills in the checksum of bytes that are stored as they are.
EncodedField MakeEncodedField(std::string bytes, std::vector<uint32_t> variable_dims);

struct EncodeOptions {
  int zstd_level = kDefaultZstdLevel;
  int jpeg_quality = 90;
};

class FieldEncoder {
 public:
  explicit FieldEncoder(EncodeOptions options = {});
  ~FieldEncoder();
  FieldEncoder(FieldEncoder&&) noexcept;
  FieldEncoder& operator=(FieldEncoder&&) noexcept;

  // `tensor` holds spec.TensorBytes(variable_dims) bytes, else InvalidArgument.
  Result<EncodedField> Encode(const FieldSpec& spec, const void* tensor, uint64_t tensor_bytes,
                              std::vector<uint32_t> variable_dims = {});
  // The same for a tensor that the caller gives away: one that is stored raw is not copied.
  Result<EncodedField> EncodeOwned(const FieldSpec& spec, std::string tensor,
                                   std::vector<uint32_t> variable_dims = {});

 private:
  EncodeOptions options_;
  ZstdCompressor zstd_;
};

// How many of the first of `stored_bytes` stored bytes CheckStart() needs: few, but for JPEG all.
uint64_t CodecStartBytes(const FieldSpec& spec, uint64_t stored_bytes);

// DataLoss unless stored bytes that begin like `start`, CodecStartBytes() bytes, say that they
// decode to a tensor of this shape. Does not look at the coded data itself.
Status CheckStart(const FieldSpec& spec, const std::vector<uint32_t>& variable_dims,
                  const void* start, uint64_t stored_bytes);

// DataLoss when a field has a dictionary that zstd cannot read.
Status CheckDictionaries(const RecordSchema& schema);

class FieldDecoder {
 public:
  // Decodes `stored` into exactly `tensor_bytes` bytes at `tensor`. DataLoss when the stored bytes
  // are malformed or decode to another size or shape. Never reads or writes outside the two ranges.
  Status Decode(const FieldSpec& spec, const void* stored, uint64_t stored_bytes, void* tensor,
                uint64_t tensor_bytes, const std::vector<uint32_t>& variable_dims = {});

 private:
  ZstdDecompressor zstd_;
};

}  // namespace shardmill
