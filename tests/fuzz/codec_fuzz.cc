// Decoders over any stored bytes: only the requested bytes are written, and what was encoded comes
// back. The first bytes of the input choose dtype, sizes and codec.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/codec.h"
#include "reader/zstd_dictionary.h"
#include "tests/fuzz/fuzz_input.h"

using namespace shardmill;  // NOLINT: a program of one function

namespace {

// Trained on tensors of few values, like those that the fuzzer sends back.
std::shared_ptr<const ZstdDictionary> Dictionary() {
  static const std::shared_ptr<const ZstdDictionary> dictionary = [] {
    std::vector<std::string> samples(2048);
    for (unsigned i = 0; i < samples.size(); ++i) {
      for (unsigned j = 0; j < 32; ++j) samples[i] += static_cast<char>((i * 7 + j * j) % 61);
    }
    auto trained = TrainZstdDictionary(samples);
    SHARDMILL_CHECK(trained.ok());
    return *trained;
  }();
  return dictionary;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzInput input(data, size);
  FieldSpec spec;
  spec.name = "field";
  spec.dtype = static_cast<DType>(1 + input.Take<uint8_t>() % 6);
  spec.codec = static_cast<Codec>(1 + input.Take<uint8_t>() % 4);
  spec.shape = {input.Take<uint8_t>(), 1 + input.Take<uint8_t>() % 64};
  if (spec.codec == Codec::kJpeg) {
    spec.dtype = DType::kU8;
    spec.shape.push_back(input.Take<uint8_t>() % 2 == 0 ? 3 : 1);
  }
  if (spec.codec == Codec::kZstdDictionary) spec.dictionary = Dictionary();
  const std::string stored = input.TakeRest();

  static FieldDecoder decoder;
  static FieldEncoder encoder;
  std::vector<uint8_t> tensor(spec.TensorBytes());  // its end is guarded by the sanitizer
  decoder.Decode(spec, stored.data(), stored.size(), tensor.data(), tensor.size()).ok();

  std::string source = stored;
  source.resize(tensor.size(), '\0');
  const Result<EncodedField> encoded = encoder.Encode(spec, source.data(), source.size());
  SHARDMILL_CHECK(encoded.ok() || (spec.codec == Codec::kJpeg && tensor.empty()));
  if (!encoded.ok()) return 0;
  SHARDMILL_CHECK(
      decoder
          .Decode(spec, encoded->bytes.data(), encoded->bytes.size(), tensor.data(), tensor.size())
          .ok());
  if (spec.codec == Codec::kJpeg) return 0;  // other pixels, by design
  SHARDMILL_CHECK(source == std::string(tensor.begin(), tensor.end()));
  return 0;
}
