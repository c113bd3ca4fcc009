#include "tools/pack/geometry.h"

#include <algorithm>
#include <cstring>

#include "reader/base/checksum.h"
#include "reader/base/status.h"
#include "tools/random_stream.h"

namespace shardmill {
namespace {

// The offset of a window of `window` pixels in a side of `side` pixels.
int32_t Offset(CropMode mode, uint32_t side, uint32_t window, RandomStream* random) {
  int64_t room = int64_t{side} - int64_t{window};
  if (room > 0 && mode == CropMode::kRandom) {
    return static_cast<int32_t>(random->Below(static_cast<uint64_t>(room) + 1));
  }
  // Half the room, rounded down, also where it is negative.
  return static_cast<int32_t>(room >= 0 ? room / 2 : -((-room + 1) / 2));
}

// The piece of a side that a window shows: first pixel and count.
struct Span {
  uint32_t first = 0, count = 0;
};
Span VisibleSpan(uint32_t side, int32_t offset, uint32_t window) {
  int64_t first = std::max<int64_t>(0, offset);
  int64_t end = std::min<int64_t>(side, int64_t{offset} + window);
  if (end <= first) return {};
  return {static_cast<uint32_t>(first), static_cast<uint32_t>(end - first)};
}

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

bool IsPadded(const Placement& placement) { return placement.Visible().size != placement.window; }

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

Region Placement::Visible() const {
  Span rows = VisibleSpan(resized.height, y, window.height);
  Span columns = VisibleSpan(resized.width, x, window.width);
  if (rows.count == 0 || columns.count == 0) return {};
  return {rows.first, columns.first, {rows.count, columns.count}};
}

Placement Placement::Within(const Region& part) const {
  if (resized != source) return *this;  // then the part is the whole
  Placement within = *this;
  within.source = within.resized = part.size;
  within.y -= static_cast<int32_t>(part.y);
  within.x -= static_cast<int32_t>(part.x);
  return within;
}

Placement Place(const GeometryOptions& options, ImageSize source, std::string_view key) {
  Placement placement;
  placement.source = source;
  placement.resized = options.resize.value_or(source);
  placement.window = options.crop.value_or(placement.resized);
  if (!options.crop.has_value()) return placement;
  uint64_t seed = MixBits(Checksum64(key.data(), key.size()) ^ MixBits(options.seed + 1));
  RandomStream random(seed);
  placement.y =
      Offset(options.crop_mode, placement.resized.height, placement.window.height, &random);
  placement.x = Offset(options.crop_mode, placement.resized.width, placement.window.width, &random);
  if (options.crop_mode == CropMode::kRandom) placement.seed = seed;
  return placement;
}

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
  out->resize(placement.window.pixels() * 3);
  if (IsPadded(placement)) std::fill(out->begin(), out->end(), pad_value);
  CutBytes(image.pixels, 3, placement, out->data());
}

void CutLabels(const ClassIdMap& labels, const Placement& placement, uint32_t ignore,
               ClassIdMap* out) {
  SHARDMILL_CHECK(labels.size == placement.resized);
  const size_t id_bytes = DTypeBytes(labels.dtype);
  out->size = placement.window;
  out->dtype = labels.dtype;
  out->bytes.resize(placement.window.pixels() * id_bytes);
  if (IsPadded(placement)) {
    for (size_t i = 0, pixels = placement.window.pixels(); i < pixels; ++i) {
      std::memcpy(&out->bytes[i * id_bytes], &ignore, id_bytes);  // little-endian hosts only
    }
  }
  CutBytes(labels.bytes.data(), id_bytes, placement, out->bytes.data());
}

}  // namespace shardmill
