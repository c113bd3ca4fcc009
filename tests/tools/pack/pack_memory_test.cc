// Packs on a machine that has too little memory for an input.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/tools/pack/image_files.h"
#include "tools/pack/pack_job.h"

namespace {

// Larger allocations than this fail.
std::atomic<size_t> largest_allocation{~size_t{0}};

void* AllocateOrNull(size_t bytes) {
  return bytes > largest_allocation ? nullptr : std::malloc(bytes);
}

void* Allocate(size_t bytes) {
  void* memory = AllocateOrNull(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) { return Allocate(bytes); }
void* operator new[](size_t bytes) { return Allocate(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return AllocateOrNull(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return AllocateOrNull(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace shardmill {
namespace {

// It is no fault of the input: with --on-error skip, too, the pack stops, and goes on later.
TEST(PackMemory, InputForWhichThereIsNoMemoryIsNotLeftOut) {
  const TestFolder source("PackMemory-source"), output("PackMemory-output");
  for (int i = 0; i < 6; ++i) {
    source.Write("train/a/" + std::to_string(i) + ".png", Png(Photo({8, 8}, i)));
  }
  source.Write("train/b/large.webp", Webp(Photo({800, 900}, 7)));
  source.Write("train/b/large.png", Png(Photo({800, 900}, 8)));
  source.Write("val/a/9.png", Png(Photo({8, 8}, 9)));
  PackOptions options;
  options.source = source.path();
  options.output = output.path();
  options.quiet = true;
  options.jobs = 2;
  options.order = DiskOrder::kSorted;
  options.resize = ResizeRule{};
  options.resize->size = ImageSize{8, 8};
  options.on_error = {true, 100};
  largest_allocation = size_t{1} << 20;
  const Status status = RunPackJob(options, ReportStyle::kText).status();
  largest_allocation = ~size_t{0};
  EXPECT_EQ(status.code(), StatusCode::kIo) << status.ToString();
  EXPECT_EQ(status.message().find("train/b/large."), 0u) << status.message();
  EXPECT_NE(status.message().find("out of memory; give more, or"), std::string::npos);
  testing::internal::CaptureStdout();
  const Result<int> again = RunPackJob(options, ReportStyle::kText);
  testing::internal::GetCapturedStdout();
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(*again, 0);
}

}  // namespace
}  // namespace shardmill
