// Builds JPEG files for tests, and decodes them whole, as an oracle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shardmill {

enum class JpegColors { kGray, kYcc, kRgb, kCmyk, kYcck };

struct JpegSpec {
  int height = 1;
  int width = 1;
  JpegColors colors = JpegColors::kYcc;
  int horizontal = 2;  // sampling factors of the first component; the others have 1
  int vertical = 2;
  bool progressive = false;
  bool unrefined = false;  // progressive, and the scans with the last bits are missing
  bool arithmetic = false;
  bool adobe_marker = true;  // for CMYK and YCCK: without it, readers take the ink as amounts
  int restart_interval = 0;  // blocks groups; 0 for none
  int quality = 90;
  int orientation = 0;  // 0: no EXIF segment
};

int ChannelsOf(JpegColors colors);

// height × width × channels samples with sharp edges in every channel, smooth parts and noise.
std::vector<uint8_t> MakeJpegPixels(const JpegSpec& spec, uint32_t seed);

// The file that holds `pixels` (RGB, gray, or ink: 4 channels).
std::string BuildJpeg(const JpegSpec& spec, const std::vector<uint8_t>& pixels);

// Bytes between the last scan and the end marker.
std::string WithBytesBeforeTheEnd(const std::string& file, const std::string& bytes);

struct WholeJpeg {
  int height = 0;
  int width = 0;
  int channels = 0;
  std::vector<uint8_t> samples;
};

// By libjpeg's plain full decode, ink not converted; scale as JpegOptions::scale_denominator.
WholeJpeg DecodeWhole(const std::string& file, int scale_denominator);

}  // namespace shardmill
