// Undoes PNG's row filters.
//
// Two versions with the same results: a plain one, which is the reference of the tests, and a
// vectorised one that picks the processor's instruction set when it first runs. Stateless; safe
// for concurrent use.
#pragma once

#include <cstdint>

#include "reader/base/status.h"

namespace shardmill {

// What the zlib stream of a PNG without interlace unpacks to.
struct PngFilteredRows {
  const uint8_t* bytes = nullptr;  // rows of one filter byte and row_bytes bytes, from the top
  int64_t rows = 0;
  int64_t row_bytes = 0;
  int pixel_bytes = 1;  // 1 (also for less than a byte), 2, 3, 4, 6 or 8; divides row_bytes
  // The finished row above the first, with kPngUnfilterSlack readable bytes behind it; null: zeros.
  const uint8_t* above = nullptr;

  const uint8_t* Row(int64_t row) const { return bytes + row * (row_bytes + 1); }
};

// DataLoss when a row has a filter that the format does not know.
Status CheckPngFilters(const PngFilteredRows& rows);

// Writes rows × row_bytes bytes to `pixels`, the fastest way this processor can. Requires
// CheckPngFilters() to be OK, and kPngUnfilterSlack readable bytes behind the last filtered row.
void UnfilterPng(const PngFilteredRows& rows, uint8_t* pixels);
inline constexpr int kPngUnfilterSlack = 16;

// The same for the upper part of an image: leaves out the last rows where they are done faster
// together with those below. Returns how many rows were done, at least one.
int64_t UnfilterPngPart(const PngFilteredRows& rows, uint8_t* pixels);

// The same, one byte after the other.
void UnfilterPngPlainly(const PngFilteredRows& rows, uint8_t* pixels);

}  // namespace shardmill
