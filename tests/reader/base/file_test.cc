#include "reader/base/file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reader/base/file_remnants.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/atomic_file_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  int FilesInFolder() const {
    int files = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_)) ++files;
    return files;
  }
  std::string Path() const { return folder_ + "/file"; }

  std::string folder_;
};

TEST_F(AtomicFileTest, NameAppearsOnlyWithCommit) {
  const std::string large(3 << 20, 'L');
  Result<AtomicFile> file = AtomicFile::Create(Path());
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  ASSERT_TRUE(file->Append("ab", 2).ok());
  ASSERT_TRUE(file->Append(large.data(), large.size()).ok());
  ASSERT_TRUE(file->AppendZeros(5000).ok());
  EXPECT_FALSE(fs::exists(Path()));
  ASSERT_TRUE(file->Commit().ok());
  const Result<std::string> content = ReadFile(Path(), 10 << 20);
  ASSERT_TRUE(content.ok());
  EXPECT_TRUE(*content == "ab" + large + std::string(5000, '\0'));
  EXPECT_EQ(file->size(), content->size());
  EXPECT_EQ(FilesInFolder(), 1);
  EXPECT_FALSE(file->Append("x", 1).ok());
}

TEST_F(AtomicFileTest, RemnantsOfKilledWritersAreRemovedAndNothingElse) {
  const std::vector<std::string> remnants = {"/file.tmp-77", "/file.tmp-77-1"};
  const std::vector<std::string> others = {"/file.tmp-", "/file.tmp-notes", "/file.tmp-77-x",
                                           "/other.tmp-77", "/file.txt"};
  for (const std::string& name : remnants) std::ofstream(folder_ + name) << "cut";
  for (const std::string& name : others) std::ofstream(folder_ + name) << "of somebody";
  fs::create_directory(folder_ + "/file.tmp-78");
  fs::create_symlink(folder_ + "/file.txt", folder_ + "/file.tmp-79");
  Result<AtomicFile> living = AtomicFile::Create(Path());
  ASSERT_TRUE(living.ok());
  RemoveRemnants(Path());
  for (const std::string& name : remnants) EXPECT_FALSE(fs::exists(folder_ + name)) << name;
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(folder_ + name)) << name;
  EXPECT_TRUE(fs::exists(folder_ + "/file.tmp-78"));
  EXPECT_TRUE(fs::is_symlink(folder_ + "/file.tmp-79"));
  ASSERT_TRUE(living->Append("whole", 5).ok());
  ASSERT_TRUE(living->Commit().ok());
  EXPECT_EQ(*ReadFile(Path(), 10), "whole");
}

TEST_F(AtomicFileTest, RemnantOfAProcessThatEndedWithoutItsDestructorIsRemoved) {
  const pid_t child = fork();
  if (child == 0) {
    const Result<AtomicFile> file = AtomicFile::Create(Path());
    _exit(file.ok() ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(FilesInFolder(), 1);
  RemoveRemnants(Path());
  EXPECT_EQ(FilesInFolder(), 0);
}

TEST(NameWithoutTemporarySuffix, IsEmptyForNamesOfSomebodyElse) {
  EXPECT_EQ(NameWithoutTemporarySuffix("a.tmp-4242"), "a");
  EXPECT_EQ(NameWithoutTemporarySuffix("a.tmp-1.tmp-4242-13"), "a.tmp-1");
  for (const char* name : {"", "a", "a.tmp-", "a.tmp-x", "a.tmp-4-", "a.tmp--4", "a.tmp-4-x"}) {
    EXPECT_EQ(NameWithoutTemporarySuffix(name), "") << name;
  }
}

TEST_F(AtomicFileTest, DestroyedWithoutCommitLeavesTheOldFileAndNothingElse) {
  std::ofstream(Path()) << "old";
  {
    Result<AtomicFile> file = AtomicFile::Create(Path());
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Append("new", 3).ok());
    const AtomicFile moved = std::move(*file);
    EXPECT_EQ(FilesInFolder(), 2);
  }
  EXPECT_EQ(FilesInFolder(), 1);
  EXPECT_EQ(*ReadFile(Path(), 100), "old");
}

TEST_F(AtomicFileTest, PiecesOfAnySizeStandInTheOrderOfTheirAppends) {
  constexpr uint64_t kMebibyte = uint64_t{1} << 20;
  std::string expected;
  auto file = AtomicFile::Create(Path());
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  char letter = 'a';
  for (uint64_t bytes : {uint64_t{1}, kMebibyte, 2 * kMebibyte, uint64_t{0}, 5 * kMebibyte + 7,
                         kMebibyte - 8, kMebibyte, uint64_t{100}}) {
    const std::string piece(bytes, letter++);
    ASSERT_TRUE(file->Append(piece.data(), piece.size()).ok());
    expected += piece;
    EXPECT_EQ(file->size(), expected.size());
  }
  ASSERT_TRUE(file->Commit().ok());
  const auto content = ReadFile(Path(), 64 * kMebibyte);
  ASSERT_TRUE(content.ok()) << content.status().ToString();
  EXPECT_TRUE(*content == expected);
}

// More pieces than one call of the system takes, on both sides of what is gathered.
TEST_F(AtomicFileTest, ManyPiecesAtOnceAreTheFileThatTheyMakeOneByOne) {
  auto file = AtomicFile::Create(Path());
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  std::string expected = "before";
  ASSERT_TRUE(file->Append("before", 6).ok());
  std::vector<std::string> texts;
  for (size_t i = 0; i < 2500; ++i)
    texts.emplace_back(i % 7 * 500, static_cast<char>('a' + i % 26));
  texts.emplace_back(size_t{5} << 20, 'L');
  texts.emplace_back("end");
  const std::vector<std::string_view> pieces(texts.begin(), texts.end());
  for (const std::vector<std::string_view>& some : {pieces, {}, {texts[1]}, pieces}) {
    ASSERT_TRUE(file->AppendAll(some).ok());
    for (const std::string_view piece : some) expected += piece;
    EXPECT_EQ(file->size(), expected.size());
  }
  ASSERT_TRUE(file->Commit().ok());
  const auto content = ReadFile(Path(), uint64_t{64} << 20);
  ASSERT_TRUE(content.ok());
  EXPECT_TRUE(*content == expected);
}

TEST_F(AtomicFileTest, TwoWritersOfOneNameDoNotShareATemporaryFile) {
  Result<AtomicFile> first = AtomicFile::Create(Path());
  Result<AtomicFile> second = AtomicFile::Create(Path());
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE(first->Append("first", 5).ok());
  ASSERT_TRUE(second->Append("second", 6).ok());
  ASSERT_TRUE(first->Commit().ok());
  ASSERT_TRUE(second->Commit().ok());
  EXPECT_EQ(*ReadFile(Path(), 100), "second");
}

TEST_F(AtomicFileTest, WriteErrorSticksAndTheNameDoesNotAppear) {
  // A file size limit makes write() fail with EFBIG, as a full disk does with ENOSPC.
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const struct rlimit small = {1 << 20, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  {
    Result<AtomicFile> file = AtomicFile::Create(Path());
    ASSERT_TRUE(file.ok());
    const std::string large(3 << 20, 'L');
    const Status status = file->Append(large.data(), large.size());
    EXPECT_EQ(status.code(), StatusCode::kIo);
    EXPECT_NE(status.message().find(Path()), std::string::npos) << status.ToString();
    EXPECT_EQ(file->Append("x", 1).message(), status.message());
    EXPECT_EQ(file->Commit().message(), status.message());
  }
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(FilesInFolder(), 0);
}

TEST_F(AtomicFileTest, MissingFolderIsNotFoundAndNamed) {
  const Result<AtomicFile> file = AtomicFile::Create(folder_ + "/none/file");
  EXPECT_EQ(file.status().code(), StatusCode::kNotFound);
  EXPECT_NE(file.status().message().find(folder_ + "/none/file"), std::string::npos);
}

TEST(ReadFile, MissingFolderAndTooLargeAreDifferentErrors) {
  const std::string path = testing::TempDir() + "/read_file_test";
  std::ofstream(path) << "12345";
  EXPECT_EQ(*ReadFile(path, 5), "12345");
  EXPECT_EQ(ReadFile(path, 4).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadFile(path + ".none", 4).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ReadFile(testing::TempDir(), 4).status().code(), StatusCode::kInvalidArgument);
}

TEST(ReadFile, PipeThatNobodyWritesDoesNotHang) {
  const std::string path = testing::TempDir() + "/read_file_pipe";
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(path, 4).status().code(), StatusCode::kInvalidArgument);
}

TEST(Paths, AreSplitAtTheLastSlash) {
  EXPECT_EQ(FileName("a/b/c"), "c");
  EXPECT_EQ(FolderName("a/b/c"), "a/b");
  EXPECT_EQ(FolderName("c"), ".");
  EXPECT_EQ(FolderName("/c"), "/");
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
}

}  // namespace
}  // namespace shardmill
