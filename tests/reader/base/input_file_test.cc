#include "reader/base/input_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
  const std::string path = testing::TempDir() + "/input_file_" + name;
  fs::remove(path);
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

class InputFileTest : public testing::TestWithParam<FileAccess> {};

TEST_P(InputFileTest, ReadsSumsAndZeroChecksEqualTheContent) {
  std::string content(10000, 'a');
  content.replace(5000, 100, std::string(100, '\0'));
  const auto file = InputFile::Open(WriteTestFile("content", content), GetParam());
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  std::string copy(3000, '\0');
  ASSERT_TRUE((*file)->Read(4000, copy.size(), copy.data()).ok());
  EXPECT_EQ(copy, content.substr(4000, 3000));
  EXPECT_EQ(*(*file)->Checksum64(7, 9000), Checksum64(content.data() + 7, 9000));
  EXPECT_EQ(*(*file)->Checksum64WithZeroedField(8, 9000, 16),
            Checksum64WithZeroedField(content.data() + 8, 9000, 16));
  const uint64_t bounds[] = {0, 0, 500, 9000};
  std::vector<uint64_t> each(3);
  ASSERT_TRUE((*file)->Checksum64Each(10, bounds, 3, each.data()).ok());
  EXPECT_EQ(each, (std::vector<uint64_t>{Checksum64("", 0), Checksum64(content.data() + 10, 500),
                                         Checksum64(content.data() + 510, 8500)}));
  EXPECT_TRUE(*(*file)->IsZero(5000, 100));
  EXPECT_FALSE(*(*file)->IsZero(5000, 101));
  EXPECT_TRUE(*(*file)->IsZero(0, 0));
  (*file)->WillNeed(0, 10000);
  (*file)->Populate(1 << 30, 1);
  (*file)->Populate(4097, std::numeric_limits<uint64_t>::max());
}

TEST_P(InputFileTest, RangeOutsideTheFileIsDataLoss) {
  const auto file = InputFile::Open(WriteTestFile("range", "12345"), GetParam());
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

TEST_P(InputFileTest, EmptyMissingFolderAndPipe) {
  const auto file = InputFile::Open(WriteTestFile("empty", ""), GetParam());
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*file)->size(), 0u);
  EXPECT_EQ(InputFile::Open(testing::TempDir() + "/none", GetParam()).status().code(),
            StatusCode::kNotFound);
  EXPECT_EQ(InputFile::Open(testing::TempDir(), GetParam()).status().code(),
            StatusCode::kInvalidArgument);
  const std::string pipe = testing::TempDir() + "/input_file_pipe";
  fs::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(InputFile::Open(pipe, GetParam()).status().code(), StatusCode::kInvalidArgument);
}

TEST_P(InputFileTest, CutWhileOpenIsAnIoErrorNotASignal) {
  const std::string path = WriteTestFile("cut", std::string(1 << 20, 'x'));
  const auto file = InputFile::Open(path, GetParam());
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
  const uint64_t bounds[] = {0, 9000};
  uint64_t sum = 0;
  EXPECT_EQ((*file)->Checksum64Each(0, bounds, 1, &sum).code(), StatusCode::kIo);
  EXPECT_EQ((*file)->IsZero(500000, 1).status().code(), StatusCode::kIo);
  EXPECT_EQ((*file)->CheckUnchanged().status().code(), StatusCode::kIo);
}

TEST_P(InputFileTest, ManyThreadsMeetTheSameCut) {
  const std::string path = WriteTestFile("threads", std::string(1 << 20, 'x'));
  const auto file = InputFile::Open(path, GetParam());
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

TEST_P(InputFileTest, ReplacedFileIsNoticedAndTheOldOneStaysReadable) {
  const std::string path = WriteTestFile("replaced", "old content");
  const auto file = InputFile::Open(path, GetParam());
  ASSERT_TRUE(file.ok());
  fs::rename(WriteTestFile("replacement", "new content"), path);
  EXPECT_EQ((*file)->CheckUnchanged().status().code(), StatusCode::kIo);
  char out[3];
  ASSERT_TRUE((*file)->Read(0, 3, out).ok());
  EXPECT_EQ(std::string(out, 3), "old");
}

// What tools do that touch, back up or synchronise a folder must not stop a training run.
TEST_P(InputFileTest, AnotherTimeOfModificationIsNoChange) {
  const std::string path = WriteTestFile("touched", "content");
  const auto file = InputFile::Open(path, GetParam());
  ASSERT_TRUE(file.ok());
  fs::last_write_time(path, fs::last_write_time(path) - std::chrono::hours(1));
  const auto modified_ns = (*file)->CheckUnchanged();
  ASSERT_TRUE(modified_ns.ok());
  EXPECT_EQ(*modified_ns, (*file)->opened_modified_ns() - 3600 * int64_t{1000000000});
}

TEST_P(InputFileTest, HolesAreSkippedWhereTheFileSystemTells) {
  const std::string path = WriteTestFile("holes", "start");
  constexpr uint64_t kBytes = uint64_t{1} << 40;
  fs::resize_file(path, kBytes);
  const auto file = InputFile::Open(path, GetParam());
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ((*file)->SkipHole(0), 0u);
  const uint64_t found = (*file)->SkipHole(1 << 20);
  EXPECT_TRUE(found == 1 << 20 || found == kBytes) << found;
  fs::remove(path);
}

TEST(InputFile, AFileLargerThanTheAddressSpaceIsReadWithPread) {
  constexpr uint64_t kBytes = uint64_t{1} << 58;
  const int memory = ::memfd_create("giant", MFD_CLOEXEC);
  ASSERT_GE(memory, 0);
  ASSERT_EQ(::ftruncate(memory, static_cast<off_t>(kBytes)), 0);
  ASSERT_EQ(::pwrite(memory, "end", 3, static_cast<off_t>(kBytes - 3)), 3);
  const auto file = InputFile::Open("/proc/self/fd/" + std::to_string(memory));
  ::close(memory);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ((*file)->data(), nullptr);
  EXPECT_EQ((*file)->size(), kBytes);
  char out[4];
  ASSERT_TRUE((*file)->Read(kBytes - 4, 4, out).ok());
  EXPECT_EQ(std::string(out, 4), std::string("\0end", 4));
}

TEST(InputFile, LongRangesAndManyPiecesAreTheSameWithPread) {
  // Longer than what pread takes at once, in pieces short and long.
  std::string content(3 << 20, '\0');
  uint64_t state = 1;
  for (char& c : content) c = static_cast<char>((state = state * 6364136223846793005 + 1) >> 56);
  std::vector<uint64_t> bounds = {0};
  for (uint64_t step = 1; bounds.back() + step < content.size(); step = step * 3 % 700001 + 1) {
    bounds.push_back(bounds.back() + step);
  }
  const std::string path = WriteTestFile("long", content);
  const auto mapped = InputFile::Open(path, FileAccess::kMapped);
  const auto pread = InputFile::Open(path, FileAccess::kPread);
  ASSERT_TRUE(mapped.ok() && pread.ok());
  EXPECT_EQ((*pread)->data(), nullptr);
  EXPECT_EQ(*(*pread)->Checksum64(5, content.size() - 7),
            *(*mapped)->Checksum64(5, content.size() - 7));
  EXPECT_EQ(*(*pread)->Checksum64WithZeroedField(0, content.size(), 900000),
            *(*mapped)->Checksum64WithZeroedField(0, content.size(), 900000));
  EXPECT_FALSE(*(*pread)->IsZero(0, content.size()));
  const size_t pieces = bounds.size() - 1;
  std::vector<uint64_t> a(pieces);
  std::vector<uint64_t> b(pieces);
  ASSERT_TRUE((*mapped)->Checksum64Each(0, bounds.data(), pieces, a.data()).ok());
  ASSERT_TRUE((*pread)->Checksum64Each(0, bounds.data(), pieces, b.data()).ok());
  EXPECT_EQ(a, b);
  for (size_t i = 0; i < pieces; ++i) {
    ASSERT_EQ(a[i], Checksum64(content.data() + bounds[i], bounds[i + 1] - bounds[i])) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Access, InputFileTest,
                         testing::Values(FileAccess::kMapped, FileAccess::kPread),
                         [](const testing::TestParamInfo<FileAccess>& info) {
                           return info.param == FileAccess::kMapped ? "Mapped" : "Pread";
                         });

}  // namespace
}  // namespace shardmill
