// Runs the cases of *_ranks.cc in jobs of several ranks: each case is run by all ranks at once.
#include <gtest/gtest.h>

#include <string>

#include "tests/trainer/comm/mpi_job.h"

namespace shardmill {
namespace {

class MpiRanks : public testing::TestWithParam<int> {};

constexpr char kProgram[] = "tests/trainer/comm/ranks";

TEST_P(MpiRanks, CommunicatorCasesPass) {
  SKIP_WITHOUT_MPI();
  ExpectCasesPass(GetParam(), kProgram, "Communicator.*");
}

TEST_P(MpiRanks, GradientBucketCasesPass) {
  SKIP_WITHOUT_MPI();
  ExpectCasesPass(GetParam(), kProgram, "GradientBuckets.*");
}

TEST_P(MpiRanks, FixedTreeCasesPass) {
  SKIP_WITHOUT_MPI();
  ExpectCasesPass(GetParam(), kProgram, "FixedTree.*:MicroShardSums.*");
}

INSTANTIATE_TEST_SUITE_P(Ranks, MpiRanks, testing::Values(2, 3, 4, 8),
                         [](const auto& info) { return std::to_string(info.param); });

}  // namespace
}  // namespace shardmill
