#include "tools/pack/geometry/geometry.h"

#include <algorithm>
#include <cstring>

#include "reader/base/status.h"

namespace shardmill {
namespace {

void CutBytes(const uint8_t* in, size_t pixel_bytes, const Placement& placement, uint8_t* out) {
  Region visible = placement.Visible();
  size_t in_row = placement.resized.width * pixel_bytes;
  size_t out_row = placement.window.width * pixel_bytes;
  const uint8_t* from = in + visible.y * in_row + visible.x * pixel_bytes;
  uint8_t* to = out + placement.VisibleRow() * out_row + placement.VisibleColumn() * pixel_bytes;
  for (uint32_t y = 0; y < visible.size.height; ++y, from += in_row, to += out_row) {
    std::memcpy(to, from, visible.size.width * pixel_bytes);
  }
}

template <typename Id>
void NearestLabels(const ClassIdMap& labels, ClassIdMap* out) {
  auto source = [](uint32_t position, uint32_t from, uint32_t to) {
    return static_cast<size_t>((2 * uint64_t{position} + 1) * from / (2 * uint64_t{to}));
  };
  std::vector<size_t> columns(out->size.width);
  for (uint32_t x = 0; x < out->size.width; ++x) {
    columns[x] = source(x, labels.size.width, out->size.width);
  }
  auto* to = reinterpret_cast<Id*>(out->bytes.data());
  for (uint32_t y = 0; y < out->size.height; ++y) {
    const Id* row = reinterpret_cast<const Id*>(labels.bytes.data()) +
                    source(y, labels.size.height, out->size.height) * labels.size.width;
    for (size_t column : columns) *to++ = row[column];
  }
}

}  // namespace

void ResizeLabels(const ClassIdMap& labels, ImageSize size, ClassIdMap* out) {
  out->size = size;
  out->dtype = labels.dtype;
  out->bytes.resize(size.pixels() * DTypeBytes(labels.dtype));
  if (labels.dtype == DType::kU8) {
    NearestLabels<uint8_t>(labels, out);
  } else {
    NearestLabels<uint16_t>(labels, out);
  }
}

void CutImage(const RgbImage& image, const Placement& placement, uint8_t pad_value,
              std::vector<uint8_t>* out) {
  SHARDMILL_CHECK(image.size == placement.resized);
  out->resize(placement.window.pixels() * image.pixel_bytes());
  // Of 16-bit samples both bytes: the same share of the full range.
  if (placement.IsPadded()) std::fill(out->begin(), out->end(), pad_value);
  CutBytes(image.pixels, image.pixel_bytes(), placement, out->data());
}

std::string CutWindow(const RgbImage& image, const Placement& placement) {
  SHARDMILL_CHECK(image.size == placement.resized && !placement.IsPadded());
  const size_t row = image.size.width * image.pixel_bytes();
  const size_t out_row = placement.window.width * image.pixel_bytes();
  const char* from = reinterpret_cast<const char*>(image.pixels) +
                     static_cast<size_t>(placement.y) * row +
                     static_cast<size_t>(placement.x) * image.pixel_bytes();
  std::string bytes;
  bytes.reserve(out_row * placement.window.height);
  for (uint32_t y = 0; y < placement.window.height; ++y, from += row) bytes.append(from, out_row);
  return bytes;
}

void CutLabels(const ClassIdMap& labels, const Placement& placement, uint32_t ignore,
               ClassIdMap* out) {
  SHARDMILL_CHECK(labels.size == placement.resized);
  const size_t id_bytes = DTypeBytes(labels.dtype);
  out->size = placement.window;
  out->dtype = labels.dtype;
  out->bytes.resize(placement.window.pixels() * id_bytes);
  if (placement.IsPadded()) {
    for (size_t i = 0, pixels = placement.window.pixels(); i < pixels; ++i) {
      std::memcpy(&out->bytes[i * id_bytes], &ignore, id_bytes);  // little-endian hosts only
    }
  }
  CutBytes(labels.bytes.data(), id_bytes, placement, out->bytes.data());
}

}  // namespace shardmill
