// The boxes of JPEG 2000 files, one after the other.
#pragma once

#include <cstdint>
#include <string_view>

namespace shardmill {

inline uint64_t BigEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

// Of a file, or of a box that holds boxes. The last one may be cut.
class Jpeg2000Boxes {
 public:
  explicit Jpeg2000Boxes(std::string_view rest) : rest_(rest) {}

  // False behind the last one.
  bool Next() {
    constexpr uint64_t kFrame = 8, kLargeFrame = 16;
    if (rest_.size() < kFrame) return false;
    uint64_t bytes = BigEndian(rest_.substr(0, 4)), frame = kFrame;
    if (bytes == 1 && rest_.size() >= kLargeFrame) {
      bytes = BigEndian(rest_.substr(kFrame, 8));
      frame = kLargeFrame;
    }
    if (bytes < frame || bytes > rest_.size()) bytes = rest_.size();  // 0 says: to the end
    type_ = rest_.substr(4, 4);
    body_ = rest_.substr(frame, bytes - frame);
    rest_.remove_prefix(bytes);
    return true;
  }
  std::string_view type() const { return type_; }
  std::string_view body() const { return body_; }

 private:
  std::string_view rest_, type_, body_;
};

}  // namespace shardmill
