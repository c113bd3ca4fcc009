#include "reader/base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "reader/base/checksum.h"

namespace shardmill {
namespace {

namespace fs = std::filesystem;

std::string WriteTestFile(const std::string& name, const std::string& content) {
  const std::string path = testing::TempDir() + "/mapped_file_" + name;
  fs::remove(path);
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

TEST(MappedFile, ReadsSumsAndZeroChecksEqualTheContent) {
  std::string content(10000, 'a');
  content.replace(5000, 100, std::string(100, '\0'));
  const auto file = MappedFile::Open(WriteTestFile("content", content));
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  std::string copy(3000, '\0');
  ASSERT_TRUE((*file)->Read(4000, copy.size(), copy.data()).ok());
  EXPECT_EQ(copy, content.substr(4000, 3000));
  EXPECT_EQ(*(*file)->Checksum64(7, 9000), Checksum64(content.data() + 7, 9000));
  EXPECT_EQ(*(*file)->Checksum64WithZeroedField(8, 9000, 16),
            Checksum64WithZeroedField(content.data() + 8, 9000, 16));
  const std::vector<uint64_t> each = *(*file)->Checksum64Each(10, {0, 0, 500, 9000});
  EXPECT_EQ(each, (std::vector<uint64_t>{Checksum64("", 0), Checksum64(content.data() + 10, 500),
                                         Checksum64(content.data() + 510, 8500)}));
  EXPECT_TRUE(*(*file)->IsZero(5000, 100));
  EXPECT_FALSE(*(*file)->IsZero(5000, 101));
  EXPECT_TRUE(*(*file)->IsZero(0, 0));
  (*file)->WillNeed(0, 10000);
  (*file)->Populate(1 << 30, 1);
  (*file)->Populate(4097, std::numeric_limits<uint64_t>::max());
}

TEST(MappedFile, RangeOutsideTheFileIsDataLoss) {
  const auto file = MappedFile::Open(WriteTestFile("range", "12345"));
  ASSERT_TRUE(file.ok());
  constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();
  char out[8];
  EXPECT_TRUE((*file)->Read(5, 0, out).ok());
  EXPECT_EQ((*file)->Read(5, 1, out).code(), StatusCode::kDataLoss);
  EXPECT_EQ((*file)->Read(6, 0, out).code(), StatusCode::kDataLoss);
  EXPECT_EQ((*file)->Read(1, kHuge, out).code(), StatusCode::kDataLoss);
  EXPECT_EQ((*file)->Read(kHuge, 2, out).code(), StatusCode::kDataLoss);
  EXPECT_EQ((*file)->Checksum64(kHuge, kHuge).status().code(), StatusCode::kDataLoss);
}

TEST(MappedFile, EmptyMissingFolderAndPipe) {
  const auto file = MappedFile::Open(WriteTestFile("empty", ""));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->size(), 0u);
  EXPECT_EQ(MappedFile::Open(testing::TempDir() + "/none").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(MappedFile::Open(testing::TempDir()).status().code(), StatusCode::kInvalidArgument);
  const std::string pipe = testing::TempDir() + "/mapped_file_pipe";
  fs::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(MappedFile::Open(pipe).status().code(), StatusCode::kInvalidArgument);
}

TEST(MappedFile, CutUnderTheMappingIsAnIoErrorNotASignal) {
  const std::string path = WriteTestFile("cut", std::string(1 << 20, 'x'));
  const auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->CheckUnchanged().ok());
  fs::resize_file(path, 8192);
  std::vector<char> out(1 << 20);
  EXPECT_TRUE((*file)->Read(0, 8192, out.data()).ok());
  // Twice: a fence must work again after it has been used.
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ((*file)->Read(0, out.size(), out.data()).code(), StatusCode::kIo);
  }
  EXPECT_EQ((*file)->Checksum64(4096, 100000).status().code(), StatusCode::kIo);
  EXPECT_EQ((*file)->Checksum64Each(0, {0, 9000}).status().code(), StatusCode::kIo);
  EXPECT_EQ((*file)->IsZero(500000, 1).status().code(), StatusCode::kIo);
  EXPECT_EQ((*file)->CheckUnchanged().code(), StatusCode::kIo);
}

TEST(MappedFile, ManyThreadsMeetTheSameCut) {
  const std::string path = WriteTestFile("threads", std::string(1 << 20, 'x'));
  const auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok());
  fs::resize_file(path, 4096);
  std::atomic<int> errors = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      std::vector<char> out(1 << 16);
      for (int i = 0; i < 50; ++i) {
        if (!(*file)->Read(65536, out.size(), out.data()).ok()) ++errors;
        if (!(*file)->Read(0, 4096, out.data()).ok()) errors += 1000;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(errors, 200);
}

TEST(MappedFile, ReplacedFileIsNoticedAndTheOldOneStaysReadable) {
  const std::string path = WriteTestFile("replaced", "old content");
  const auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok());
  fs::rename(WriteTestFile("replacement", "new content"), path);
  EXPECT_EQ((*file)->CheckUnchanged().code(), StatusCode::kIo);
  char out[3];
  ASSERT_TRUE((*file)->Read(0, 3, out).ok());
  EXPECT_EQ(std::string(out, 3), "old");
}

TEST(MappedFile, RewriteInPlaceOfTheSameSizeIsNoticed) {
  const std::string path = WriteTestFile("rewritten", "old content");
  // An earlier time, since two writes in one tick of the file system's clock look alike.
  fs::last_write_time(path, fs::last_write_time(path) - std::chrono::hours(1));
  const auto file = MappedFile::Open(path);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->CheckUnchanged().ok());
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << "new content";
  const Status status = (*file)->CheckUnchanged();
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_EQ(status.message(), path + " was written to while it was in use");
}

}  // namespace
}  // namespace shardmill
