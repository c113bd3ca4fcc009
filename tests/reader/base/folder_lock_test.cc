#include "reader/base/folder_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

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

TEST(FolderLock, SharersExcludeOneWhoWantsItAlone) {
  const std::string folder = EmptyFolder("shared");
  auto first = FolderLock::TryAcquire(folder, LockKind::kShared);
  auto second = FolderLock::TryAcquire(folder, LockKind::kShared);
  ASSERT_TRUE((*first).has_value() && (*second).has_value());
  EXPECT_FALSE(FolderLock::TryAcquire(folder)->has_value());
  (*first)->Release();
  EXPECT_FALSE(FolderLock::TryAcquire(folder)->has_value());
  (*second)->Release();
  EXPECT_TRUE(fs::is_empty(folder));  // the last one removes the file
  EXPECT_TRUE(FolderLock::TryAcquire(folder)->has_value());
}

TEST(FolderLock, KindChangesWhileTheLockIsHeld) {
  const std::string folder = EmptyFolder("kind");
  auto first = FolderLock::TryAcquire(folder);
  EXPECT_FALSE(FolderLock::TryAcquire(folder, LockKind::kShared)->has_value());
  ASSERT_TRUE((*first)->MakeShared().ok());
  auto second = FolderLock::TryAcquire(folder, LockKind::kShared);
  ASSERT_TRUE(second->has_value());
  EXPECT_FALSE(*(*first)->TryMakeAlone());
  EXPECT_FALSE(FolderLock::TryAcquire(folder)->has_value());  // the first one still shares it
  (*second)->Release();
  EXPECT_TRUE(*(*first)->TryMakeAlone());
  EXPECT_FALSE(FolderLock::TryAcquire(folder, LockKind::kShared)->has_value());
}

TEST(FolderLock, LocksOfOtherNamesAreIndependent) {
  const std::string folder = EmptyFolder("names");
  auto one = FolderLock::TryAcquire(folder, LockKind::kAlone, ".one");
  EXPECT_TRUE(FolderLock::TryAcquire(folder, LockKind::kAlone, ".two")->has_value());
  EXPECT_FALSE(FolderLock::TryAcquire(folder, LockKind::kAlone, ".one")->has_value());
}

TEST(FolderLock, WhoEndedWithTheLockIsNamedToTheNextHolderOnly) {
  const std::string folder = EmptyFolder("abandoned");
  {
    auto lock = FolderLock::TryAcquire(folder, LockKind::kAlone, ".claim", "rank 3");
    ASSERT_TRUE(lock->has_value());
    EXPECT_EQ((*lock)->abandoned_by(), "");
    (*lock)->Abandon("");
  }
  {
    auto lock = FolderLock::TryAcquire(folder, LockKind::kAlone, ".claim", "rank 1");
    ASSERT_TRUE(lock->has_value());
    EXPECT_NE((*lock)->abandoned_by().find(", rank 3"), std::string::npos);
    (*lock)->Abandon((*lock)->abandoned_by());  // for the one who has to know
  }
  {
    auto lock = FolderLock::TryAcquire(folder, LockKind::kAlone, ".claim", "rank 0");
    EXPECT_NE((*lock)->abandoned_by().find(", rank 3"), std::string::npos);
  }
  EXPECT_EQ((*FolderLock::TryAcquire(folder, LockKind::kAlone, ".claim"))->abandoned_by(), "");
}

TEST(FolderLock, LivingHoldersAreNamedWithTheirPurpose) {
  const std::string folder = EmptyFolder("holders");
  EXPECT_EQ(FolderLock::Holders(folder), "");
  auto lock = FolderLock::TryAcquire(folder, LockKind::kAlone, kFolderLockName, "a test");
  const std::string holders = FolderLock::Holders(folder);
  EXPECT_EQ(holders.rfind("process " + std::to_string(getpid()) + " on ", 0), 0u) << holders;
  EXPECT_NE(holders.find(", a test"), std::string::npos) << holders;
  // A process that is gone, of this host as this process calls it.
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  std::string gone = holders;
  gone.replace(8, std::to_string(getpid()).size(), std::to_string(child));
  std::ofstream(folder + "/" + kFolderLockName) << gone << "\n";
  EXPECT_EQ(FolderLock::Holders(folder), "");
  std::ofstream(folder + "/" + kFolderLockName) << "process 7 on another-host\nnonsense\n";
  EXPECT_EQ(FolderLock::Holders(folder), "process 7 on another-host");
}

}  // namespace
}  // namespace shardmill
