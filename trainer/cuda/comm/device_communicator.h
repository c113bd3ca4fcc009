// The ranks of a job as a training step on a GPU uses them, one GPU each.
#pragma once

#include <functional>
#include <string_view>

#include "trainer/comm/communicator.h"
#include "trainer/cuda/runtime/runtime.h"

namespace shardmill {

// A communicator whose StartSum and Wait take addresses of the device and never wait on the host,
// so that a step with its sums can be captured as a graph: a sum starts when the compute stream has
// come to where StartSum was called, and the compute stream goes on behind Wait when the sum is
// done. All other calls, for memory of the host, are those of the communicator of the job.
class DeviceCommunicator : public Communicator {
 public:
  // The host waits until the event is done, as long as the job is sound and in time; `name` says
  // in messages for what.
  virtual Status AwaitDevice(EventHandle event, std::string_view name) = 0;

  // Forgets the sums that were started since set_step: they were captured, no graph came of it, and
  // so they never run. Nobody may wait for them.
  virtual void ForgetCaptured() = 0;

  // `drop_graphs` is called before the sums are aborted, for NCCL waits without end for graphs that
  // hold some. It returns whether there are none any more: else nothing is aborted, and the sums go
  // with the process. Null: there are none.
  virtual void set_drop_graphs(std::function<bool()> drop_graphs) = 0;

 protected:
  using Communicator::Communicator;
};

}  // namespace shardmill
