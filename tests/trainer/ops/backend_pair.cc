#include "tests/trainer/ops/backend_pair.h"

#include "trainer/ops/reference/reference_backend.h"

namespace shardmill {

BackendPair::BackendPair()
    : reference(CreateReferenceOps(ElementType::kF32)), candidate(CreateCandidateOps()) {}

}  // namespace shardmill
