#include <utility>

#include "tests/trainer/ops/backend_pair.h"
#include "trainer/ops/onednn/onednn_backend.h"

namespace shardmill {

std::unique_ptr<OpTable> CreateCandidateOps() {
  auto ops = CreateOnednnOps();
  SHARDMILL_CHECK(ops.ok());
  return std::move(ops).value();
}

}  // namespace shardmill
