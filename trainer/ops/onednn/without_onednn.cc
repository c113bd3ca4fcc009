#include "trainer/ops/onednn/onednn_backend.h"

namespace shardmill {

Result<std::unique_ptr<OpTable>> CreateOnednnOps(ConvolutionPrecision) {
  return UnavailableError(
      "this program was built without oneDNN, to be carried to a machine with a GPU; on the CPU it "
      "has only --device reference");
}

std::string OnednnVersion() { return "none"; }
std::string OnednnInstructionSet() { return "none"; }

}  // namespace shardmill
