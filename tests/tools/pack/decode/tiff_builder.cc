#include "tests/tools/pack/decode/tiff_builder.h"

#include <gtest/gtest.h>
#include <tiffio.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>

namespace shardmill {
namespace {

void PutSample(const TiffForm& form, double value, size_t place, std::vector<uint8_t>* row) {
  if (form.bits == 1) {
    if (value != 0) (*row)[place / 8] |= static_cast<uint8_t>(0x80 >> place % 8);
  } else if (form.bits == 8) {
    (*row)[place] = static_cast<uint8_t>(static_cast<int>(value));
  } else if (form.bits == 16) {
    const auto sample = static_cast<uint16_t>(static_cast<int>(value));
    std::memcpy(&(*row)[place * 2], &sample, sizeof sample);
  } else if (form.sample_format == 3) {
    const auto sample = static_cast<float>(value);
    std::memcpy(&(*row)[place * 4], &sample, sizeof sample);
  } else {
    const auto sample = static_cast<uint32_t>(value);
    std::memcpy(&(*row)[place * 4], &sample, sizeof sample);
  }
}

// Samples of the bands [first, first + bands) of one row from x = left on; 0 beyond the image.
std::vector<uint8_t> MakeRow(const TiffForm& form, TiffValues values, uint32_t y, uint32_t left,
                             uint32_t width, int first, int bands) {
  std::vector<uint8_t> row(
      (size_t{width} * static_cast<size_t>(bands) * static_cast<size_t>(form.bits) + 7) / 8);
  for (uint32_t x = 0; x < width && y < form.height && left + x < form.width; ++x) {
    for (int band = 0; band < bands; ++band) {
      PutSample(form, values(y, left + x, first + band),
                size_t{x} * static_cast<size_t>(bands) + static_cast<size_t>(band), &row);
    }
  }
  return row;
}

void SetTags(TIFF* tiff, const TiffForm& form) {
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, form.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, form.height);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, form.bands);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, form.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, form.sample_format);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, form.photometric);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG,
               form.separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION,
               form.jpeg      ? COMPRESSION_JPEG
               : form.deflate ? COMPRESSION_ADOBE_DEFLATE
                              : COMPRESSION_NONE);
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, form.orientation);
  if (form.subfile != 0) TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, form.subfile);
  if (!form.no_data.empty()) {
    static const TIFFFieldInfo field = {
        42113, -1, -1, TIFF_ASCII, FIELD_CUSTOM, true, false, const_cast<char*>("GDAL_NODATA")};
    EXPECT_EQ(TIFFMergeFieldInfo(tiff, &field, 1), 0);
    TIFFSetField(tiff, field.field_tag, form.no_data.c_str());
  }
  if (form.extra_sample >= 0) {
    const uint16_t kind = static_cast<uint16_t>(form.extra_sample);
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &kind);
  }
  if (!form.palette.empty()) {
    std::vector<uint16_t> levels[3];
    for (uint32_t color : form.palette) {
      for (int c = 0; c < 3; ++c) {
        levels[c].push_back(static_cast<uint16_t>((color >> (16 - 8 * c) & 255) * 257));
      }
    }
    TIFFSetField(tiff, TIFFTAG_COLORMAP, levels[0].data(), levels[1].data(), levels[2].data());
  }
}

void WriteTiles(TIFF* tiff, const TiffForm& form, TiffValues values) {
  TIFFSetField(tiff, TIFFTAG_TILEWIDTH, form.tile);
  TIFFSetField(tiff, TIFFTAG_TILELENGTH, form.tile);
  const int planes = form.separate ? form.bands : 1, bands = form.bands / planes;
  for (int plane = 0; plane < planes; ++plane) {
    for (uint32_t y = 0; y < form.height; y += form.tile) {
      for (uint32_t x = 0; x < form.width; x += form.tile) {
        std::vector<uint8_t> tile;
        for (uint32_t row = 0; row < form.tile; ++row) {
          const auto bytes = MakeRow(form, values, y + row, x, form.tile, plane * bands, bands);
          tile.insert(tile.end(), bytes.begin(), bytes.end());
        }
        EXPECT_GT(TIFFWriteTile(tiff, tile.data(), x, y, 0, static_cast<uint16_t>(plane)), 0);
      }
    }
  }
}

void WriteStrips(TIFF* tiff, const TiffForm& form, TiffValues values) {
  // The blocks of JPEG have 8 rows.
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, form.jpeg ? 8 : 3);
  const int planes = form.separate ? form.bands : 1, bands = form.bands / planes;
  for (int plane = 0; plane < planes; ++plane) {
    for (uint32_t y = 0; y < form.height; ++y) {
      auto row = MakeRow(form, values, y, 0, form.width, plane * bands, bands);
      EXPECT_EQ(TIFFWriteScanline(tiff, row.data(), y, static_cast<uint16_t>(plane)), 1);
    }
  }
}

}  // namespace

std::string WriteTiff(const std::vector<TiffForm>& pages, TiffValues values) {
  const std::string path = testing::TempDir() + "/built.tif";
  TIFF* tiff = TIFFOpen(path.c_str(), pages.front().big ? "w8" : "w");
  EXPECT_NE(tiff, nullptr);
  for (const TiffForm& form : pages) {
    SetTags(tiff, form);
    if (form.tile > 0) {
      WriteTiles(tiff, form, values);
    } else {
      WriteStrips(tiff, form, values);
    }
    EXPECT_EQ(TIFFWriteDirectory(tiff), 1);
  }
  TIFFClose(tiff);
  std::ifstream stream(path, std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(stream), {});
  ::unlink(path.c_str());
  return content;
}

}  // namespace shardmill
