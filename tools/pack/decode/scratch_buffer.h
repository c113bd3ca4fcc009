// A byte buffer that decoders reuse from image to image.
//
// It only grows, and never fills what it hands out: zeroing half a megabyte per image costs more
// than its checksum. Move-only; not for concurrent use.
#pragma once

#include <cstdint>
#include <memory>

namespace shardmill {

class ScratchBuffer {
 public:
  // At least `bytes` bytes, followed by kSlackBytes that may be read and written, so that
  // vector code need not stop short of the end. The content is undefined; earlier pointers die.
  uint8_t* Reserve(uint64_t bytes) {
    if (bytes + kSlackBytes > capacity_) {
      capacity_ = 0;
      bytes_.reset();  // first, so that old and new never add up
      bytes_.reset(new uint8_t[bytes + kSlackBytes]);
      capacity_ = bytes + kSlackBytes;
    }
    return bytes_.get();
  }

  static constexpr uint64_t kSlackBytes = 64;

 private:
  std::unique_ptr<uint8_t[]> bytes_;
  uint64_t capacity_ = 0;
};

}  // namespace shardmill
