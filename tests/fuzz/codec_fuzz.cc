// Decoders over any stored bytes: only the requested bytes are written, and what was encoded comes
// back. The first bytes of the input choose dtype, sizes and codec.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reader/codec.h"
#include "tests/fuzz/fuzz_input.h"

using namespace shardmill;  // NOLINT: a program of one function

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzInput input(data, size);
  FieldSpec spec;
  spec.name = "field";
  spec.dtype = static_cast<DType>(1 + input.Take<uint8_t>() % 6);
  spec.codec = static_cast<Codec>(1 + input.Take<uint8_t>() % 3);
  spec.shape = {input.Take<uint8_t>(), 1 + input.Take<uint8_t>() % 64};
  const std::string stored = input.TakeRest();

  static FieldDecoder decoder;
  static FieldEncoder encoder;
  std::vector<uint8_t> tensor(spec.TensorBytes());  // its end is guarded by the sanitizer
  decoder.Decode(spec, stored.data(), stored.size(), tensor.data(), tensor.size()).ok();

  std::string source = stored;
  source.resize(tensor.size(), '\0');
  const Result<EncodedField> encoded = encoder.Encode(spec, source.data(), source.size());
  if (!encoded.ok() || spec.codec == Codec::kJpeg) return 0;
  SHARDMILL_CHECK(
      decoder
          .Decode(spec, encoded->bytes.data(), encoded->bytes.size(), tensor.data(), tensor.size())
          .ok());
  SHARDMILL_CHECK(source == std::string(tensor.begin(), tensor.end()));
  return 0;
}
