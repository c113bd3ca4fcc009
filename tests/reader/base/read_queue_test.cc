#include "reader/base/read_queue.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <string>

namespace shardmill {
namespace {

constexpr size_t kPages = 16;

struct FreeMemory {
  void operator()(char* memory) const { std::free(memory); }
};

class ReadQueueTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/read_queue_test_file";
    std::ofstream file(path_, std::ios::binary);
    for (size_t page = 0; page < kPages; ++page)
      file << std::string(kDirectAlignment, Letter(page));
    file.close();
    const auto queue = ReadQueue::Create(4);
    if (!queue.ok()) GTEST_SKIP() << queue.status().message();
    const auto descriptor = OpenDirect(path_);
    if (!descriptor.ok()) GTEST_SKIP() << descriptor.status().message();
    descriptor_ = *descriptor;
    buffer_.reset(
        static_cast<char*>(std::aligned_alloc(kDirectAlignment, kPages * kDirectAlignment)));
  }
  void TearDown() override {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  static char Letter(size_t page) { return static_cast<char>('a' + page); }
  ReadQueue::Read PageRead(size_t page) const {
    ReadQueue::Read read;
    read.descriptor = descriptor_;
    read.buffer = buffer_.get() + page * kDirectAlignment;
    read.bytes = kDirectAlignment;
    read.offset = page * kDirectAlignment;
    read.tag = page;
    return read;
  }
  // Reads all pages, as many at once as the queue takes.
  void ReadAllPages(ReadQueue* queue, int registered) {
    std::set<uint64_t> tags;
    size_t next = 0;
    size_t under_way = 0;
    ReadQueue::Completion done[kPages];
    while (tags.size() < kPages) {
      for (; next < kPages && under_way < queue->depth(); ++next, ++under_way) {
        ReadQueue::Read read = PageRead(next);
        read.registered = registered;
        queue->Push(read);
      }
      ASSERT_TRUE(queue->Submit().ok());
      const auto count = queue->Wait(done, kPages);
      ASSERT_TRUE(count.ok()) << count.status().ToString();
      for (size_t i = 0; i < *count; ++i) {
        EXPECT_EQ(done[i].result, static_cast<int64_t>(kDirectAlignment));
        EXPECT_TRUE(tags.insert(done[i].tag).second);
      }
      under_way -= *count;
    }
    for (size_t page = 0; page < kPages; ++page) {
      const std::string expected(kDirectAlignment, Letter(page));
      EXPECT_EQ(
          std::memcmp(buffer_.get() + page * kDirectAlignment, expected.data(), kDirectAlignment),
          0);
    }
  }

  std::string path_;
  int descriptor_ = -1;
  std::unique_ptr<char, FreeMemory> buffer_;
};

TEST_F(ReadQueueTest, ReadsWhatWasAskedForAtAnyDepth) {
  for (const uint32_t depth : {1u, 3u, 64u}) {
    std::memset(buffer_.get(), 0, kPages * kDirectAlignment);
    const auto queue = ReadQueue::Create(depth);
    ASSERT_TRUE(queue.ok());
    ReadAllPages(queue->get(), ReadQueue::kNotRegistered);
  }
}

TEST_F(ReadQueueTest, RegisteredBuffersHoldTheSame) {
  std::memset(buffer_.get(), 0, kPages * kDirectAlignment);
  const auto queue = ReadQueue::Create(4);
  ASSERT_TRUE(queue.ok());
  if (!(*queue)->RegisterBuffers({{buffer_.get(), kPages * kDirectAlignment}})) {
    GTEST_SKIP() << "the system lets this process lock no memory";
  }
  ReadAllPages(queue->get(), 0);
}

TEST_F(ReadQueueTest, BadDescriptorIsTheResultOfItsRead) {
  const auto queue = ReadQueue::Create(2);
  ASSERT_TRUE(queue.ok());
  ReadQueue::Read read = PageRead(0);
  read.descriptor = -1;
  (*queue)->Push(read);
  ASSERT_TRUE((*queue)->Submit().ok());
  ReadQueue::Completion done;
  ASSERT_TRUE((*queue)->Wait(&done, 1).ok());
  EXPECT_EQ(done.result, -EBADF);
}

TEST(OpenDirect, FileSystemThatRefusesIsNamed) {
  const auto descriptor = OpenDirect("/proc/self/status");
  ASSERT_FALSE(descriptor.ok());
  EXPECT_EQ(descriptor.status().code(), StatusCode::kIo);
  EXPECT_NE(descriptor.status().message().find("/proc/self/status"), std::string::npos);
  EXPECT_NE(descriptor.status().message().find("O_DIRECT"), std::string::npos);
}

TEST(ReadQueue, ImpossibleDepthIsRefused) {
  EXPECT_EQ(ReadQueue::Create(0).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadQueue::Create(1 << 20).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shardmill
