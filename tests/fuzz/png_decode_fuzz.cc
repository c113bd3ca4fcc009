// The packer's PNG decoder over any file: nothing outside the announced pixels is written, and no
// checksum keeps the fuzzer out. The first byte of the input says what the rest is: a whole file;
// the chunks of one, whose checksums are made right; or the zlib stream's content of a small
// picture, whose kind the next bytes choose.
#include <isa-l/crc.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_input.h"
#include "tests/tools/pack/decode/png_builder.h"
#include "tools/pack/decode/png_fast.h"

using namespace shardmill;  // NOLINT: a program of a few functions

namespace {

constexpr int64_t kMaxPixels = 1 << 20;

// Follows the lengths as far as they fit, and writes the right checksum behind each chunk.
std::string WithRightChecksums(std::string file) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(file[i]); };
  size_t at = 8;
  while (at + 12 <= file.size()) {
    const size_t length = size_t{byte(at)} << 24 | size_t{byte(at + 1)} << 16 |
                          size_t{byte(at + 2)} << 8 | byte(at + 3);
    if (length > file.size() - at - 12) break;
    const auto* checked = reinterpret_cast<const unsigned char*>(file.data()) + at + 4;
    const uint32_t checksum = crc32_gzip_refl(0, checked, length + 4);
    for (int i = 0; i < 4; ++i) {
      file[at + 8 + length + i] = static_cast<char>(checksum >> (24 - 8 * i));
    }
    at += 12 + length;
  }
  return file;
}

std::string FileOfKind(FuzzInput* input) {
  constexpr int kTypes[] = {0, 2, 3, 4, 6};
  constexpr int kDepths[] = {1, 2, 4, 8, 16};
  PngSpec spec;
  spec.color_type = static_cast<PngColorType>(kTypes[input->Take<uint8_t>() % 5]);
  spec.bit_depth = kDepths[input->Take<uint8_t>() % 5];
  spec.height = 1 + input->Take<uint8_t>() % 16;
  spec.width = 1 + input->Take<uint8_t>();
  spec.chunk_bytes = 1 + input->Take<uint8_t>();
  std::string file = PngSignature() + PngHeader(spec);
  if (spec.color_type == PngColorType::kPalette) file += PngChunk("PLTE", "abcdef");
  std::string rows = input->TakeRest();
  rows.resize(spec.height * (spec.RowBytes() + 1));
  return file + PngImageData(ZlibStream(rows, 0), spec.chunk_bytes) + PngChunk("IEND", "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzInput input(data, size);
  const int what = input.Take<uint8_t>() % 3;
  const std::string file = what == 0   ? input.TakeRest()
                           : what == 1 ? WithRightChecksums(input.TakeRest())
                                       : FileOfKind(&input);
  static PngFastDecoder decoder;
  if (!decoder.Open(file, kMaxPixels).ok() || !decoder.NotHandled().empty()) return 0;
  std::vector<uint8_t> pixels(decoder.layout().Bytes());  // its end is guarded by the sanitizer
  decoder.ReadPixels(pixels.data()).ok();
  return 0;
}
