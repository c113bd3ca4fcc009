#include "tools/pack/decode/png_unfilter.h"

#include <vector>

// The work is on 16 bytes at a time. AVX-512 adds nothing but slower comparisons to that, while
// AVX2's encoding halves the time: it needs fewer moves, and no upper halves of registers kept.
#define HWY_DISABLED_TARGETS (HWY_AVX3 | HWY_AVX3_DL)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tools/pack/decode/png_unfilter_vector.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_TARGET != HWY_SCALAR
#include "tools/pack/decode/png_large_pixels-inl.h"
#include "tools/pack/decode/png_small_pixels-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace shardmill {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
int64_t Unfilter(const PngFilteredRows& rows, bool, uint8_t* pixels) {
  UnfilterPngPlainly(rows, pixels);
  return rows.rows;
}
#else

// Returns how many rows were done: all of the last part of an image.
template <int kPixel>
int64_t UnfilterRows(const RowGroup& image, int64_t rows, bool is_last) {
  const int64_t bytes = image.width * kPixel;
  for (int64_t row = 0; row < rows; ++row) {
    const RowGroup here = image.From(row);
    if (CopyOrAddAbove(here.Filter(0), here.filtered, here.above, here.out, bytes)) continue;
    if constexpr (kPixel <= 2) {
      UnfilterSmallPixels<kPixel>(here.Filter(0), here.filtered, here.above, here.out, bytes);
    } else if (UnfilterDiagonally<kPixel>(here, rows - row)) {
      row += DiagonalRun<kPixel>::kRows - 1;
    } else if (!is_last && row > 0 && rows - row < DiagonalRun<kPixel>::kRows) {
      return row;
    } else {
      UnfilterSpan<kPixel>(here, 0, here.width);
    }
  }
  return rows;
}

int64_t Unfilter(const PngFilteredRows& rows, bool is_last, uint8_t* pixels) {
  std::vector<uint8_t> zeros;
  if (rows.above == nullptr) zeros.resize(rows.row_bytes + kPngUnfilterSlack);
  const RowGroup image = {rows.Row(0) + 1,
                          rows.row_bytes + 1,
                          pixels,
                          rows.row_bytes,
                          rows.above == nullptr ? zeros.data() : rows.above,
                          rows.row_bytes / rows.pixel_bytes};
  switch (rows.pixel_bytes) {
    case 1:
      return UnfilterRows<1>(image, rows.rows, is_last);
    case 2:
      return UnfilterRows<2>(image, rows.rows, is_last);
    case 3:
      return UnfilterRows<3>(image, rows.rows, is_last);
    case 4:
      return UnfilterRows<4>(image, rows.rows, is_last);
    case 6:
      return UnfilterRows<6>(image, rows.rows, is_last);
    default:
      return UnfilterRows<8>(image, rows.rows, is_last);
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace shardmill
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shardmill {

HWY_EXPORT(Unfilter);

void UnfilterPng(const PngFilteredRows& rows, uint8_t* pixels) {
  HWY_DYNAMIC_DISPATCH(Unfilter)(rows, true, pixels);
}

int64_t UnfilterPngPart(const PngFilteredRows& rows, uint8_t* pixels) {
  return HWY_DYNAMIC_DISPATCH(Unfilter)(rows, false, pixels);
}

}  // namespace shardmill
#endif
