// Image tensors of any kind as RGB pictures.
//
// Pure functions; safe for concurrent use.
#pragma once

#include "reader/base/status.h"
#include "reader/schema.h"
#include "tools/dump/label_map.h"
#include "tools/dump/picture.h"

namespace shardmill {

// [H, W] or [H, W, C]: one channel is gray, three are RGB, four RGB with alpha (shown over a
// checkerboard), of other numbers the first three (or the first) are shown. 8-bit values are
// shown as they are; others are stretched from the record's own lowest to its highest finite
// value. InvalidArgument when the tensor is no picture or a side is 0.
Result<Picture> PictureFromTensor(const FieldSpec& spec, const Tensor& tensor);

}  // namespace shardmill
