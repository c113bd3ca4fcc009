#include "reader/base/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace shardmill {
namespace {

Result<int> Half(int value) {
  if (value % 2 != 0) return InvalidArgumentError("odd");
  return value / 2;
}

Result<int> Quarter(int value) {
  ASSIGN_OR_RETURN(const int half, Half(value));
  ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

TEST(Status, ContextIsPutBeforeTheMessageAndKeepsTheCode) {
  const Status status = DataLossError("checksum differs").WithContext("train-00000.shard");
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_EQ(status.ToString(), "DataLoss: train-00000.shard: checksum differs");
  EXPECT_TRUE(OkStatus().WithContext("anything").ok());
}

TEST(Status, EachCodeHasItsExitCode) {
  EXPECT_EQ(ExitCode(OkStatus()), 0);
  EXPECT_EQ(ExitCode(InternalError("")), 1);
  EXPECT_EQ(ExitCode(InvalidArgumentError("")), 2);
  EXPECT_EQ(ExitCode(NotFoundError("")), 3);
  EXPECT_EQ(ExitCode(ErrnoError("open", ENOENT)), 3);
  EXPECT_EQ(ExitCode(DataLossError("")), 4);
  EXPECT_EQ(ExitCode(UnavailableError("")), 5);
  EXPECT_EQ(ExitCode(CancelledError("")), 130);
}

TEST(Result, FirstErrorLeavesTheFunction) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).status().message(), "odd");
}

TEST(Result, MoveOnlyValuesCanBeTakenOut) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  std::unique_ptr<int> value = std::move(result).value();
  EXPECT_EQ(*value, 7);
}

}  // namespace
}  // namespace shardmill
