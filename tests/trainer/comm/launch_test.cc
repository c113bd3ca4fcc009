#include "trainer/comm/launch.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "trainer/comm/create_communicator.h"

namespace shardmill {
namespace {

class LaunchTest : public testing::Test {
 protected:
  void SetUp() override { Clear(); }
  void TearDown() override { Clear(); }
  static void Clear() {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PMI_RANK",
                             "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_NTASKS"}) {
      unsetenv(name);
    }
  }
  static void Set(const char* name, const char* value) { setenv(name, value, 1); }
};

TEST_F(LaunchTest, NoLauncherIsOneRank) {
  Set("SLURM_NTASKS", "4");  // of an sbatch shell
  const auto launch = DetectLaunch();
  ASSERT_TRUE(launch.ok());
  EXPECT_EQ(launch->size, 1);
  EXPECT_EQ(launch->rank, 0);
}

TEST_F(LaunchTest, EachLauncherIsUnderstood) {
  for (const auto& [size, rank] : {std::pair{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                   {"PMI_SIZE", "PMI_RANK"},
                                   {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}}) {
    Clear();
    Set(size, "4");
    Set(rank, "3");
    const auto launch = DetectLaunch();
    ASSERT_TRUE(launch.ok()) << size;
    EXPECT_EQ(launch->size, 4);
    EXPECT_EQ(launch->rank, 3);
  }
}

TEST_F(LaunchTest, NonsenseIsAnErrorThatNamesTheVariable) {
  Set("OMPI_COMM_WORLD_SIZE", "4");
  EXPECT_EQ(DetectLaunch().status().code(), StatusCode::kInvalidArgument);
  for (const char* rank : {"4", "-1", "two", ""}) {
    Set("OMPI_COMM_WORLD_RANK", rank);
    const auto launch = DetectLaunch();
    ASSERT_FALSE(launch.ok()) << rank;
    EXPECT_NE(launch.status().message().find("OMPI_COMM_WORLD_RANK"), std::string::npos);
  }
}

TEST_F(LaunchTest, OneRankNeedsNoMpi) {
  Set("SHARDMILL_MPI_PLUGIN", "/nowhere");
  auto ranks = CreateCommunicator({});
  ASSERT_TRUE(ranks.ok());
  EXPECT_EQ((*ranks)->size(), 1);
  double value = 3;
  EXPECT_TRUE((*ranks)->Sum(&value, 1, "value").ok());
  EXPECT_EQ(value, 3);
  EXPECT_TRUE((*ranks)->Close().ok());
}

TEST_F(LaunchTest, AbortedSelfCommunicatorStaysFailed) {
  auto ranks = CreateCommunicator({});
  ASSERT_TRUE(ranks.ok());
  EXPECT_EQ((*ranks)->Abort(DataLossError("first")).message(), "first");
  EXPECT_EQ((*ranks)->Abort(IoError("second")).message(), "first");
  EXPECT_EQ((*ranks)->Barrier("barrier").code(), StatusCode::kDataLoss);
  EXPECT_EQ((*ranks)->Close().code(), StatusCode::kDataLoss);
}

TEST_F(LaunchTest, TimeoutThatIsNoTimeIsRefused) {
  for (double seconds : {-1.0, 1e9, 0.0 / 0.0}) {
    CommunicatorOptions options;
    options.timeout_seconds = seconds;
    EXPECT_EQ(CreateCommunicator(options).status().code(), StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace shardmill
