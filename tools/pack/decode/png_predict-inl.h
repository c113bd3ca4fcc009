// PNG's predictors on vectors of bytes, compiled once per instruction set.
//
// Each part of a vector may belong to another row, and rows may have different filters, so the
// filter is chosen by masks and not by branches: Paeth with up = up-left = 0 predicts left, with
// left = up-left = 0 it predicts up, and with all three 0 it predicts 0. Only Average needs
// instructions of its own.

// Included once per instruction set, as Highway wants it: no `#pragma once`.
#if defined(SHARDMILL_PNG_PREDICT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SHARDMILL_PNG_PREDICT_INL_H_
#undef SHARDMILL_PNG_PREDICT_INL_H_
#else
#define SHARDMILL_PNG_PREDICT_INL_H_
#endif

#include <hwy/highway.h>

#include "tools/pack/decode/png_filter_type.h"

HWY_BEFORE_NAMESPACE();
namespace shardmill {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Bytes16 = hn::FixedTag<uint8_t, 16>;
using Vector16 = hn::Vec<Bytes16>;

// Which neighbours each byte sees: 0xff or 0.
template <class V>
struct PngMasks {
  V left;
  V up;
  V up_left;
  V average;
};

// The masks of one filter, everywhere.
template <class D>
PngMasks<hn::Vec<D>> PngMasksOf(D d, int filter) {
  const auto all_if = [d](bool condition) { return hn::Set(d, condition ? 0xff : 0); };
  const bool paeth = filter == kPngPaeth;
  return {all_if(paeth || filter == kPngSub), all_if(paeth || filter == kPngUp), all_if(paeth),
          all_if(filter == kPngAverage)};
}

// `yes` where the mask is 0xff, `no` where it is 0.
template <class V>
HWY_INLINE V Choose(V mask, V yes, V no) {
  return hn::IfVecThenElse(mask, yes, no);
}

template <class V>
HWY_INLINE V Equal(V a, V b) {
  return hn::VecFromMask(hn::DFromV<V>(), hn::Eq(a, b));
}

template <class V>
HWY_INLINE V AtMost(V a, V b) {
  return Equal(hn::Min(a, b), a);
}

// Paeth in bytes. Say that left and up, in order, are low <= high. If both lie above up_left, the
// prediction is high; if both lie below, low. If up_left lies between them, it is high where
// high - up_left is at least twice up_left - low, low in the opposite case, and up_left where
// neither distance is so much greater. With distances that stop at 0, one rule says all of that.
// Doubling may saturate: the two distances add up to at most 255, so the comparison stays right.
template <class V>
HWY_INLINE V PaethPredictor(V left, V up, V up_left) {
  const V low = hn::Min(left, up);
  const V high = hn::Max(left, up);
  const V to_high = hn::SaturatedSub(high, up_left);
  const V to_low = hn::SaturatedSub(up_left, low);
  const V high_wins = AtMost(hn::SaturatedAdd(to_low, to_low), to_high);
  const V low_wins = AtMost(hn::SaturatedAdd(to_high, to_high), to_low);
  return Choose(high_wins, high, Choose(low_wins, low, up_left));
}

// (left + up) / 2, rounded down.
template <class V>
HWY_INLINE V AveragePredictor(V left, V up) {
  const V odd = hn::And(hn::Xor(left, up), hn::Set(hn::DFromV<V>(), 1));
  return hn::Sub(hn::AverageRound(left, up), odd);
}

// The pixels whose filtered bytes are `filtered`. kAverage: whether any of them has that filter.
template <bool kAverage, class V>
HWY_INLINE V Unfiltered(V filtered, V left, V up, V up_left, const PngMasks<V>& masks) {
  V prediction = PaethPredictor(hn::And(left, masks.left), hn::And(up, masks.up),
                                hn::And(up_left, masks.up_left));
  if (kAverage) {
    prediction = hn::Or(prediction, hn::And(AveragePredictor(left, up), masks.average));
  }
  return hn::Add(filtered, prediction);
}

}  // namespace HWY_NAMESPACE
}  // namespace shardmill
HWY_AFTER_NAMESPACE();

#endif  // SHARDMILL_PNG_PREDICT_INL_H_
