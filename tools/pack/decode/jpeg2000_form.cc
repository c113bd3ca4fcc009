#include "tools/pack/decode/jpeg2000_form.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/pack/decode/jpeg2000_boxes.h"

namespace shardmill {
namespace {

constexpr int kUsualBits = 8;

struct ColorSpace {
  bool is_known = false;
  bool is_gray = false;
  std::string name;  // what it is, where it is neither RGB nor gray
};

Status NotRead(const std::string& what) {
  return DataLossError("this JPEG 2000 file has " + what + ": this form is not read; convert it");
}

// By number, or by the profile for which it stands.
ColorSpace ReadColorSpace(std::string_view colr) {
  constexpr uint64_t kByNumber = 1, kRgb = 16, kGray = 17, kYcc = 18;
  constexpr size_t kContent = 3, kProfileSpace = kContent + 16;
  ColorSpace space;
  if (colr.size() < kContent + 4) return space;
  space.is_known = true;
  if (BigEndian(colr.substr(0, 1)) == kByNumber) {
    const uint64_t number = BigEndian(colr.substr(kContent, 4));
    space.is_gray = number == kGray;
    if (number != kRgb && number != kGray) {
      space.name = number == kYcc
                       ? "YCbCr colours"
                       : "colours of space " + std::to_string(number) + ", neither RGB nor gray";
    }
    return space;
  }
  if (colr.size() < kProfileSpace + 4) return space;
  const std::string_view profile = colr.substr(kProfileSpace, 4);
  space.is_gray = profile == "GRAY";
  if (profile != "RGB " && !space.is_gray) space.name = "a profile of neither RGB nor gray";
  return space;
}

// The first of the header's colour spaces is the one that holds.
ColorSpace FindColorSpace(std::string_view header, bool* has_palette) {
  ColorSpace space;
  for (Jpeg2000Boxes boxes(header); boxes.Next();) {
    if (boxes.type() == "colr" && !space.is_known) space = ReadColorSpace(boxes.body());
    *has_palette |= boxes.type() == "pclr";
  }
  return space;
}

struct Components {
  uint64_t count = 0;
  int bits = kUsualBits;
};

// From the codestream's first segment, which stands at its beginning.
Result<Components> ReadComponents(std::string_view stream) {
  constexpr size_t kCount = 40, kFirst = 42, kBytes = 3;
  Components components;
  if (stream.substr(0, 4) != "\xff\x4f\xff\x51" || stream.size() < kFirst + kBytes) {
    return components;
  }
  components.count = BigEndian(stream.substr(kCount, 2));
  const uint64_t depth = BigEndian(stream.substr(kFirst, 1));
  for (uint64_t i = 0; i < components.count; ++i) {
    const size_t place = kFirst + i * kBytes;
    if (stream.size() < place + kBytes) return components;
    if (BigEndian(stream.substr(place, 1)) != depth) return NotRead("samples of several depths");
    if (BigEndian(stream.substr(place + 1, 2)) != 0x0101) {
      return NotRead("colours of a lower resolution");
    }
  }
  if ((depth & 0x80) != 0) return NotRead("samples with a sign");
  components.bits = static_cast<int>(depth) + 1;
  return components;
}

}  // namespace

Result<int> ReadJpeg2000Bits(std::string_view file) {
  constexpr int kMostBits = 16;
  ColorSpace space;
  Components components;
  bool has_palette = false;
  for (Jpeg2000Boxes boxes(file); boxes.Next();) {
    if (boxes.type() == "jp2h") space = FindColorSpace(boxes.body(), &has_palette);
    if (boxes.type() != "jp2c") continue;
    ASSIGN_OR_RETURN(components, ReadComponents(boxes.body()));
    break;
  }
  if (!space.name.empty()) return NotRead(space.name);
  if (has_palette) return NotRead("a palette");
  if (components.bits < kUsualBits || components.bits > kMostBits) {
    return NotRead("samples of " + std::to_string(components.bits) +
                   (components.bits == 1 ? " bit" : " bits"));
  }
  if (components.count == 2) return NotRead("gray with an alpha channel");
  if (space.is_gray && components.count > 2) {
    return NotRead("gray of " + std::to_string(components.count) + " components");
  }
  return components.bits;
}

}  // namespace shardmill
