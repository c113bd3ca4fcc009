#include "trainer/comm/create_communicator.h"

#include "reader/base/launch.h"
#include "trainer/comm/mpi_communicator.h"
#include "trainer/comm/self_communicator.h"

namespace shardmill {

Result<std::unique_ptr<Communicator>> CreateCommunicator(const CommunicatorOptions& options) {
  if (!(options.timeout_seconds >= 0 && options.timeout_seconds <= 1e6)) {
    return InvalidArgumentError("the time to wait for a rank is " +
                                std::to_string(options.timeout_seconds) +
                                " s; it must be 0 (for ever) to 1,000,000");
  }
  ASSIGN_OR_RETURN(const Launch launch, DetectLaunch());
  if (launch.size == 1) return CreateSelfCommunicator();
  return CreateMpiCommunicator(launch, options);
}

}  // namespace shardmill
