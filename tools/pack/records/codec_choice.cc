#include "tools/pack/records/codec_choice.h"

#include <cstdint>

#include "reader/console/units.h"

namespace shardmill {
namespace {

constexpr uint64_t kMaxJpegQuality = 100;

bool IsZstd(Codec codec) { return codec == Codec::kZstd || codec == Codec::kZstdDictionary; }

Status NoCodec(const std::string& text) {
  return InvalidArgumentError("'" + text +
                              "' is no codec: write raw, zstd, zstd:LEVEL or zstd-dict:LEVEL (1 to "
                              "22), or for images jpeg:QUALITY (1 to 100)");
}

}  // namespace

Result<CodecChoice> ParseCodecChoice(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  for (const Codec codec : {Codec::kRaw, Codec::kZstd, Codec::kJpeg, Codec::kZstdDictionary}) {
    if (name != CodecName(codec)) continue;
    CodecChoice choice(codec);
    if (colon == std::string::npos) return choice;
    if (codec == Codec::kRaw) break;
    const uint64_t most = IsZstd(codec) ? uint64_t{kMaxZstdLevel} : kMaxJpegQuality;
    const Result<uint64_t> number = ParseUnsigned(text.substr(colon + 1), most);
    if (!number.ok() || *number < 1) break;
    (IsZstd(codec) ? choice.effort.zstd_level : choice.effort.jpeg_quality) =
        static_cast<int>(*number);
    return choice;
  }
  return NoCodec(text);
}

std::string FormatCodecChoice(const CodecChoice& choice) {
  const std::string name(CodecName(choice.codec));
  const EncodeOptions usual;
  if (IsZstd(choice.codec) && choice.effort.zstd_level != usual.zstd_level) {
    return name + ":" + std::to_string(choice.effort.zstd_level);
  }
  if (choice.codec == Codec::kJpeg && choice.effort.jpeg_quality != usual.jpeg_quality) {
    return name + ":" + std::to_string(choice.effort.jpeg_quality);
  }
  return name;
}

}  // namespace shardmill
