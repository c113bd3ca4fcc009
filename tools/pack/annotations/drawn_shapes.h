// Areas of annotation files as rows of pixels, and a class map drawn from them.
//
// Free functions without state.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "tools/pack/decode/source_image.h"
#include "tools/pack/labels/label_decode.h"

namespace shardmill {

struct Point {
  double x = 0, y = 0;  // pixel (row y, column x) covers [x, x + 1) × [y, y + 1)
};

// Pixels [begin, end) of a row.
struct PixelRun {
  uint32_t row, begin, end;
};

struct DrawnShape {
  uint32_t id = 0;    // what its pixels become
  int64_t layer = 0;  // shapes of a higher layer lie above
  std::vector<PixelRun> runs;

  uint64_t Area() const;
};

// Coordinates of files are at most this large, however far outside the image they lie.
constexpr double kMaxCoordinate = 1e7;

// The pixels whose centre lies inside an odd number of the rings; what is outside the image is
// left out. InvalidArgument when a coordinate is no number or beyond kMaxCoordinate.
Result<std::vector<PixelRun>> FillRings(const std::vector<std::vector<Point>>& rings,
                                        ImageSize size);
// The pixels whose centre lies at most `radius` away.
Result<std::vector<PixelRun>> FillCircle(Point center, double radius, ImageSize size);
// The pixels of a mask of `mask_size` that are not 0, with its upper left corner at (top, left).
std::vector<PixelRun> RunsOfMask(const std::vector<uint8_t>& mask, ImageSize mask_size, int64_t top,
                                 int64_t left, ImageSize size);

// The lengths of runs of 0 and 1 in turn, as COCO's text form of masks codes them. InvalidArgument
// when the text is not of that form.
Result<std::vector<uint64_t>> ParseCocoCounts(std::string_view text);
enum class RunOrder { kRows, kColumns };
// A mask from runs of 0 and 1 in turn, the first of 0. InvalidArgument unless they cover the mask
// exactly.
Result<std::vector<uint8_t>> MaskOfCounts(const std::vector<uint64_t>& counts, ImageSize size,
                                          RunOrder order);

// Fills `map`, whose dtype is set, with `background` and draws the shapes from the lowest layer
// up, within a layer in their order.
void DrawShapes(std::vector<DrawnShape> shapes, uint32_t background, ImageSize size,
                ClassIdMap* map);

}  // namespace shardmill
