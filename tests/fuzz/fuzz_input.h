// Takes numbers and bytes from the front of a fuzzer's input; zeros when it is used up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace shardmill {

class FuzzInput {
 public:
  FuzzInput(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  bool empty() const { return size_ == 0; }

  template <typename Number>
  Number Take() {
    Number number = 0;
    const size_t bytes = std::min(size_, sizeof number);
    if (bytes > 0) std::memcpy(&number, data_, bytes);
    Skip(bytes);
    return number;
  }

  std::string TakeRest() {
    std::string rest(reinterpret_cast<const char*>(data_), size_);
    Skip(size_);
    return rest;
  }

 private:
  void Skip(size_t bytes) {
    data_ += bytes;
    size_ -= bytes;
  }
  const uint8_t* data_;
  size_t size_;
};

}  // namespace shardmill
