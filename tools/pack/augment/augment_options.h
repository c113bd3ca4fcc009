// What augmentation may do to a record, and how strongly.
//
// Plain data and pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "reader/base/status.h"

namespace shardmill {

enum AugmentKind {
  kAugmentFlip,          // left and right exchanged, in every second record
  kAugmentFlipVertical,  // top and bottom likewise
  kAugmentCrop,          // the window anywhere in the image
  kAugmentScale,         // the largest factor; also its inverse
  kAugmentRotate,        // the largest angle in degrees, both ways
  kAugmentBrightness,    // the largest change, as a share of the full range
  kAugmentContrast,      // the largest change of the factor 1
  kAugmentSaturation,    // likewise
  kAugmentHue,           // the largest angle in degrees, both ways
  kAugmentNoise,         // the largest standard deviation, in levels of 0 … 255
  kAugmentBlur,          // the largest radius in pixels
  kAugmentCutout,        // the largest side of the hole, as a share of the window's
  kAugmentCount,
};

struct AugmentOptions {
  uint32_t copies = 0;  // augmented records beside each plain one
  // In thousandths; 0: this is not done. Those that have no strength are 0 or 1000.
  std::array<uint32_t, kAugmentCount> strength = {};

  bool Has(AugmentKind kind) const { return strength[kind] > 0; }
};

// "flip,scale=1.5,rotate": names, separated by commas, with strengths where the usual ones do not
// fit. InvalidArgument names what is wrong. Gives copies 0.
Result<AugmentOptions> ParseAugments(std::string_view text);
std::string FormatAugments(const AugmentOptions& options);  // ParseAugments gives it back
// "1.25" as 1250, and back. More than three digits behind the point are refused.
Result<uint32_t> ParseThousandths(std::string_view text);
std::string FormatThousandths(uint32_t value);

// What is done when nobody says what.
std::string_view UsualAugments();
// "scale=1.25 (1 to 2), …": for the help.
std::string DescribeAugments();

}  // namespace shardmill
