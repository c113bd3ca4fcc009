// Field codecs: tensor bytes to stored bytes of one record and back.
//
// Stateless functions; the contexts that zstd needs are kept per thread by the caller.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"

namespace shardmill {

// One field of one record as it is stored.
struct EncodedField {
  std::string bytes;
  uint64_t checksum = 0;                // XXH3-64 of `bytes`
  std::vector<uint32_t> variable_dims;  // in the order of the -1 dimensions of the shape
};

struct EncodeOptions {
  int zstd_level = 3;
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

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The size that stored bytes say they decode to. Looks at no more than the first kCodecStartBytes
// of them, which are enough. DataLoss when they do not say it.
constexpr uint64_t kCodecStartBytes = 32;
Result<uint64_t> DecodedBytes(const FieldSpec& spec, const void* stored, uint64_t stored_bytes);

class FieldDecoder {
 public:
  FieldDecoder();
  ~FieldDecoder();
  FieldDecoder(FieldDecoder&&) noexcept;
  FieldDecoder& operator=(FieldDecoder&&) noexcept;

  // Decodes `stored` into exactly `tensor_bytes` bytes at `tensor`. DataLoss when the stored bytes
  // are malformed or decode to another size. Never reads or writes outside the two ranges.
  Status Decode(const FieldSpec& spec, const void* stored, uint64_t stored_bytes, void* tensor,
                uint64_t tensor_bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shardmill
