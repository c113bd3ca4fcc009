// zstd frames as stored bytes, with and without a dictionary.
//
// Contexts and digested dictionaries are kept from call to call: one object per thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "reader/base/status.h"
#include "reader/schema.h"

namespace shardmill {

constexpr int kMinZstdLevel = 1;
constexpr int kMaxZstdLevel = 22;
constexpr int kDefaultZstdLevel = 3;

// A frame says its content size within so many bytes.
constexpr uint64_t kZstdStartBytes = 18;

// The content size that a frame says, from its first kZstdStartBytes bytes; DataLoss when it says
// none, or is of another dictionary than the field's.
Result<uint64_t> ZstdContentBytes(const FieldSpec& spec, const void* start, uint64_t bytes);

// DataLoss when zstd cannot make anything of the dictionary.
Status CheckZstdDictionary(const ZstdDictionary& dictionary);

class ZstdCompressor {
 public:
  explicit ZstdCompressor(int level);
  ~ZstdCompressor();
  ZstdCompressor(ZstdCompressor&&) noexcept;
  ZstdCompressor& operator=(ZstdCompressor&&) noexcept;

  Status Compress(const FieldSpec& spec, const void* tensor, uint64_t bytes, std::string* out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class ZstdDecompressor {
 public:
  ZstdDecompressor();
  ~ZstdDecompressor();
  ZstdDecompressor(ZstdDecompressor&&) noexcept;
  ZstdDecompressor& operator=(ZstdDecompressor&&) noexcept;

  // DataLoss unless `stored` is exactly one frame of `tensor_bytes` bytes that says its size.
  Status Decompress(const FieldSpec& spec, const void* stored, uint64_t stored_bytes, void* tensor,
                    uint64_t tensor_bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shardmill
