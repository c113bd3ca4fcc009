// Image delivery: pixels to f32, (pixel - mean) / deviation of their channel, by vector code that
// is chosen at run time for the processor.
//
// Pixels are u8, u16 or f32, [H, W, C] as stored; any number of channels. The arithmetic is f32
// and the same on every instruction set: one subtraction and one multiplication by 1 / deviation.
// It keeps up with a memcpy of the output, in [C, H, W] for 1, 3 and 4 channels; other numbers of
// channels take up to twice as long there (tests/bench/normalize_bench).
// Immutable after Create; safe for concurrent use.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/base/status.h"
#include "reader/delivery.h"
#include "reader/schema.h"

namespace shardmill {

class ImageNormalizer {
 public:
  // `stored` is an image field, with one mean and one deviation per channel in the units of its
  // pixels; `delivery` one of the normalised ones. Else InvalidArgument. A deviation of 0 (a
  // channel of one value) counts as 1.
  static Result<ImageNormalizer> Create(const FieldSpec& stored, const std::vector<double>& mean,
                                        const std::vector<double>& deviation, Delivery delivery);

  // One record after delivery: f32, with height and width -1 where they vary.
  const FieldSpec& delivered() const { return delivered_; }

  // Normalises one record of `pixels` pixels. The ranges must not overlap; `out` is aligned for
  // float.
  void Normalize(const uint8_t* stored, uint64_t pixels, float* out) const;

 private:
  ImageNormalizer() = default;
  void MakePatterns(const std::vector<double>& mean, const std::vector<double>& deviation);

  FieldSpec delivered_;
  DType dtype_ = DType::kU8;
  bool is_planar_ = false;
  uint64_t channels_ = 1;
  uint64_t period_ = 1;  // values in a pattern of means or factors
  std::vector<float> mean_;
  std::vector<float> factor_;
};

}  // namespace shardmill
