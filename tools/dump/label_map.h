// Labels of any encoding as class ids.
//
// Pure functions; safe for concurrent use.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reader/base/status.h"
#include "reader/schema.h"
#include "tools/dump/picture.h"

namespace shardmill {

// The bytes of one field of one record, with the shape they have in this record.
struct Tensor {
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;
};

// The class ids of a label field (role class map or class id), in row-major order. The stored
// ignore value and one-hot pixels without a class become kIgnoredPixel; a one-hot pixel of
// several classes becomes kSeveralClasses. InvalidArgument when the field has an encoding or
// dtype that holds no class ids.
Result<std::vector<int32_t>> DecodeClassIds(const RecordSchema& schema, const FieldSpec& spec,
                                            const Tensor& tensor);

// The same for a segmentation label [H, W] (or one-hot [H, W, …]).
Result<LabelMap> DecodeLabelMap(const RecordSchema& schema, const FieldSpec& spec,
                                const Tensor& tensor);

}  // namespace shardmill
