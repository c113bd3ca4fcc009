#include "reader/base/folder_lock.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace shardmill {
namespace {

namespace fs = std::filesystem;

std::string EmptyFolder(const std::string& name) {
  const std::string path = testing::TempDir() + "/folder_lock_" + name;
  fs::remove_all(path);
  fs::create_directories(path);
  return path;
}

TEST(FolderLock, SecondHolderGetsNothingUntilTheFirstGivesItBack) {
  const std::string folder = EmptyFolder("second");
  auto first = FolderLock::TryAcquire(folder);
  ASSERT_TRUE(first.ok() && first->has_value());
  auto second = FolderLock::TryAcquire(folder);
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(second->has_value());
  (*first)->Release();
  auto third = FolderLock::TryAcquire(folder);
  ASSERT_TRUE(third.ok());
  EXPECT_TRUE(third->has_value());
}

TEST(FolderLock, NothingIsLeftInTheFolder) {
  const std::string folder = EmptyFolder("left");
  {
    auto lock = FolderLock::TryAcquire(folder);
    ASSERT_TRUE(lock.ok() && lock->has_value());
    EXPECT_FALSE(fs::is_empty(folder));
  }
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST(FolderLock, MovedLockIsHeldOnce) {
  const std::string folder = EmptyFolder("moved");
  auto lock = FolderLock::TryAcquire(folder);
  ASSERT_TRUE(lock.ok() && lock->has_value());
  {
    const FolderLock moved = std::move(**lock);
    EXPECT_FALSE(FolderLock::TryAcquire(folder)->has_value());
  }
  EXPECT_TRUE(FolderLock::TryAcquire(folder)->has_value());
}

TEST(FolderLock, MissingFolderIsAnErrorThatNamesIt) {
  const std::string folder = testing::TempDir() + "/folder_lock_missing";
  fs::remove_all(folder);
  const Status status = FolderLock::TryAcquire(folder).status();
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_NE(status.message().find(folder), std::string::npos) << status.message();
}

}  // namespace
}  // namespace shardmill
