// Images of several bands, as satellites and microscopes make them: stored as they are, without
// conversion to RGB.
//
// Free functions without state, and plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"
#include "tools/pack/decode/source_image.h"
#include "tools/pack/labels/label_decode.h"

namespace shardmill {

namespace proto {
class Statistics;
}  // namespace proto

struct Placement;

// What is taken of a file.
struct BandOptions {
  std::vector<int> bands;         // counted from 1, in this order; empty: all
  std::optional<double> no_data;  // in place of the value that the file declares for "nothing here"
};

// "all", "4,3,2". InvalidArgument for anything else.
Result<std::vector<int>> ParseBands(std::string_view text);
std::string FormatBands(const std::vector<int>& bands);

// What the records of a set hold.
struct RasterForm {
  DType dtype = DType::kU8;  // kU8, kU16 or kF32
  int bands = 1;

  bool operator==(const RasterForm& other) const {
    return dtype == other.dtype && bands == other.bands;
  }
  uint64_t PixelBytes() const { return DTypeBytes(dtype) * static_cast<uint64_t>(bands); }
};
std::string DescribeRasterForm(const RasterForm& form);  // "5 bands of f32"

struct Raster {
  ImageSize size;
  RasterForm form;
  std::vector<uint8_t> samples;  // dense rows, bands interleaved; 0 where there is no data
  // One byte a pixel: 1 where a band has the no-data value, or is no finite number. Empty: nowhere.
  std::vector<uint8_t> no_data;
  bool had_broken_orientation = false;  // stored as if there were none
};

// DataLoss when the file is no TIFF, is damaged, lacks a band, or holds what is not stored: palette
// indices, signed or 32-bit integers, turned pictures. InvalidArgument for too many pixels.
Result<RasterForm> ProbeRaster(std::string_view file, const BandOptions& options);
Status ReadRaster(std::string_view file, const BandOptions& options, uint64_t max_pixels,
                  Raster* raster);

// Copies the window, with 0 where it lies outside.
void CutRaster(const Raster& raster, const Placement& placement, std::vector<uint8_t>* out);

// Makes pixels without data those of no class. InvalidArgument when there is no value for that.
Status IgnoreNoData(const Raster& raster, std::optional<uint32_t> ignore, ClassIdMap* labels);

// Sets the sums of the bands over the rows; those of floats as AddFloatSums does.
void MeasureRaster(const uint8_t* pixels, ImageSize size, const RasterForm& form,
                   const std::vector<PixelSpan>& rows, proto::Statistics* statistics);

}  // namespace shardmill
