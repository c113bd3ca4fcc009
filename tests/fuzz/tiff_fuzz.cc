// A TIFF file: what its header promises is what its samples are, whatever their form.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/pack/decode/tiff_image.h"
#include "tools/pack/decode/tiff_read.h"

using namespace shardmill;  // NOLINT: a program of one function

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr uint64_t kMaxPixels = 1 << 16;
  const std::vector<char> exact(data, data + size);  // its end is guarded by the sanitizer
  const std::string_view file(exact.data(), exact.size());
  const Result<TiffHeader> header = ReadTiffHeader(file);
  if (!header.ok() || !TiffSize(*header, kMaxPixels).ok()) return 0;
  std::vector<uint8_t> samples;
  const uint64_t expected = uint64_t{header->height} * header->width *
                            static_cast<uint64_t>(header->bands * TiffSampleBytes(*header));
  const bool is_sound = ReadTiffSamples(file, *header, &samples).ok();
  SHARDMILL_CHECK(!is_sound || samples.size() == expected);
  SourceImage image;
  if (!DecodeTiffImage(file, *header, &image).ok()) return 0;
  SHARDMILL_CHECK(is_sound && image.samples.size() == expected);
  return 0;
}
