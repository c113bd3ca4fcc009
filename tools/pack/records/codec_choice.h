// How a field is to be stored: a codec and how hard it tries. "raw", "zstd", "zstd:19",
// "zstd-dict:12", "jpeg:95" on the command line and in the recipe.
#pragma once

#include <string>

#include "reader/base/status.h"
#include "reader/codec.h"
#include "reader/schema.h"

namespace shardmill {

struct CodecChoice {
  CodecChoice(Codec chosen = Codec::kRaw) : codec(chosen) {}  // NOLINT: a codec as it comes

  Codec codec;
  EncodeOptions effort;  // only the part of the codec counts
};

// InvalidArgument says what may be written.
Result<CodecChoice> ParseCodecChoice(const std::string& text);
// The reverse; the usual effort is left out.
std::string FormatCodecChoice(const CodecChoice& choice);

}  // namespace shardmill
