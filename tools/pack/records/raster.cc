#include "tools/pack/records/raster.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "proto/manifest.pb.h"
#include "reader/statistics.h"
#include "tools/pack/decode/file_format.h"
#include "tools/pack/decode/tiff_image.h"
#include "tools/pack/decode/tiff_read.h"
#include "tools/pack/geometry/placement.h"
#include "tools/pack/inputs/text_lines.h"
#include "tools/pack/records/float_sums.h"

namespace shardmill {
namespace {

constexpr int kMaxBand = 1024;

struct OpenRaster {
  TiffHeader header;
  RasterForm form;
  std::vector<int> bands;  // from 0 on
  std::optional<double> no_data;
};

Result<OpenRaster> Open(std::string_view file, const BandOptions& options) {
  if (SniffFormat(file) != FileFormat::kTiff) {
    return DataLossError("--bands is for TIFF files, and this is " + DescribeContent(file));
  }
  OpenRaster raster;
  ASSIGN_OR_RETURN(raster.header, ReadTiffHeader(file));
  const TiffHeader& header = raster.header;
  const bool is_float = header.samples == TiffSamples::kFloat;
  if (header.colors == TiffColors::kPalette || header.colors == TiffColors::kInverseGray) {
    return DataLossError("a palette, or white that is 0, has no bands to store");
  }
  if (header.samples == TiffSamples::kSigned || (!is_float && header.bits == 32)) {
    return DataLossError(
        "bands of signed or 32-bit integers are not stored; convert them to 16 "
        "bits without a sign, or to floating point");
  }
  if (header.orientation != 1) return DataLossError("a raster that is to be turned is not read");
  raster.form.dtype = is_float ? DType::kF32 : header.bits > 8 ? DType::kU16 : DType::kU8;
  raster.no_data = options.no_data.has_value() ? options.no_data : header.no_data;
  for (int band : options.bands) {
    if (band > header.bands) {
      return DataLossError("there is no band " + std::to_string(band) + ", but " +
                           std::to_string(header.bands));
    }
    raster.bands.push_back(band - 1);
  }
  for (int band = 0; options.bands.empty() && band < header.bands; ++band) {
    raster.bands.push_back(band);
  }
  raster.form.bands = static_cast<int>(raster.bands.size());
  return raster;
}

template <typename T>
bool HoldsNoData(T value, std::optional<double> no_data) {
  const auto number = static_cast<double>(value);
  return !std::isfinite(number) || (no_data.has_value() && number == *no_data);
}

// Keeps the chosen bands, and finds pixels without data.
template <typename T>
void TakeBands(const std::vector<uint8_t>& all, const OpenRaster& open, Raster* raster) {
  const size_t pixels = raster->size.pixels(), bands = open.bands.size();
  const auto stored = static_cast<size_t>(open.header.bands);
  raster->samples.resize(pixels * bands * sizeof(T));
  raster->no_data.clear();
  // A float of the no-data value was rounded when it was stored.
  std::optional<double> no_data = open.no_data;
  if (no_data.has_value()) no_data = static_cast<double>(static_cast<float>(*no_data));
  if (sizeof(T) < sizeof(float)) no_data = open.no_data;
  for (size_t i = 0; i < pixels; ++i) {
    bool missing = false;
    uint8_t* out = &raster->samples[i * bands * sizeof(T)];
    for (size_t b = 0; b < bands; ++b) {
      T value;
      std::memcpy(&value, &all[(i * stored + static_cast<size_t>(open.bands[b])) * sizeof(T)],
                  sizeof value);
      missing |= HoldsNoData(value, no_data);
      std::memcpy(out + b * sizeof(T), &value, sizeof value);
    }
    if (!missing) continue;
    if (raster->no_data.empty()) raster->no_data.resize(pixels);
    raster->no_data[i] = 1;
    std::memset(out, 0, bands * sizeof(T));
  }
}

template <typename T>
void SumBands(const uint8_t* pixels, uint32_t width, size_t bands,
              const std::vector<PixelSpan>& rows, proto::Statistics* statistics) {
  std::vector<unsigned __int128> sum(bands), sum_sq(bands);
  for (size_t y = 0; y < rows.size(); ++y) {
    const uint8_t* row = pixels + (y * width + rows[y].begin) * bands * sizeof(T);
    for (uint32_t x = rows[y].begin; x < rows[y].end; ++x) {
      for (size_t b = 0; b < bands; ++b, row += sizeof(T)) {
        T value;
        std::memcpy(&value, row, sizeof value);
        sum[b] += value;
        sum_sq[b] += uint64_t{value} * value;
      }
    }
  }
  for (size_t b = 0; b < bands; ++b) {
    AddUInt128(static_cast<uint64_t>(sum[b]), static_cast<uint64_t>(sum[b] >> 64),
               statistics->add_channel_sum());
    AddUInt128(static_cast<uint64_t>(sum_sq[b]), static_cast<uint64_t>(sum_sq[b] >> 64),
               statistics->add_channel_sum_sq());
  }
}

}  // namespace

Result<std::vector<int>> ParseBands(std::string_view text) {
  std::vector<int> bands;
  if (text == "all") return bands;
  ASSIGN_OR_RETURN(const std::vector<std::string> fields, SplitFields(text, ','));
  for (const std::string& field : fields) {
    int band = 0;
    auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), band);
    if (error != std::errc() || end != field.data() + field.size() || band < 1 || band > kMaxBand) {
      return InvalidArgumentError("write all, or numbers of bands from 1 on, as in 4,3,2");
    }
    bands.push_back(band);
  }
  return bands;
}

std::string FormatBands(const std::vector<int>& bands) {
  std::string text;
  for (int band : bands) text += (text.empty() ? "" : ",") + std::to_string(band);
  return text.empty() ? "all" : text;
}

std::string DescribeRasterForm(const RasterForm& form) {
  return std::to_string(form.bands) + (form.bands == 1 ? " band of " : " bands of ") +
         std::string(DTypeName(form.dtype));
}

Result<RasterForm> ProbeRaster(std::string_view file, const BandOptions& options) {
  ASSIGN_OR_RETURN(const OpenRaster open, Open(file, options));
  return open.form;
}

Status ReadRaster(std::string_view file, const BandOptions& options, uint64_t max_pixels,
                  Raster* raster) {
  ASSIGN_OR_RETURN(const OpenRaster open, Open(file, options));
  ASSIGN_OR_RETURN(raster->size, TiffSize(open.header, max_pixels));
  raster->form = open.form;
  raster->had_broken_orientation = open.header.broken_orientation;
  std::vector<uint8_t> all;
  RETURN_IF_ERROR(ReadTiffSamples(file, open.header, &all));
  if (open.form.dtype == DType::kU8) {
    TakeBands<uint8_t>(all, open, raster);
  } else if (open.form.dtype == DType::kU16) {
    TakeBands<uint16_t>(all, open, raster);
  } else {
    TakeBands<float>(all, open, raster);
  }
  return OkStatus();
}

void CutRaster(const Raster& raster, const Placement& placement, std::vector<uint8_t>* out) {
  const uint64_t pixel = raster.form.PixelBytes();
  out->assign(placement.window.pixels() * pixel, 0);
  const Region shown = placement.Visible();
  for (uint32_t y = 0; y < shown.size.height; ++y) {
    const uint64_t from = uint64_t{shown.y + y} * raster.size.width + shown.x;
    const uint64_t to =
        uint64_t{placement.VisibleRow() + y} * placement.window.width + placement.VisibleColumn();
    std::memcpy(out->data() + to * pixel, raster.samples.data() + from * pixel,
                shown.size.width * pixel);
  }
}

Status IgnoreNoData(const Raster& raster, std::optional<uint32_t> ignore, ClassIdMap* labels) {
  if (raster.no_data.empty()) return OkStatus();
  if (!ignore.has_value()) {
    return InvalidArgumentError(
        "pixels without data need a label value for no class; give one "
        "with --ignore N");
  }
  const uint64_t bytes = DTypeBytes(labels->dtype);
  for (size_t i = 0; i < raster.no_data.size(); ++i) {
    if (raster.no_data[i] == 0) continue;
    labels->bytes[i * bytes] = static_cast<uint8_t>(*ignore);
    if (bytes == 2) labels->bytes[i * 2 + 1] = static_cast<uint8_t>(*ignore >> 8);
  }
  return OkStatus();
}

void MeasureRaster(const uint8_t* pixels, ImageSize size, const RasterForm& form,
                   const std::vector<PixelSpan>& rows, proto::Statistics* statistics) {
  uint64_t shown = 0;
  for (const PixelSpan& row : rows) shown += row.end - row.begin;
  const auto bands = static_cast<size_t>(form.bands);
  if (form.dtype == DType::kU8) SumBands<uint8_t>(pixels, size.width, bands, rows, statistics);
  if (form.dtype == DType::kU16) SumBands<uint16_t>(pixels, size.width, bands, rows, statistics);
  if (form.dtype == DType::kF32) AddFloatSums(pixels, size.width, bands, rows, statistics);
  statistics->set_image_pixels(shown);
}

}  // namespace shardmill
