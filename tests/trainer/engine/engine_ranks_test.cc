// Runs the cases of engine_ranks.cc in jobs of several ranks.
#include <gtest/gtest.h>

#include "tests/trainer/comm/mpi_job.h"

namespace shardmill {
namespace {

class EngineRanks : public testing::TestWithParam<int> {};

TEST_P(EngineRanks, CasesPass) {
  SKIP_WITHOUT_MPI();
  ExpectCasesPass(GetParam(), "tests/trainer/engine/engine_ranks", "*");
}

INSTANTIATE_TEST_SUITE_P(Ranks, EngineRanks, testing::Values(2, 3, 4),
                         [](const auto& info) { return std::to_string(info.param); });

}  // namespace
}  // namespace shardmill
