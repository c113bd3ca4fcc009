#include "tools/pack/labels/one_hot.h"

#include "reader/base/status.h"

namespace shardmill {
namespace {

template <typename Id>
void Encode(LabelEncoding encoding, const Id* ids, uint64_t count, uint32_t classes,
            std::vector<uint8_t>* out) {
  const bool bits = encoding == LabelEncoding::kOneHotBits;
  const uint64_t vector_bytes = bits ? (classes + 7) / 8 : classes;
  out->assign(count * vector_bytes, 0);
  uint8_t* vector = out->data();
  for (uint64_t i = 0; i < count; ++i, vector += vector_bytes) {
    const uint32_t id = ids[i];
    if (id >= classes) continue;
    if (bits) {
      vector[id / 8] = static_cast<uint8_t>(1u << (id % 8));
    } else {
      vector[id] = 1;
    }
  }
}

}  // namespace

void EncodeOneHot(LabelEncoding encoding, DType id_type, const void* ids, uint64_t count,
                  uint32_t classes, std::vector<uint8_t>* out) {
  SHARDMILL_CHECK(id_type == DType::kU8 || id_type == DType::kU16);
  if (id_type == DType::kU8) {
    Encode(encoding, static_cast<const uint8_t*>(ids), count, classes, out);
  } else {
    Encode(encoding, static_cast<const uint16_t*>(ids), count, classes, out);
  }
}

}  // namespace shardmill
