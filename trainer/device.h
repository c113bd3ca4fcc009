// The device of a run: which backend computes, with how many threads, and what decides its bits.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "reader/base/status.h"
#include "trainer/cuda/comm/device_communicator.h"
#include "trainer/ops/op_table.h"

namespace shardmill {

namespace proto {
class Environment;
}  // namespace proto

class DeviceOpTable;

struct Device {
  std::unique_ptr<OpTable> ops;
  DeviceOpTable* device_ops = nullptr;  // the same, of a GPU; else null
  int threads = 0;
  std::string name;    // of a GPU, with the versions of its libraries; else empty
  std::string notice;  // what a user should know about the choice; may be empty
  // Of a GPU: how many plans of convolutions were built so far, how many came from the file. Else
  // empty.
  std::function<std::string()> plans_text;
  // Of a GPU: see CudaPlugin::connect_ranks. Else empty.
  std::function<Result<std::unique_ptr<DeviceCommunicator>>(
      CudaRuntime* runtime, StreamHandle compute, Communicator* bootstrap,
      const CommunicatorOptions& options)>
      connect_ranks;
};

struct DeviceRequest {
  // auto, cpu or cuda; for tests, slow and with one thread, reference, or cuda-host, which does on
  // the host what a GPU does.
  std::string name;
  int threads = 0;  // 0: one per CPU that this process may use
  // So many processes of this job share this host; this one is number `local_rank`, and takes the
  // GPU of that number.
  int local_ranks = 1;
  int local_rank = 0;
  // The same bits on any number of ranks. Of GPUs: each time on one.
  bool deterministic = false;
  int ranks = 1;  // of the whole job
  std::string precision =
      "f32";               // bf16 also for all activations of GPUs; tf32 for their convolutions
  std::string plan_cache;  // file that keeps the plans of a GPU's convolutions; empty: none
};

// Sets the number of compute threads of the process: call it once, before anything computes.
// Unavailable when the device is not there, and says why.
Result<Device> OpenDevice(const DeviceRequest& request);

// Version of program, backend and instruction set, threads.
proto::Environment DescribeEnvironment(const Device& device);

}  // namespace shardmill
