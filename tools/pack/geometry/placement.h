// Which windows of a source become records, and where they lie: sizes and positions, no pixels.
//
// A record shows a window of its source, which is resized first where that was asked for. Positions
// follow from the options, the size of the source and its key alone. Stateless.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "reader/console/units.h"
#include "tools/pack/augment/augment_options.h"
#include "tools/pack/augment/augmentation.h"
#include "tools/pack/decode/source_image.h"

namespace shardmill {

enum class CropMode {
  kCenter,
  kRandom,   // `variants` windows, each drawn uniformly
  kCorners,  // the four corners and the centre; windows that coincide are taken once
  kTile,     // a grid that covers the image, from its upper left corner on
};
std::string_view CropModeName(CropMode mode);

// The new size of an image.
struct ResizeRule {
  enum class Kind { kExact, kShortSide, kLongSide };
  Kind kind = Kind::kExact;
  ImageSize size;     // kExact
  uint32_t side = 0;  // else: of the short or the long side; the other one keeps the proportion

  // The other side is rounded to the nearest pixel and is at least 1.
  ImageSize Apply(ImageSize source) const;
};
// "352x480", "short=512" or "long=512".
Result<ResizeRule> ParseResize(std::string_view text);
std::string FormatResize(const ResizeRule& rule);

struct GeometryOptions {
  std::optional<ResizeRule> resize;
  std::optional<ImageSize> crop;
  CropMode crop_mode = CropMode::kCenter;
  uint32_t variants = 1;      // kRandom
  uint32_t tile_overlap = 0;  // kTile: pixels that neighbours share, less than the crop's sides
  AugmentOptions augment;
  // Windows of which a larger share is ignored or padding are drawn again, then left out.
  uint32_t max_ignore_permille = 1000;
  uint64_t seed = 0;  // of everything that is drawn

  // True when windows may lie elsewhere once they are drawn again.
  bool MayRedraw() const {
    return max_ignore_permille < 1000 && (crop_mode == CropMode::kRandom || augment.copies > 0);
  }
};

// The window of one record. `y` and `x` are negative where the window begins outside the image;
// what lies outside is padding.
struct Placement {
  ImageSize source;
  ImageSize resized;  // equals source without --resize
  int32_t y = 0, x = 0;
  ImageSize window;
  uint32_t variant = 0;  // 0, 1, … of the same source
  uint64_t seed = 0;     // of this record's random choices; 0 when there were none
  // With it `y` and `x` are those of the window before it was scaled and turned.
  std::optional<Augmentation> augmentation;

  // The part of the resized image that the window shows; its size is 0 × 0 when there is none.
  Region Visible() const;
  bool IsPadded() const { return Visible().size != window; }
  bool ShowsAll() const { return window == resized && y == 0 && x == 0; }
  // The same window, for an image that holds only `part` of the source: all that the window shows,
  // and the whole source when it will be resized.
  Placement Within(const Region& part) const;
  // The pixels of each row of the window that show the source; the others are padding.
  std::vector<PixelSpan> ShownRows() const;
  // Where the visible part begins in the window.
  uint32_t VisibleRow() const { return y < 0 ? static_cast<uint32_t>(-y) : 0; }
  uint32_t VisibleColumn() const { return x < 0 ? static_cast<uint32_t>(-x) : 0; }
};

// More records of one source than this are refused.
constexpr uint64_t kMaxRecordsPerSource = 65536;

// The key of a variant: "KEY" for variant 0, else "KEY#vN".
std::string VariantKey(std::string_view key, uint32_t variant);

// How many records PlaceRecords() gives for a source of this size.
uint64_t CountRecords(const GeometryOptions& options, ImageSize source);
// True when that number depends on the size of the source.
bool RecordsDependOnSize(const GeometryOptions& options);

// The records of a source, numbered as variants: its windows (tiles row by row), each followed by
// its augmented copies. A side of the crop that exceeds the image is centred, in every mode but
// kTile: the whole side is kept. DataLoss when there are too many.
Result<std::vector<Placement>> PlaceRecords(const GeometryOptions& options, ImageSize source,
                                            std::string_view key);

// The same record with everything that is drawn drawn anew; `attempt` counts from 1. Nothing
// changes where nothing is drawn.
Placement PlaceAgain(const GeometryOptions& options, const Placement& placement,
                     std::string_view key, uint32_t attempt);

// The smallest region that holds all that the windows show.
Region VisibleInAny(const std::vector<Placement>& placements);

}  // namespace shardmill
