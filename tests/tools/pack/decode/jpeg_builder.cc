#include "tests/tools/pack/decode/jpeg_builder.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
// jpeglib.h needs size_t and FILE declared before it.
#include <jpeglib.h>

#include <iterator>
#include <random>

#include "tests/tools/pack/decode/exif_builder.h"

namespace shardmill {
namespace {

J_COLOR_SPACE InputSpace(JpegColors colors) {
  if (colors == JpegColors::kGray) return JCS_GRAYSCALE;
  return ChannelsOf(colors) == 4 ? JCS_CMYK : JCS_RGB;
}

J_COLOR_SPACE StoredSpace(JpegColors colors) {
  switch (colors) {
    case JpegColors::kGray:
      return JCS_GRAYSCALE;
    case JpegColors::kYcc:
      return JCS_YCbCr;
    case JpegColors::kRgb:
      return JCS_RGB;
    case JpegColors::kCmyk:
      return JCS_CMYK;
    case JpegColors::kYcck:
      return JCS_YCCK;
  }
  return JCS_UNKNOWN;
}

// All first bits of three components, without the last one of DC and the last two of AC.
constexpr jpeg_scan_info kUnrefinedScans[] = {
    {3, {0, 1, 2}, 0, 0, 0, 1},
    {1, {0}, 1, 63, 0, 2},
    {1, {1}, 1, 63, 0, 2},
    {1, {2}, 1, 63, 0, 2},
};

void Configure(const JpegSpec& spec, j_compress_ptr encoder) {
  encoder->image_height = spec.height;
  encoder->image_width = spec.width;
  encoder->input_components = ChannelsOf(spec.colors);
  encoder->in_color_space = InputSpace(spec.colors);
  jpeg_set_defaults(encoder);
  jpeg_set_colorspace(encoder, StoredSpace(spec.colors));
  jpeg_set_quality(encoder, spec.quality, TRUE);
  encoder->comp_info[0].h_samp_factor = spec.horizontal;
  encoder->comp_info[0].v_samp_factor = spec.vertical;
  for (int i = 1; i < encoder->num_components; ++i) {
    encoder->comp_info[i].h_samp_factor = i == 3 ? spec.horizontal : 1;
    encoder->comp_info[i].v_samp_factor = i == 3 ? spec.vertical : 1;
  }
  if (spec.progressive) jpeg_simple_progression(encoder);
  if (spec.unrefined) {
    encoder->scan_info = kUnrefinedScans;
    encoder->num_scans = static_cast<int>(std::size(kUnrefinedScans));
  }
  encoder->arith_code = spec.arithmetic ? TRUE : FALSE;
  encoder->restart_interval = spec.restart_interval;
  if (ChannelsOf(spec.colors) == 4) encoder->write_Adobe_marker = spec.adobe_marker;
}

void WriteExif(int orientation, j_compress_ptr encoder) {
  const std::string segment = std::string("Exif\0\0", 6) + BuildExif(orientation, ByteOrder::kBig);
  jpeg_write_marker(encoder, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(segment.data()),
                    static_cast<unsigned>(segment.size()));
}

}  // namespace

int ChannelsOf(JpegColors colors) {
  if (colors == JpegColors::kGray) return 1;
  return colors == JpegColors::kCmyk || colors == JpegColors::kYcck ? 4 : 3;
}

std::vector<uint8_t> MakeJpegPixels(const JpegSpec& spec, uint32_t seed) {
  std::mt19937 random(seed);
  const int channels = ChannelsOf(spec.colors);
  std::vector<uint8_t> pixels;
  for (int y = 0; y < spec.height; ++y) {
    for (int x = 0; x < spec.width; ++x) {
      const int kind = (x / 11 + y / 7) % 3;
      for (int c = 0; c < channels; ++c) {
        const int flat = (x / 11 * 67 + y / 7 * 41 + c * 90) % 256;
        const int smooth = (x * (3 + c) + y * (5 - c)) % 256;
        const int noise = static_cast<int>(random() % 256);
        pixels.push_back(static_cast<uint8_t>(kind == 0 ? flat : kind == 1 ? smooth : noise));
      }
    }
  }
  return pixels;
}

// libjpeg's own handler ends the process on an error, which is right for a test's input.
std::string BuildJpeg(const JpegSpec& spec, const std::vector<uint8_t>& pixels) {
  jpeg_compress_struct encoder;
  jpeg_error_mgr errors;
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT: libjpeg's type
  jpeg_mem_dest(&encoder, &bytes, &size);
  Configure(spec, &encoder);
  jpeg_start_compress(&encoder, TRUE);
  if (spec.orientation > 0) WriteExif(spec.orientation, &encoder);
  const size_t row_bytes = static_cast<size_t>(spec.width) * ChannelsOf(spec.colors);
  for (int y = 0; y < spec.height; ++y) {
    JSAMPROW row = const_cast<JSAMPROW>(pixels.data() + y * row_bytes);
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  std::string file(reinterpret_cast<char*>(bytes), size);
  std::free(bytes);
  return file;
}

std::string WithBytesBeforeTheEnd(const std::string& file, const std::string& bytes) {
  return file.substr(0, file.size() - 2) + bytes + file.substr(file.size() - 2);
}

WholeJpeg DecodeWhole(const std::string& file, int scale_denominator) {
  jpeg_decompress_struct decoder;
  jpeg_error_mgr errors;
  decoder.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&decoder);
  jpeg_mem_src(&decoder, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&decoder, TRUE);
  if (decoder.num_components == 4) decoder.out_color_space = JCS_CMYK;
  decoder.scale_num = 1;
  decoder.scale_denom = scale_denominator;
  jpeg_start_decompress(&decoder);
  WholeJpeg image;
  image.height = static_cast<int>(decoder.output_height);
  image.width = static_cast<int>(decoder.output_width);
  image.channels = decoder.output_components;
  const size_t row_bytes = static_cast<size_t>(image.width) * image.channels;
  image.samples.resize(image.height * row_bytes);
  while (decoder.output_scanline < decoder.output_height) {
    JSAMPROW row = image.samples.data() + decoder.output_scanline * row_bytes;
    jpeg_read_scanlines(&decoder, &row, 1);
  }
  jpeg_finish_decompress(&decoder);
  jpeg_destroy_decompress(&decoder);
  return image;
}

}  // namespace shardmill
