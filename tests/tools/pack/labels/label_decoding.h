// Label images made for the tests of the label decoder, and what it makes of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/tools/pack/image_files.h"
#include "tools/pack/decode/png_decode.h"
#include "tools/pack/labels/label_decode.h"

namespace shardmill {

inline std::vector<ClassInfo> Classes(const std::vector<uint32_t>& colors) {
  std::vector<ClassInfo> classes;
  for (uint32_t color : colors) {
    auto id = static_cast<uint32_t>(classes.size());
    classes.push_back({id, "class " + std::to_string(id), color});
  }
  return classes;
}

inline LabelDecoderOptions Options(const std::vector<ClassInfo>& classes, bool colors_in_files,
                                   std::optional<uint32_t> ignore, DType dtype) {
  LabelDecoderOptions options;
  options.classes = classes;
  options.rules.colors_in_files = colors_in_files;
  options.rules.ignore = ignore;
  options.dtype = dtype;
  return options;
}

inline SourceImage FromPng(const std::string& png) {
  SourceImage image;
  EXPECT_TRUE(DecodePng(png, 1 << 24, &image).ok());
  return image;
}

inline SourceImage GrayLabel(ImageSize size, const std::vector<int>& values) {
  return FromPng(Png(MakeImage(size, 1, [&](int y, int x, int) {
    return values[static_cast<size_t>(y) * size.width + static_cast<size_t>(x)];
  })));
}

inline SourceImage ColorLabel(ImageSize size, const std::vector<uint32_t>& colors) {
  return FromPng(Png(MakeImage(size, 3, [&](int y, int x, int c) {
    uint32_t color = colors[static_cast<size_t>(y) * size.width + static_cast<size_t>(x)];
    return static_cast<int>((color >> (16 - 8 * c)) & 255);
  })));
}

inline const std::vector<uint32_t> kThree = {0xFF0000, 0x00FF00, 0x0000FF};

// A label and what a decoder makes of it.
struct Decoded {
  Result<DecodedLabel> label = InternalError("not decoded");
  std::vector<uint16_t> ids;
  UnknownValues unknown;
};

inline Decoded DecodeWith(LabelDecoderOptions options, const SourceImage& image) {
  options.dtype = DType::kU16;
  Decoded decoded;
  ClassIdMap map;
  decoded.label = LabelDecoder(options).Decode(image, &map, &decoded.unknown);
  decoded.ids.resize(map.bytes.size() / 2);
  if (!map.bytes.empty()) std::memcpy(decoded.ids.data(), map.bytes.data(), map.bytes.size());
  return decoded;
}

using Ids = std::vector<uint16_t>;

}  // namespace shardmill
