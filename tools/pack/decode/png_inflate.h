// The zlib stream of a PNG file, unpacked by ISA-L.
//
// One object per thread: it keeps its tables and buffers from image to image.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/decode/scratch_buffer.h"

struct inflate_state;

namespace shardmill {

class PngInflater {
 public:
  PngInflater();
  ~PngInflater();
  PngInflater(PngInflater&&) noexcept;
  PngInflater& operator=(PngInflater&&) noexcept;

  // The most bytes that one stream may unpack to.
  static constexpr uint64_t kMaxBytes = 0xffff0000;

  // The stream that `pieces` (the bodies of the IDAT chunks) make up must unpack to exactly
  // `bytes` bytes and match its checksum, and nothing may follow it: DataLoss otherwise. The
  // result lives until the next call and has readable slack behind it. Requires bytes <= kMaxBytes.
  Result<const uint8_t*> Inflate(const std::vector<std::string_view>& pieces, uint64_t bytes);

 private:
  Result<std::string_view> Join(const std::vector<std::string_view>& pieces);

  std::unique_ptr<inflate_state> state_;
  ScratchBuffer packed_;  // the stream in one piece
  ScratchBuffer unpacked_;
};

}  // namespace shardmill
