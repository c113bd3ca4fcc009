#include "trainer/comm/create_communicator.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace shardmill {
namespace {

TEST(CreateCommunicator, OneRankNeedsNoMpi) {
  setenv("SHARDMILL_MPI_PLUGIN", "/nowhere", 1);
  auto ranks = CreateCommunicator({});
  ASSERT_TRUE(ranks.ok());
  EXPECT_EQ((*ranks)->size(), 1);
  double value = 3;
  EXPECT_TRUE((*ranks)->Sum(&value, 1, "value").ok());
  EXPECT_EQ(value, 3);
  EXPECT_TRUE((*ranks)->Close().ok());
}

TEST(CreateCommunicator, AbortedSelfCommunicatorStaysFailed) {
  auto ranks = CreateCommunicator({});
  ASSERT_TRUE(ranks.ok());
  EXPECT_EQ((*ranks)->Abort(DataLossError("first")).message(), "first");
  EXPECT_EQ((*ranks)->Abort(IoError("second")).message(), "first");
  EXPECT_EQ((*ranks)->Barrier("barrier").code(), StatusCode::kDataLoss);
  EXPECT_EQ((*ranks)->Close().code(), StatusCode::kDataLoss);
}

TEST(CreateCommunicator, TimeoutThatIsNoTimeIsRefused) {
  for (double seconds : {-1.0, 1e9, 0.0 / 0.0}) {
    CommunicatorOptions options;
    options.timeout_seconds = seconds;
    EXPECT_EQ(CreateCommunicator(options).status().code(), StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace shardmill
