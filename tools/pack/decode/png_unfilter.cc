#include "tools/pack/decode/png_unfilter.h"

#include <cstdlib>
#include <string>

#include "tools/pack/decode/png_filter_type.h"

namespace shardmill {
namespace {

int Predict(int filter, int left, int up, int up_left) {
  switch (filter) {
    case kPngSub:
      return left;
    case kPngUp:
      return up;
    case kPngAverage:
      return (left + up) / 2;
    case kPngPaeth: {
      const int to_left = std::abs(up - up_left);
      const int to_up = std::abs(left - up_left);
      const int to_up_left = std::abs(left + up - 2 * up_left);
      if (to_left <= to_up && to_left <= to_up_left) return left;
      return to_up <= to_up_left ? up : up_left;
    }
  }
  return 0;
}

}  // namespace

Status CheckPngFilters(const PngFilteredRows& rows) {
  for (int64_t row = 0; row < rows.rows; ++row) {
    const int filter = *rows.Row(row);
    if (filter >= kPngFilterTypes) {
      return DataLossError("row " + std::to_string(row) + " of the PNG has filter " +
                           std::to_string(filter) + ", which the format does not know");
    }
  }
  return OkStatus();
}

void UnfilterPngPlainly(const PngFilteredRows& rows, uint8_t* pixels) {
  for (int64_t row = 0; row < rows.rows; ++row) {
    const int filter = *rows.Row(row);
    const uint8_t* filtered = rows.Row(row) + 1;
    uint8_t* out = pixels + row * rows.row_bytes;
    const uint8_t* above = row > 0 ? out - rows.row_bytes : rows.above;
    for (int64_t i = 0; i < rows.row_bytes; ++i) {
      const bool first = i < rows.pixel_bytes;
      const int left = first ? 0 : out[i - rows.pixel_bytes];
      const int up = above == nullptr ? 0 : above[i];
      const int up_left = first || above == nullptr ? 0 : above[i - rows.pixel_bytes];
      out[i] = static_cast<uint8_t>(filtered[i] + Predict(filter, left, up, up_left));
    }
  }
}

}  // namespace shardmill
