// Reading a set within a memory limit of a quarter of its size, without being killed and without
// taking the memory of others.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "reader/batch_loader.h"
#include "tests/reader/loader_testing.h"
#include "tests/reader/memory_cgroup.h"

namespace shardmill {
namespace {

constexpr uint64_t kMebibyte = uint64_t{1} << 20;
constexpr uint64_t kRecords = 96;
constexpr int kAllSeen = 0;
constexpr int kRefused = 77;

// 96 records of one mebibyte each: 512 × 512 pixels of image and label.
TestDatasetOptions LargeRecords() {
  TestDatasetOptions options;
  options.records = kRecords;
  options.shards = 2;
  options.height = 512;
  options.width = 512;
  options.label_codec = Codec::kRaw;
  return options;
}

void DropFromCache(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY);
  ASSERT_GE(descriptor, 0) << path;
  ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  ::close(descriptor);
}

double ResidentShare(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY);
  const auto bytes = static_cast<size_t>(::lseek(descriptor, 0, SEEK_END));
  void* mapping = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  std::vector<unsigned char> pages(bytes / 4096);
  EXPECT_EQ(::mincore(mapping, bytes, pages.data()), 0);
  ::munmap(mapping, bytes);
  const auto resident =
      std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; });
  return static_cast<double>(resident) / static_cast<double>(pages.size());
}

// In the child: two epochs in random order; whether each saw every record once.
int ReadAllRecords(const std::string& folder, Io io) {
  const auto dataset = Dataset::Open(folder, "train");
  if (!dataset.ok()) return 1;
  BatchLoaderOptions options;
  options.split = "train";
  options.global_batch = 2;
  options.threads = 2;
  options.epochs = 2;
  options.io = io;
  options.queue_depth = 4;
  const auto loader = BatchLoader::Open(*dataset, options);
  if (!loader.ok()) return loader.status().code() == StatusCode::kIo ? kRefused : 2;
  std::vector<int> seen(kRecords);
  while (true) {
    const auto batch = (*loader)->Next();
    if (!batch.ok()) return 3;
    if (!batch->has_value()) break;
    const int64_t* numbers = (*batch)->field("number").as<int64_t>();
    for (int64_t row = 0; row < (*batch)->rows(); ++row) ++seen[static_cast<size_t>(numbers[row])];
  }
  return std::all_of(seen.begin(), seen.end(), [](int times) { return times == 2; }) ? kAllSeen : 4;
}

// The wait status of a child that reads within the group.
int ReadWithin(const MemoryCgroup& group, const std::string& folder, Io io) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(group.Join() ? ReadAllRecords(folder, io) : 5);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(SmallMemory, AQuarterOfTheSetIsEnoughAndOthersKeepTheirs) {
  const std::string folder = WriteTestDataset("small-memory", LargeRecords());
  const std::string bystander = folder + "/bystander";
  std::ofstream(bystander, std::ios::binary) << std::string(16 * kMebibyte, 'b');
  for (const Io io : {Io::kMapped, Io::kDirect}) {
    const MemoryCgroup group(kRecords / 4 * kMebibyte);
    if (!group.refused().empty()) GTEST_SKIP() << group.refused();
    for (const char* shard : {"/train-00000-of-00002.shard", "/train-00001-of-00002.shard"}) {
      DropFromCache(folder + shard);
    }
    const double before = ResidentShare(bystander);
    const int status = ReadWithin(group, folder, io);
    ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
    if (io == Io::kDirect && WEXITSTATUS(status) == kRefused) continue;
    EXPECT_EQ(WEXITSTATUS(status), kAllSeen);
    EXPECT_EQ(ResidentShare(bystander), before);
    EXPECT_LE(group.PeakBytes(), kRecords / 4 * kMebibyte);
  }
}

}  // namespace
}  // namespace shardmill
