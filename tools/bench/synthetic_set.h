// Packed data sets of made-up records of one size, to measure reading with.
//
// A record is a u8 image of SIDExSIDE pixels and a label of as many class ids, so four bytes per
// pixel. The images are noise, which no codec can shrink; the labels are regions with ragged
// borders, like those of street scenes. The same options give the same bytes.
#pragma once

#include <cstdint>
#include <string>

#include "reader/base/status.h"
#include "reader/schema.h"

namespace shardmill {

constexpr uint32_t kSyntheticClasses = 21;

struct SyntheticSetOptions {
  uint64_t record_bytes = uint64_t{1} << 20;  // of image and label together; rounded to a square
  uint64_t records = 0;
  Codec label_codec = Codec::kZstd;
};

// The side of the images of about that many bytes: at least 1.
uint64_t SyntheticSide(uint64_t record_bytes);
inline uint64_t SyntheticRecordBytes(uint64_t record_bytes) {
  return 4 * SyntheticSide(record_bytes) * SyntheticSide(record_bytes);
}

// Writes the split "train" and the manifest into `folder`, which must exist and be empty.
Status WriteSyntheticSet(const std::string& folder, const SyntheticSetOptions& options);

}  // namespace shardmill
