// The device of a run: which backend computes, with how many threads, and what decides its bits.
#pragma once

#include <memory>
#include <string>

#include "reader/base/status.h"
#include "trainer/ops/op_table.h"

namespace shardmill {

namespace proto {
class Environment;
}  // namespace proto

struct Device {
  std::unique_ptr<OpTable> ops;
  int threads = 0;
  std::string notice;  // what a user should know about the choice; may be empty
};

// `name` is auto, cpu, cuda, or reference (slow, one thread, for tests); `threads` 0 asks for one
// per CPU that this process may use. Sets the number of compute threads of the process: call it
// once, before anything computes. Unavailable when the device is not there, and says why.
// `local_ranks` processes of this job share the CPUs of this host; this one is number `local_rank`
// and takes the GPU of that number.
// `precision` is f32, or bf16 for the convolutions of the CPU.
Result<Device> OpenDevice(const std::string& name, int threads, int local_ranks = 1,
                          int local_rank = 0, const std::string& precision = "f32");

// Version of program, backend and instruction set, threads.
proto::Environment DescribeEnvironment(const Device& device);

}  // namespace shardmill
