#include "trainer/cuda/runtime/device_wait.h"

#include <gtest/gtest.h>

namespace shardmill {
namespace {

constexpr double kSoon = 0.02;  // for what never comes
constexpr double kNever = 1e6;

DeviceWait::Question DoneAt(int question, int* asked) {
  return [=]() -> Result<bool> { return ++*asked >= question; };
}

TEST(DeviceWait, WorkThatIsWantedMayTakeItsTime) {
  DeviceWait wait({0, 0}, [] { return false; });
  int asked = 0;
  EXPECT_TRUE(wait.Await(DoneAt(1000, &asked), nullptr).ok());
  EXPECT_EQ(asked, 1000);
  EXPECT_TRUE(wait.lost().ok());
}

TEST(DeviceWait, InterruptionLimitsTheWaitAndTheDeviceIsNotAskedAgain) {
  bool interrupted = false;
  DeviceWait wait({kNever, kSoon}, [&] { return interrupted; });
  int asked = 0;
  ASSERT_TRUE(wait.Await(DoneAt(3, &asked), nullptr).ok());
  interrupted = true;
  const Status status = wait.Await([&]() -> Result<bool> { return false; }, nullptr);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("after the interruption"), std::string::npos);
  asked = 0;
  EXPECT_EQ(wait.Drain(DoneAt(1, &asked)).message(), status.message());
  EXPECT_EQ(wait.Await(DoneAt(1, &asked), nullptr).message(), status.message());
  EXPECT_EQ(asked, 0);
}

TEST(DeviceWait, InterruptedWorkThatEndsInTimeIsSound) {
  DeviceWait wait({kNever, kNever}, [] { return true; });
  int asked = 0;
  EXPECT_TRUE(wait.Await(DoneAt(300, &asked), nullptr).ok());
  EXPECT_TRUE(wait.lost().ok());
}

TEST(DeviceWait, WatchEndsTheWaitAndTheDeviceIsStillAsked) {
  DeviceWait wait({kNever, kNever}, [] { return false; });
  int looks = 0;
  const Status status = wait.Await(
      []() -> Result<bool> { return false; },
      [&](double) { return ++looks < 5 ? OkStatus() : UnavailableError("rank 1 is gone"); });
  EXPECT_EQ(status.message(), "rank 1 is gone");
  EXPECT_EQ(looks, 5);
  EXPECT_TRUE(wait.lost().ok());
}

TEST(DeviceWait, WorkThatIsGivenUpHasADeadline) {
  DeviceWait wait({kSoon, kNever}, [] { return false; });
  int asked = 0;
  EXPECT_TRUE(wait.Drain(DoneAt(5, &asked)).ok());
  EXPECT_EQ(wait.Drain([]() -> Result<bool> { return false; }).code(), StatusCode::kUnavailable);
  EXPECT_FALSE(wait.lost().ok());
}

TEST(DeviceWait, ErrorOfTheDeviceIsReturnedAndTheDeviceIsStillAsked) {
  DeviceWait wait({kNever, kNever}, [] { return false; });
  const auto broken = []() -> Result<bool> { return UnavailableError("an illegal address"); };
  EXPECT_EQ(wait.Await(broken, nullptr).message(), "an illegal address");
  EXPECT_EQ(wait.Drain(broken).message(), "an illegal address");
  EXPECT_TRUE(wait.lost().ok());
}

}  // namespace
}  // namespace shardmill
