#include "trainer/comm/run_job.h"

#include <memory>

#include "reader/base/launch.h"
#include "trainer/comm/create_communicator.h"
#include "trainer/comm/job_end.h"

namespace shardmill {

Result<int> RunJob(const CommunicatorOptions& options, const Status& own,
                   const std::function<Result<int>(Communicator*)>& body) {
  const Result<std::unique_ptr<Communicator>> ranks = CreateCommunicator(options);
  if (!ranks.ok()) return own.ok() ? ranks.status() : own;
  Communicator* const communicator = ranks->get();
  const Status agreed = AgreeOnStatus(communicator, own, "command line");
  return agreed.ok() ? body(communicator) : EndJob(communicator, agreed, Known::kOnAllRanks);
}

Result<int> RunAlone(const std::string& command,
                     const std::function<Result<int>(Communicator*)>& body) {
  ASSIGN_OR_RETURN(const Launch launch, DetectLaunch());
  const Status own =
      launch.size == 1
          ? OkStatus()
          : InvalidArgumentError(command + " runs in one process: start it without mpirun or srun");
  return RunJob({}, own, body);
}

}  // namespace shardmill
