// Rows of PNG images with 3, 4, 6 or 8 bytes per pixel; compiled once per instruction set.
//
// A pixel waits for the one to its left, which leaves the processor idle most of the time. So a
// group of rows is done at once, along a diagonal: each row runs two pixels behind the row above
// and never waits for it.

#if defined(SHARDMILL_PNG_LARGE_PIXELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDMILL_PNG_LARGE_PIXELS_INL_H_
#undef SHARDMILL_PNG_LARGE_PIXELS_INL_H_
#else
#define SHARDMILL_PNG_LARGE_PIXELS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tools/pack/decode/png_filter_type.h"
#include "tools/pack/decode/png_predict-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shardmill {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Some rows of equal width, one below the other.
struct RowGroup {
  const uint8_t* filtered;  // the first row's bytes, behind its filter byte
  ptrdiff_t filtered_stride;
  uint8_t* out;
  ptrdiff_t out_stride;
  const uint8_t* above;  // the row above the first
  int64_t width;         // pixels

  int Filter(int row) const { return filtered[row * filtered_stride - 1]; }
  RowGroup From(int64_t row) const {
    RowGroup rest = *this;
    rest.filtered += row * filtered_stride;
    rest.out += row * out_stride;
    if (row > 0) rest.above = rest.out - out_stride;
    return rest;
  }
};

// The bytes of a vector that one pixel of kPixel bytes takes.
template <int kPixel>
constexpr int kLaneBytes = kPixel <= 4 ? 4 : 8;

// Pixels [first, end) of the group's first row, one after the other.
template <int kPixel>
void UnfilterSpan(const RowGroup& row, int64_t first, int64_t end) {
  // Loading a lane reads up to two bytes behind a pixel: the next row's, or the slack.
  const hn::FixedTag<uint8_t, kLaneBytes<kPixel>> d;
  const auto masks = PngMasksOf(d, row.Filter(0));
  auto left = hn::Zero(d);
  auto up_left = hn::Zero(d);
  if (first > 0 && first < end) {
    left = hn::LoadU(d, row.out + (first - 1) * kPixel);
    up_left = hn::LoadU(d, row.above + (first - 1) * kPixel);
  }
  for (int64_t x = first; x < end; ++x) {
    const auto up = hn::LoadU(d, row.above + x * kPixel);
    left = Unfiltered<true>(hn::LoadU(d, row.filtered + x * kPixel), left, up, up_left, masks);
    up_left = up;
    uint8_t bytes[kLaneBytes<kPixel>];
    hn::StoreU(left, d, bytes);
    std::memcpy(row.out + x * kPixel, bytes, kPixel);
  }
}

// Vectors that hold one pixel of each row of a group.
template <int kLane>
struct Diagonal;

template <>
struct Diagonal<4> {
  static constexpr int kRows = 4;
  using Words = hn::FixedTag<uint32_t, 4>;

  // One lane from each row; reads 8 bytes of each.
  HWY_INLINE static Vector16 Load(const uint8_t* first, ptrdiff_t stride) {
    const hn::FixedTag<uint8_t, 8> d;
    const hn::FixedTag<uint32_t, 2> words;
    const auto load = [=](int row) {
      return hn::BitCast(words, hn::LoadU(d, first + row * stride));
    };
    const auto low = hn::InterleaveLower(words, load(0), load(1));
    const auto high = hn::InterleaveLower(words, load(2), load(3));
    return hn::BitCast(Bytes16(), hn::Combine(Words(), high, low));
  }

  HWY_INLINE static void Store(uint8_t* first, ptrdiff_t stride, Vector16 pixels) {
    const auto words = hn::BitCast(Words(), pixels);
    StoreLane<0>(words, first);
    StoreLane<1>(words, first + stride);
    StoreLane<2>(words, first + 2 * stride);
    StoreLane<3>(words, first + 3 * stride);
  }

  // Row r's pixel moves to row r + 1, the last row's to the first.
  HWY_INLINE static Vector16 MoveDown(Vector16 pixels) {
    return hn::BitCast(Bytes16(), hn::Shuffle2103(hn::BitCast(Words(), pixels)));
  }

 private:
  template <int kIndex>
  HWY_INLINE static void StoreLane(hn::Vec<Words> words, uint8_t* to) {
    const uint32_t lane = hn::ExtractLane(words, kIndex);
    std::memcpy(to, &lane, 4);
  }
};

template <>
struct Diagonal<8> {
  static constexpr int kRows = 2;
  using Words = hn::FixedTag<uint64_t, 2>;

  HWY_INLINE static Vector16 Load(const uint8_t* first, ptrdiff_t stride) {
    const hn::FixedTag<uint8_t, 8> d;
    return hn::Combine(Bytes16(), hn::LoadU(d, first + stride), hn::LoadU(d, first));
  }

  HWY_INLINE static void Store(uint8_t* first, ptrdiff_t stride, Vector16 pixels) {
    const hn::FixedTag<uint8_t, 8> d;
    hn::StoreU(hn::LowerHalf(d, pixels), d, first);
    hn::StoreU(hn::UpperHalf(d, pixels), d, first + stride);
  }

  HWY_INLINE static Vector16 MoveDown(Vector16 pixels) {
    return hn::BitCast(Bytes16(), hn::Shuffle01(hn::BitCast(Words(), pixels)));
  }
};

// The vectorised middle of a group of rows.
template <int kPixel>
class DiagonalRun {
 public:
  using Lanes = Diagonal<kLaneBytes<kPixel>>;
  static constexpr int kRows = Lanes::kRows;
  static constexpr int kLag = 2;  // pixels by which a row is behind the row above
  // The first pixels of the first row, done before the run; each next row has kLag fewer.
  static constexpr int64_t kLead = kLag * (kRows - 1);

  explicit DiagonalRun(const RowGroup& rows) : rows_(rows) {
    alignas(16) uint8_t first_row[16] = {};
    std::memset(first_row, 0xff, kLaneBytes<kPixel>);
    first_row_ = hn::Load(Bytes16(), first_row);
    masks_ = PngMasksOf(Bytes16(), rows.Filter(kRows - 1));
    for (int row = kRows - 2; row >= 0; --row) {
      const auto one = PngMasksOf(Bytes16(), rows.Filter(row));
      masks_ = {PutFirst(masks_.left, one.left), PutFirst(masks_.up, one.up),
                PutFirst(masks_.up_left, one.up_left), PutFirst(masks_.average, one.average)};
    }
  }

  // Ends one pixel before the right edge, because storing a lane spills into the next pixel.
  template <bool kAverage>
  void Run() const {
    // Copies: the compiler must assume that storing pixels changes the members.
    const DiagonalRun run = *this;
    const RowGroup& rows = run.rows_;
    const Bytes16 d;
    const ptrdiff_t filtered_stride = rows.filtered_stride - kLag * kPixel;
    const ptrdiff_t out_stride = rows.out_stride - kLag * kPixel;
    const ptrdiff_t end = (rows.width - 1) * kPixel;
    Vector16 before_left = LastDone(kLag);
    Vector16 left = LastDone(1);
    Vector16 up_left = UpperLeft();
    for (ptrdiff_t at = kLead * kPixel; at < end; at += kPixel) {
      const Vector16 filtered = Lanes::Load(rows.filtered + at, filtered_stride);
      const Vector16 up = run.PutFirst(before_left, hn::LoadU(d, rows.above + at));
      before_left = left;
      left = Unfiltered<kAverage>(filtered, left, up, up_left, run.masks_);
      up_left = up;
      Lanes::Store(rows.out + at, out_stride, left);
    }
  }

 private:
  // Moves all rows' pixels one row down and puts the first lane of `first` on top.
  HWY_INLINE Vector16 PutFirst(Vector16 pixels, Vector16 first) const {
    return Choose(first_row_, first, Lanes::MoveDown(pixels));
  }

  // Each row's pixel `back` pixels to the left of the first diagonal, 0 outside the image.
  Vector16 LastDone(int back) const {
    Vector16 pixels = hn::Zero(Bytes16());
    for (int row = kRows - 1; row >= 0; --row) {
      const int64_t x = kLead - kLag * row - back;
      pixels = PutFirst(pixels, Pixel(rows_.From(row).out, x));
    }
    return pixels;
  }
  Vector16 UpperLeft() const {
    Vector16 pixels = hn::Zero(Bytes16());
    for (int row = kRows - 1; row >= 0; --row) {
      pixels = PutFirst(pixels, Pixel(rows_.From(row).above, kLead - kLag * row - 1));
    }
    return pixels;
  }
  static Vector16 Pixel(const uint8_t* row, int64_t x) {
    alignas(16) uint8_t lane[16] = {};
    if (x >= 0) std::memcpy(lane, row + x * kPixel, kPixel);
    return hn::Load(Bytes16(), lane);
  }

  RowGroup rows_;
  Vector16 first_row_;  // 0xff in the first row's lane
  PngMasks<Vector16> masks_;
};

// The first rows of `rows`, as many as a diagonal holds; false, and nothing done, when there are
// fewer than that, or the rows are too short.
template <int kPixel>
bool UnfilterDiagonally(const RowGroup& rows, int64_t count) {
  using Run = DiagonalRun<kPixel>;
  constexpr int64_t kMinWidth = Run::kLead + 8;  // also covers what vectors read behind a pixel
  if (count < Run::kRows || rows.width < kMinWidth) return false;
  bool average = false;
  for (int row = 0; row < Run::kRows; ++row) {
    average = average || rows.Filter(row) == kPngAverage;
    UnfilterSpan<kPixel>(rows.From(row), 0, Run::kLead - Run::kLag * row);
  }
  if (average) {
    Run(rows).template Run<true>();
  } else {
    Run(rows).template Run<false>();
  }
  for (int row = 0; row < Run::kRows; ++row) {
    UnfilterSpan<kPixel>(rows.From(row), rows.width - 1 - Run::kLag * row, rows.width);
  }
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace shardmill
HWY_AFTER_NAMESPACE();

#endif  // SHARDMILL_PNG_LARGE_PIXELS_INL_H_
