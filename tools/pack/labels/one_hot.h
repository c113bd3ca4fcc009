// Class ids to stored one-hot vectors; an id that is no class (ignore) gives an all-zero vector.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/schema.h"

namespace shardmill {

// `ids` holds `count` ids of type `id_type`. kOneHotBits: ceil(classes / 8) bytes per id, class k
// is bit k % 8 of byte k / 8. kOneHotBytes: `classes` bytes per id.
void EncodeOneHot(LabelEncoding encoding, DType id_type, const void* ids, uint64_t count,
                  uint32_t classes, std::vector<uint8_t>* out);

}  // namespace shardmill
