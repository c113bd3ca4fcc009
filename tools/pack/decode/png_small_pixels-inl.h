// Rows of PNG images with 1 or 2 bytes per pixel, and the two filters that need no left
// neighbour; compiled once per instruction set. `bytes` is the length of the row, and no byte
// outside it is touched.

#if defined(SHARDMILL_PNG_SMALL_PIXELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDMILL_PNG_SMALL_PIXELS_INL_H_
#undef SHARDMILL_PNG_SMALL_PIXELS_INL_H_
#else
#define SHARDMILL_PNG_SMALL_PIXELS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tools/pack/decode/png_filter_type.h"
#include "tools/pack/decode/png_predict-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardmill {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline void AddAbove(const uint8_t* filtered, const uint8_t* above, uint8_t* out, int64_t bytes) {
  const Bytes16 d;
  int64_t i = 0;
  for (; i + 16 <= bytes; i += 16) {
    hn::StoreU(hn::Add(hn::LoadU(d, filtered + i), hn::LoadU(d, above + i)), d, out + i);
  }
  for (; i < bytes; ++i) out[i] = static_cast<uint8_t>(filtered[i] + above[i]);
}

// Does a row of filter None or Up. False, and nothing done, for the other filters.
inline bool CopyOrAddAbove(int filter, const uint8_t* filtered, const uint8_t* above, uint8_t* out,
                           int64_t bytes) {
  if (filter == kPngNone) {
    std::memcpy(out, filtered, bytes);
  } else if (filter == kPngUp) {
    AddAbove(filtered, above, out, bytes);
  } else {
    return false;
  }
  return true;
}

// The pixel at `pixel`, in all places of a vector.
template <int kPixel>
Vector16 RepeatPixel(const uint8_t* pixel) {
  const Bytes16 d;
  if (kPixel == 1) return hn::Set(d, *pixel);
  uint16_t both;
  std::memcpy(&both, pixel, 2);
  return hn::BitCast(d, hn::Set(hn::FixedTag<uint16_t, 8>(), both));
}

// 16 bytes at `out`: each pixel is the sum of its filtered bytes and all pixels to its left.
template <int kPixel>
void AddLeft16(const uint8_t* filtered, uint8_t* out) {
  const Bytes16 d;
  Vector16 sums = hn::LoadU(d, filtered);
  if (kPixel == 1) sums = hn::Add(sums, hn::ShiftLeftBytes<1>(sums));
  sums = hn::Add(sums, hn::ShiftLeftBytes<2>(sums));
  sums = hn::Add(sums, hn::ShiftLeftBytes<4>(sums));
  sums = hn::Add(sums, hn::ShiftLeftBytes<8>(sums));
  hn::StoreU(hn::Add(sums, RepeatPixel<kPixel>(out - kPixel)), d, out);
}

template <int kPixel>
void UnfilterSub(const uint8_t* filtered, uint8_t* out, int64_t bytes) {
  std::memcpy(out, filtered, kPixel);
  int64_t i = kPixel;
  for (; i + 16 <= bytes; i += 16) AddLeft16<kPixel>(filtered + i, out + i);
  for (; i < bytes; ++i) out[i] = static_cast<uint8_t>(filtered[i] + out[i - kPixel]);
}

template <int kPixel>
void UnfilterAverage(const uint8_t* filtered, const uint8_t* above, uint8_t* out, int64_t bytes) {
  for (int64_t i = 0; i < kPixel; ++i) out[i] = static_cast<uint8_t>(filtered[i] + above[i] / 2);
  for (int64_t i = kPixel; i < bytes; ++i) {
    out[i] = static_cast<uint8_t>(filtered[i] + (out[i - kPixel] + above[i]) / 2);
  }
}

inline int PaethOf(int left, int up, int up_left) {
  const int toward_up = up - up_left;
  const int toward_left = left - up_left;
  const int to_left = std::max(toward_up, -toward_up);
  const int to_up = std::max(toward_left, -toward_left);
  const int to_up_left = std::max(toward_up + toward_left, -toward_up - toward_left);
  const int nearer = to_up <= to_up_left ? up : up_left;
  return to_left <= std::min(to_up, to_up_left) ? left : nearer;
}

template <int kPixel>
void PaethBytes(const uint8_t* filtered, const uint8_t* above, uint8_t* out, int64_t from,
                int64_t end) {
  for (int64_t i = from; i < end; ++i) {
    const int prediction = PaethOf(out[i - kPixel], above[i], above[i - kPixel]);
    out[i] = static_cast<uint8_t>(filtered[i] + prediction);
  }
}

// Where the row above does not change, Paeth predicts the left neighbour, whatever it is; there
// 16 bytes are done at once. Most of a label map is of that kind.
template <int kPixel>
void UnfilterPaeth(const uint8_t* filtered, const uint8_t* above, uint8_t* out, int64_t bytes) {
  const Bytes16 d;
  for (int64_t i = 0; i < kPixel; ++i) out[i] = static_cast<uint8_t>(filtered[i] + above[i]);
  int64_t i = kPixel;
  for (; i + 16 <= bytes; i += 16) {
    const auto same = hn::Eq(hn::LoadU(d, above + i), hn::LoadU(d, above + i - kPixel));
    if (hn::AllTrue(d, same)) {
      AddLeft16<kPixel>(filtered + i, out + i);
    } else {
      PaethBytes<kPixel>(filtered, above, out, i, i + 16);
    }
  }
  PaethBytes<kPixel>(filtered, above, out, i, bytes);
}

// Does a row of filter Sub, Average or Paeth; kPixel is 1 or 2 and divides `bytes`.
template <int kPixel>
void UnfilterSmallPixels(int filter, const uint8_t* filtered, const uint8_t* above, uint8_t* out,
                         int64_t bytes) {
  if (filter == kPngSub) return UnfilterSub<kPixel>(filtered, out, bytes);
  if (filter == kPngAverage) return UnfilterAverage<kPixel>(filtered, above, out, bytes);
  UnfilterPaeth<kPixel>(filtered, above, out, bytes);
}

}  // namespace HWY_NAMESPACE
}  // namespace shardmill
HWY_AFTER_NAMESPACE();

#endif  // SHARDMILL_PNG_SMALL_PIXELS_INL_H_
