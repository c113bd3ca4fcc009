#include "trainer/ops/reference/reference_ops.h"

#include "trainer/ops/reference/reference_backend.h"

namespace shardmill {

std::unique_ptr<OpTable> CreateReferenceOps(ElementType element_type) {
  return std::make_unique<ReferenceOps>(element_type);
}

}  // namespace shardmill
