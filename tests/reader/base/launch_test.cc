#include "reader/base/launch.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace shardmill {
namespace {

class LaunchTest : public testing::Test {
 protected:
  void SetUp() override { Clear(); }
  void TearDown() override { Clear(); }
  static void Clear() {
    for (const char* name :
         {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PMI_RANK",
          "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_NTASKS", "OMPI_COMM_WORLD_LOCAL_SIZE",
          "OMPI_MCA_ess_base_jobid", "SLURM_JOB_ID", "SLURM_STEP_ID"}) {
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

TEST_F(LaunchTest, JobHasANameWhereTheLauncherGivesIt) {
  Set("SLURM_JOB_ID", "12");
  Set("SLURM_STEP_ID", "3");
  Set("OMPI_COMM_WORLD_SIZE", "2");
  Set("OMPI_COMM_WORLD_RANK", "1");
  EXPECT_EQ(DetectLaunch()->job, "");
  Set("OMPI_MCA_ess_base_jobid", "4711");
  EXPECT_EQ(DetectLaunch()->job, "4711");
  Clear();
  Set("SLURM_STEP_NUM_TASKS", "2");
  Set("SLURM_PROCID", "1");
  Set("SLURM_JOB_ID", "12");
  Set("SLURM_STEP_ID", "3");
  EXPECT_EQ(DetectLaunch()->job, "12.3");
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

TEST_F(LaunchTest, RanksOfThisHostAreThoseThatTheLauncherNames) {
  Set("OMPI_COMM_WORLD_SIZE", "6");
  Set("OMPI_COMM_WORLD_RANK", "5");
  EXPECT_EQ(DetectLaunch()->local_size, 6);  // as far as is known
  Set("OMPI_COMM_WORLD_LOCAL_SIZE", "2");
  EXPECT_EQ(DetectLaunch()->local_size, 2);
  for (const char* size : {"0", "7", "x"}) {
    Set("OMPI_COMM_WORLD_LOCAL_SIZE", size);
    EXPECT_EQ(DetectLaunch().status().code(), StatusCode::kInvalidArgument) << size;
  }
}

}  // namespace
}  // namespace shardmill
