#include "tests/tools/pack/decode/exif_builder.h"

#include <algorithm>
#include <cstdint>

namespace shardmill {
namespace {

std::string Number(uint32_t value, int bytes, ByteOrder order) {
  std::string number;
  for (int i = 0; i < bytes; ++i) number += static_cast<char>(value >> 8 * i);
  if (order == ByteOrder::kBig) std::reverse(number.begin(), number.end());
  return number;
}

std::string ShortTag(int tag, int value, ByteOrder order) {
  return Number(tag, 2, order) + Number(3, 2, order) + Number(1, 4, order) +
         Number(value, 2, order) + std::string(2, '\0');
}

}  // namespace

std::string BuildExif(int orientation, ByteOrder order) {
  std::string exif = order == ByteOrder::kBig ? "MM" : "II";
  exif += Number(42, 2, order) + Number(8, 4, order) + Number(3, 2, order);
  exif += ShortTag(0x0100, 40, order) + ShortTag(0x0112, orientation, order);
  exif += ShortTag(0x0128, 2, order);
  return exif + Number(0, 4, order);
}

}  // namespace shardmill
