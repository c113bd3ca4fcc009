#include "tests/trainer/comm/rank_main.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "trainer/comm/create_communicator.h"
#include "trainer/comm/rank_guard.h"

namespace shardmill {
namespace {

Communicator* job_communicator = nullptr;

int RunAllCases(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  CommunicatorOptions options;
  options.timeout_seconds = 20;
  auto communicator = CreateCommunicator(options);
  if (!communicator.ok()) {
    std::fprintf(stderr, "%s\n", communicator.status().ToString().c_str());
    return ExitCode(communicator.status());
  }
  job_communicator = communicator->get();
  const int failed = RUN_ALL_TESTS();
  const Status closed = (*communicator)->Close();
  if (!closed.ok()) std::fprintf(stderr, "%s\n", closed.ToString().c_str());
  return closed.ok() ? failed : ExitCode(closed);
}

}  // namespace

Communicator* JobCommunicator() { return job_communicator; }

}  // namespace shardmill

int main(int argc, char** argv) {
  return shardmill::RunGuarded(argc, argv, [&] { return shardmill::RunAllCases(argc, argv); });
}
