// Runs the cases of *_ranks.cc in jobs of several ranks: each case is run by all ranks at once.
#include <gtest/gtest.h>

#include <string>

#include "tests/trainer/comm/mpi_job.h"

namespace shardmill {
namespace {

class MpiRanks : public testing::TestWithParam<int> {
 protected:
  void ExpectCasesPass(const std::string& filter) {
    SKIP_WITHOUT_MPI();
    const MpiJobResult job =
        RunMpiJob(GetParam(), RankProgram("ranks"), {"--gtest_filter=" + filter});
    EXPECT_EQ(job.exit_code, 0) << job.output;
    EXPECT_NE(job.output.find("[  PASSED  ]"), std::string::npos) << job.output;
    EXPECT_EQ(job.output.find("[  PASSED  ] 0 tests"), std::string::npos) << job.output;
  }
};

TEST_P(MpiRanks, CommunicatorCasesPass) { ExpectCasesPass("Communicator.*"); }
TEST_P(MpiRanks, GradientBucketCasesPass) { ExpectCasesPass("GradientBuckets.*"); }
TEST_P(MpiRanks, FixedTreeCasesPass) { ExpectCasesPass("FixedTree.*:MicroShardSums.*"); }

INSTANTIATE_TEST_SUITE_P(Ranks, MpiRanks, testing::Values(2, 3, 4, 8),
                         [](const auto& info) { return std::to_string(info.param); });

}  // namespace
}  // namespace shardmill
